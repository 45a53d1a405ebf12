// From the text of a config, and the command line, to a pipeline.
#include "config/environment.hpp"
#include "config/layer_selection.hpp"
#include "config/number_text.hpp"
#include "config/pipeline_config.hpp"

#include <adpipe/suggest.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

using namespace adpipe;

namespace {

struct Reading {
    std::optional<PipelineConfig> config;
    std::string messages;  ///< "line:column code", separated by blanks
};

std::string text_of(const std::vector<Diagnostic>& diagnostics) {
    std::string messages;
    for (const Diagnostic& diagnostic : diagnostics) {
        if (!messages.empty()) messages += ' ';
        messages += std::to_string(diagnostic.where.line) + ":" + std::to_string(diagnostic.where.column) + " " + diagnostic.code;
    }
    return messages;
}

Reading read(const std::string& text) {
    std::vector<Diagnostic> diagnostics;
    Reading reading;
    reading.config = parse_config(std::make_shared<SourceText>("dir/test.yaml", text), "/base/dir", diagnostics);
    reading.messages = text_of(diagnostics);
    return reading;
}

std::vector<std::int32_t> layers_of(const std::string& text) {
    LayerSelection selection;
    CHECK(add_layers(text, selection).empty());
    return selection.layers;
}

}  // namespace

TEST_CASE("a whole config") {
    const auto [config, messages] = read(R"(pipeline: demo
layer: [5, 7-9, 5]
output: out/demo
plugins: [../mine.so]
stages:
  - stage: select.final
    id: pick
    with: {directory: dumps, names: [a, 'b']}
  - stage: render.dot
    from: {graph: parse, layers: [one, two]}
)");
    CHECK(messages.empty());
    REQUIRE(config);
    CHECK(config->name == "demo");
    CHECK(config->layers.layers == std::vector<std::int32_t>{5, 7, 8, 9});
    CHECK(config->output == "/base/dir/out/demo");
    CHECK(config->plugins == std::vector<std::filesystem::path>{"/base/mine.so"});
    REQUIRE(config->stages.size() == 2);
    CHECK(config->stages[0].name() == "pick");
    REQUIRE(config->stages[0].settings.size() == 2);
    CHECK(config->stages[0].settings[1].values[1].quoted);
    CHECK(config->stages[1].from[1].producers.size() == 2);
    CHECK(config->stages[1].name() == "render.dot");
}

TEST_CASE("what is left out has a default") {
    const auto [config, messages] = read("stages: [{stage: a.b}]\n");
    CHECK(messages.empty());
    CHECK(config->name == "test");
    CHECK(config->output == "/base/dir/out/test");
    CHECK_FALSE(config->layers.all);
    CHECK(config->layers.layers.empty());
}

TEST_CASE("faults of a config, all at once, each at its place") {
    CHECK(read("stage: []\n").messages == "1:1 ADP-CFG-007 1:1 ADP-CFG-009");
    CHECK(read("- a\n").messages == "1:1 ADP-CFG-008");
    CHECK(read("").messages == "0:0 ADP-CFG-008");
    CHECK(read("stages: []\n").messages == "1:9 ADP-CFG-009");
    CHECK(read("stages:\n").messages == "1:1 ADP-CFG-008");
    CHECK(read("layer: 010\nstages: [{stage: a.b, wiht: {}}, {id: x}, text]\n").messages ==
          "1:8 ADP-CFG-011 2:23 ADP-CFG-007 2:34 ADP-CFG-009 2:43 ADP-CFG-008");
    CHECK(read("stages:\n  - stage: a.b\n    with: [x]\n  - stage:\n").messages == "3:11 ADP-CFG-008 4:5 ADP-CFG-008");
    CHECK(read("output: ''\nplugins: x\nstages: [{stage: a.b, with: {o: [[1]]}, from: x}]\n").messages ==
          "1:9 ADP-CFG-008 2:10 ADP-CFG-008 3:34 ADP-CFG-008 3:47 ADP-CFG-008");
}

TEST_CASE("options that are all commented out, or have no value yet") {
    CHECK(read("stages:\n  - stage: a.b\n    with:\n      # x: 1\n").messages.empty());
    const auto [config, messages] = read("stages:\n  - stage: a.b\n    with:\n      x:\n");
    CHECK(messages.empty());
    CHECK(config->stages[0].settings[0].shape == Setting::Shape::missing);
    CHECK(config->stages[0].settings[0].origin.mark.line == 4);
}

TEST_CASE("environment variables") {
    const EnvironmentLookup lookup = [](const char* name) -> const char* {
        if (std::string{name} == "SET") return "value";
        if (std::string{name} == "NESTED") return "${SET}";
        return std::string{name} == "EMPTY" ? "" : nullptr;
    };
    const auto expanded = [&](std::string text) {
        const std::string fault = expand_environment(text, lookup);
        return fault.empty() ? text : "fault: " + fault;
    };
    CHECK(expanded("plain $ text }") == "plain $ text }");
    CHECK(expanded("a/${SET}/${SET}") == "a/value/value");
    CHECK(expanded("${UNSET:-x y}${EMPTY:-z}") == "x yz");
    CHECK(expanded("${UNSET:-}|${EMPTY}") == "|");
    CHECK(expanded("${NESTED}") == "${SET}");
    CHECK(expanded("$${SET} costs $$5") == "${SET} costs $$5");
    CHECK(expanded("${UNSET}").find("fault: the environment variable UNSET is not set") == 0);
    CHECK(expanded("${SET").find("fault: '${' without") == 0);
    CHECK(expanded("${}").find("fault: ") == 0);
    CHECK(expanded("${1A}").find("fault: ") == 0);

    ::setenv("ADPIPE_TEST_LAYER", "12", 1);
    const auto [config, messages] = read("layer: ${ADPIPE_TEST_LAYER}\nstages: [{stage: a.b, with: {x: \"${ADPIPE_TEST_UNSET:-d}\"}}]\n");
    CHECK(messages.empty());
    CHECK(config->layers.layers == std::vector<std::int32_t>{12});
    CHECK(config->stages[0].settings[0].values[0].text == "d");
    CHECK(read("pipeline: ${ADPIPE_TEST_UNSET}\nstages: [{stage: a.b}]\n").messages == "1:11 ADP-CFG-010");
}

TEST_CASE("layers") {
    CHECK(layers_of("5") == std::vector<std::int32_t>{5});
    CHECK(layers_of("7-9,3,8") == std::vector<std::int32_t>{3, 7, 8, 9});
    LayerSelection all;
    CHECK(add_layers("all", all).empty());
    CHECK(all.all);
    CHECK(all.contains(12345));
    for (const char* wrong : {"", "-1", "x", "1-", "-", "3-1", "1,,2", "010", "0x5", "1.5", "99999999999999999999", "100000", "0-999999"}) {
        LayerSelection selection;
        CHECK_FALSE(add_layers(wrong, selection).empty());
    }
}

TEST_CASE("numbers") {
    CHECK(parse_integer("0") == 0);
    CHECK(parse_integer("-12") == -12);
    CHECK(parse_integer("9223372036854775807") == INT64_MAX);
    for (const char* wrong : {"", "-", "+1", "01", "-01", "-0", "0x1", "1_000", "1.0", " 1", "1 ", "1e3", "9223372036854775808"}) {
        CHECK_FALSE(parse_integer(wrong));
    }
    CHECK(parse_real("0.5") == 0.5);
    CHECK(parse_real("-2") == -2.0);
    CHECK(parse_real("1e-3") == 0.001);
    CHECK(parse_real(".5") == 0.5);
    for (const char* wrong : {"", "nan", "inf", "-inf", "-", ".", "01.5", "1e999", "0x1p3", "1,5", " 1"}) CHECK_FALSE(parse_real(wrong));
}

TEST_CASE("nearest names") {
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("kitten", "sitting") == 3);
    CHECK(edit_distance("fodl", "fold") == 1);
    CHECK(edit_distance("Fold", "fold") == 0);
    CHECK(nearest_name("layerz", {"label", "layer", "layers"}) == "layers");
    CHECK(nearest_name("x", {"stage", "id"}).empty());
    CHECK(nearest_name("id", {"with", "from"}).empty());
    CHECK(nearest_name("moe", {"quantize", "fuse_finegrained_fp8_moe"}) == "fuse_finegrained_fp8_moe");
    CHECK(nearest_name("render.dto", {"render.dot", "render.html"}) == "render.dot");
    CHECK(suggestion("zzz", {"a", "b"}, "they are") == "they are: a, b");
    CHECK(suggestion("zzz", {}, "they are") == "they are: none");
    CHECK(nearest_name(std::string(100000, 'a'), {std::string(100000, 'b')}).empty());
}

TEST_CASE("the command line changes a config") {
    auto [config,
          messages] = read("layer: 1\nstages: [{stage: render.dot, with: {fold: shape}}, {stage: render.dot, id: second}, {stage: a.b}]\n");
    std::vector<Diagnostic> diagnostics;
    apply_overrides(*config, {{"render.dot.fold=none", "second.title=a.b=c", "a.b.list=[1, 2]"}, "3-4", "/elsewhere"}, diagnostics);
    CHECK(text_of(diagnostics).empty());
    REQUIRE(config->stages[0].settings.size() == 1);
    CHECK(config->stages[0].settings[0].values[0].text == "none");
    CHECK(config->stages[1].settings[0].name.text == "title");
    CHECK(config->stages[1].settings[0].values[0].text == "a.b=c");
    CHECK(config->stages[2].settings[0].may_be_split);
    CHECK(config->layers.layers == std::vector<std::int32_t>{3, 4});
    CHECK(config->output == "/elsewhere");
}

TEST_CASE("what --set cannot mean") {
    auto [config, messages] = read("stages: [{stage: a.b, id: x}, {stage: a.b, id: y}]\n");
    for (const char* wrong : {"", "x", "x.", "x.o", ".o=1", "x.=1", "=1", "o=1"}) {
        std::vector<Diagnostic> diagnostics;
        apply_overrides(*config, {{wrong}, {}, {}}, diagnostics);
        CHECK(text_of(diagnostics) == "1:1 ADP-CFG-018");
    }
    std::vector<Diagnostic> diagnostics;
    apply_overrides(*config, {{"z.o=1", "a.b.o=1"}, "x", {}}, diagnostics);
    CHECK(text_of(diagnostics) == "1:1 ADP-CFG-019 1:1 ADP-CFG-019 1:1 ADP-CFG-011");
}
