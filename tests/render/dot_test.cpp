#include "sample.hpp"

#include <adpipe/render/palette.hpp>

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace adpipe;
using namespace adpipe::testing;

namespace {

const Options dot_only{{"formats", std::vector<std::string>{"dot"}}};

std::string dot_of(const Sample& sample, bool with_trace = true, const Options& options = dot_only) {
    return rendered("render.dot", sample, options, with_trace)->files.at("092_compile_compile_model_layer1.dot");
}

bool dot_has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

/// A program in a directory of its own, which goes with the object.
class Script {
public:
    explicit Script(const std::string& body) {
        char name[] = "/tmp/adpipe_test_XXXXXX";
        directory_ = ::mkdtemp(name);
        std::ofstream(path()) << "#!/bin/sh\n" << body << "\n";
        ::chmod(path().c_str(), 0700);
    }
    ~Script() { std::filesystem::remove_all(directory_); }
    Script(const Script&) = delete;
    Script& operator=(const Script&) = delete;
    std::string path() const { return directory_ + "/draw"; }

private:
    std::string directory_;
};

struct Attempt {
    std::unique_ptr<RecordingContext> context;
    Diagnostic error;
};

Attempt attempt(const std::string& program, double limit = 60) {
    Attempt result{make_sample().context(), {}};
    try {
        renderer("render.dot", {{"program", program}, {"time_limit", limit}, {"formats", std::vector<std::string>{"dot", "svg"}}})
            ->run(*result.context);
    } catch (const Error& error) {
        result.error = error.diagnostics().front();
    }
    return result;
}

bool graphviz_is_there() { return std::system("dot -V >/dev/null 2>&1") == 0; }

}  // namespace

TEST_CASE("the picture has spine, blocks, lanes, inputs and output") {
    const Sample sample = make_sample();
    const std::string dot = dot_of(sample);
    const auto id = [&](const char* name) { return "n" + std::to_string(sample.vertex(name)); };
    for (const char* title : {"<B>Attention</B>", "<B>Q</B>", "<B>KV</B>", "<B>Mixture of experts</B>", "<B>Router</B>", "<B>Experts</B>",
                              "<B>Shared experts</B>", "auxiliary stream 29", "<B>Layer 0 residual output</B>", "<B>KV cache</B>",
                              "<B>RoPE cos/sin</B>", "<B>batch metadata</B>", "<B>behind the last layer</B>", "<B>test · layer 1</B>"}) {
        CHECK_MESSAGE(dot_has(dot, title), title);
    }
    CHECK(dot_has(dot, "in0 -> " + id("residual_1") + " [penwidth=3.5"));
    CHECK(dot_has(dot, id("residual_1") + " -> " + id("sum_1") + " [penwidth=3.5"));
    CHECK(dot_has(dot, id("sum_1") + " -> out [penwidth=3.5"));
    CHECK(dot_has(dot, id("q_1") + " -> " + id("attention_1") + " ["));
    CHECK_FALSE(dot_has(dot, id("q_view_1") + " ["));
    CHECK(dot_has(dot_of(sample, true, {{"formats", std::vector<std::string>{"dot"}}, {"fold", std::string{"none"}}}),
                  id("q_view_1") + " ["));
}

TEST_CASE("every kernel is in the picture with its time, and the evidence by line") {
    const std::string dot = dot_of(make_sample());
    for (const char* kernel : {"rms_norm_kernel", "gemm_kernel", "splitKreduce_kernel", "fmhaSm100fKernel_Qkv", "router_gemm_kernel",
                               "swiglu_kernel", "experts_kernel", "add_kernel"}) {
        CHECK_MESSAGE(dot_has(dot, ">" + std::string{kernel} + "</FONT>"), kernel);
    }
    CHECK(dot_has(dot, "  11.0 µs</FONT>"));
    for (const char* style : {"STYLE=\"SOLID\"", "STYLE=\"DASHED\"", "STYLE=\"DOTTED\""}) CHECK_MESSAGE(dot_has(dot, style), style);
    CHECK(dot_has(dot, "<B>sum 58.5 µs · wall 46.5 µs</B>"));
    CHECK(dot_has(dot, "Time on no node"));
    CHECK(dot_has(dot, "in this layer: its range names a module that the dump does not hold (1)"));
    CHECK(dot_has(dot, "↳ in the kernel of add"));
}

TEST_CASE("without a trace the picture is the structure alone") {
    const std::string dot = dot_of(make_sample(), false);
    CHECK(dot_has(dot, "no trace: structure only"));
    CHECK(dot_has(dot, "auxiliary stream<"));
    CHECK_FALSE(dot_has(dot, "µs"));
    CHECK_FALSE(dot_has(dot, "unattributed"));
}

TEST_CASE("the same input gives the same text") { CHECK(dot_of(make_sample()) == dot_of(make_sample())); }

TEST_CASE("hostile names stay text in DOT") {
    const std::string dot = dot_of(make_sample("x\"]; evil -> y; //\\\n<B>&amp;{|}\x01\xff", "k<TABLE>\"\\N&"));
    CHECK(dot_has(dot, R"(%x\"]; evil -> y; //\\\\n<B>&amp;{|}\\x01\\xff)"));
    CHECK_FALSE(dot_has(dot, "<B>&amp;{"[0] + std::string{"TABLE>\"\\N"}));
    // Quotes outside of HTML-like labels are balanced: no text ended a string early.
    std::istringstream lines(dot);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t escaped = count(line, "\\\"") - count(line, "\\\\\"");
        CHECK((count(line, "\"") - escaped) % 2 == 0);
    }
}

TEST_CASE("Graphviz accepts hostile names and shows them as text") {
    if (!graphviz_is_there()) {
        MESSAGE("skipped: no Graphviz here");
        return;
    }
    const auto context = rendered("render.dot", make_sample("x\"]; evil -> y; //\\<B>&amp;<script>漢\x01\xff", "k<TABLE>\"\\N&"),
                                  {{"formats", std::vector<std::string>{"svg", "png"}}});
    const std::string& svg = context->files.at("092_compile_compile_model_layer1.svg");
    CHECK(dot_has(svg, "&lt;script&gt;漢"));
    CHECK_FALSE(dot_has(svg, "<script"));
    CHECK_FALSE(dot_has(svg, ">evil<"));
    CHECK(context->files.at("092_compile_compile_model_layer1.png").substr(1, 3) == "PNG");
    CHECK(context->files.size() == 2);
}

TEST_CASE("a dark picture has no colour of the light one but the heat scale, and the same text") {
    const Sample sample = make_sample("=\"#ffffff\" #ffffff");
    const std::string light = dot_of(sample);
    const std::string dark = dot_of(sample, true, {{"formats", std::vector<std::string>{"dot"}}, {"theme", std::string{"dark"}}});
    for (const render::DarkColour& pair : render::dark_colours())
        CHECK_FALSE_MESSAGE(dot_has(dark, "=\"" + std::string{pair.light} + "\""), pair.light);
    for (const render::HeatStep& step : render::heat_scale()) CHECK(dot_has(dark, std::string{step.shade.fill}));
    for (const std::string& text : {light, dark}) CHECK(dot_has(text, R"(=\"#ffffff\" #ffffff)"));
    CHECK(dark.size() == light.size());
}

TEST_CASE("SVG is light, and dark where the viewer wants it") {
    const Script draws("echo '<?xml version=\"1.0\"?><svg width=\"8\"\n height=\"8\"><g/></svg>'");
    const auto svg = [&](const std::string& theme) {
        return rendered("render.dot", make_sample(),
                        {{"program", draws.path()}, {"theme", theme}, {"formats", std::vector<std::string>{"svg"}}})
            ->files.at("092_compile_compile_model_layer1.svg");
    };
    CHECK(dot_has(svg("auto"), " height=\"8\">\n<style>@media screen and (prefers-color-scheme: dark) {"));
    CHECK(dot_has(svg("auto"), "[fill=\"#1a1a1a\"] { fill: #e8e8e8 }"));
    CHECK(dot_has(svg("auto"), "}</style><g/></svg>"));
    CHECK_FALSE(dot_has(svg("light"), "<style>"));
    CHECK_FALSE(dot_has(svg("dark"), "<style>"));
}

TEST_CASE("without Graphviz every layer has its DOT text, asked for or not") {
    auto context = make_sample().context();
    context->selection.layers = {0, 1};
    renderer("render.dot", {{"program", std::string{"no-such-program-as-this"}}, {"formats", std::vector<std::string>{"png", "svg"}}})
        ->run(*context);
    CHECK(context->files.size() == 3);
    for (const auto& [name, text] : context->files) CHECK_MESSAGE(name.substr(name.size() - 4) == ".dot", name);
    CHECK(context->reports.size() == 1);
}

TEST_CASE("without Graphviz there is the DOT text and a hint") {
    const Attempt result = attempt("no-such-program-as-this");
    CHECK(result.error.code.empty());
    CHECK(result.context->files.size() == 1);
    CHECK(result.context->files.count("092_compile_compile_model_layer1.dot") == 1);
    REQUIRE(result.context->reports.size() == 1);
    CHECK(result.context->reports[0].code == "ADP-RND-004");
    CHECK(result.context->reports[0].severity == Severity::warning);
}

TEST_CASE("a layout program that hangs is stopped, with its children") {
    const Script hangs("tail -f /dev/null");
    const Attempt result = attempt(hangs.path(), 0.05);
    CHECK(result.error.code == "ADP-RND-005");
    CHECK(dot_has(result.error.message, "took more than 0.05 s"));
    CHECK(result.context->files.size() == 1);
}

TEST_CASE("a layout program that dies leaves one message and no picture") {
    const Script fails("echo half a picture; echo 'what it says' >&2; exit 3");
    const Attempt failed = attempt(fails.path());
    CHECK(failed.error.code == "ADP-RND-006");
    CHECK(dot_has(failed.error.message, "exit status 3"));
    CHECK(failed.error.notes == std::vector<std::string>{"what it says"});
    CHECK(failed.context->files.size() == 1);
    const Script killed("kill -9 $$");
    CHECK(dot_has(attempt(killed.path()).error.message, "killed by signal 9"));
    // It does not even read its input.
    const Script deaf("exec true");
    const Attempt nothing = attempt(deaf.path());
    CHECK(nothing.error.code == "ADP-RND-006");
    CHECK(nothing.context->files.size() == 1);
    const Script wrong("cat > /dev/null; echo '<html>no picture</html>'");
    CHECK(attempt(wrong.path()).error.code == "ADP-RND-006");
}

TEST_CASE("pictures of several layers lead to each other, where there is SVG to lead to") {
    const Script draws("echo '<svg>'; cat");  // what Graphviz is given
    auto context = make_sample().context();
    context->selection.layers = {0, 1};
    renderer("render.dot", {{"program", draws.path()}, {"formats", std::vector<std::string>{"svg"}}, {"theme", std::string{"light"}}})
        ->run(*context);
    const auto& files = context->files;
    CHECK(dot_has(files.at("092_compile_compile_model_layer0.svg"), ", URL=\"092_compile_compile_model_layer1.svg\"];"));
    CHECK(dot_has(files.at("092_compile_compile_model_layer1.svg"), ", URL=\"092_compile_compile_model_layer0.svg\"];"));
    CHECK(dot_has(files.at("092_compile_compile_model_layers.svg"), ", URL=\"092_compile_compile_model_layer0.svg\"];"));
    CHECK(count(files.at("092_compile_compile_model_layer1.svg"), "URL=") == 1);
    CHECK(count(dot_of(make_sample()), "URL=") == 0);
}

TEST_CASE("several layers are drawn in one picture as well: a box for each kind, times that add up") {
    const Sample sample = make_sample();
    const auto picture_of_all = [&](const Sample& of, bool model) {
        auto context = of.context();
        context->selection.layers = {0, 1};
        renderer("render.dot", {{"formats", std::vector<std::string>{"dot"}}, {"model", model}})->run(*context);
        return context->files;
    };
    const auto files = picture_of_all(sample, true);
    CHECK(files.size() == 3);
    const std::string& alike = files.at("092_compile_compile_model_layers.dot");
    CHECK(alike.find("test · 2 layers of 1 kind<") != std::string::npos);
    CHECK(alike.find("×2  layers 0, 1<") != std::string::npos);
    CHECK(alike.find("sum of the layers 58.5 µs, in no layer 700 ns") != std::string::npos);
    CHECK(alike.find("0 ns (layer 0) to 58.5 µs (layer 1)") != std::string::npos);
    CHECK(alike.find(" -> ") == std::string::npos);
    CHECK(picture_of_all(sample, false).size() == 2);

    Sample differing = sample;
    auto layers = std::make_shared<Layers>(*sample.layers);
    for (Layer& layer : layers->layers) layer.kind = static_cast<std::uint32_t>(layer.number);
    differing.layers = layers;
    const std::string two = picture_of_all(differing, true).at("092_compile_compile_model_layers.dot");
    CHECK(two.find("2 layers of 2 kinds<") != std::string::npos);
    CHECK(two.find("  k0 -> k1 [") != std::string::npos);
    // Layer 1: 24 in attention, 31 in the mixture of experts, 3 beside them, 0.5 on no node: its 58.5.
    for (const char* part :
         {">Attention<", "24.0 µs<", ">Mixture of experts<", "31.0 µs<", "3.00 µs<", ">On no node<", "500 ns<", "58.5 µs  100 %<"}) {
        CHECK_MESSAGE(two.find(part) != std::string::npos, part);
    }
}
