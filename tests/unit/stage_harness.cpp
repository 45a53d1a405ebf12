// What plugin authors test their stages with.
#include <adpipe/model/layers.hpp>
#include <adpipe/plugin.hpp>
#include <adpipe/testing/graph_text.hpp>
#include <adpipe/testing/stage_harness.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <stdexcept>
#include <string>

using namespace adpipe;
using testing::graph_from_text;
using testing::StageHarness;

namespace {

const std::filesystem::path toys = ADPIPE_BAD_PLUGINS "/toys.so";

std::string error_of(StageHarness& harness) {
    try {
        harness.run();
    } catch (const Error& error) {
        return error.diagnostics().front().code + " " + error.diagnostics().front().message;
    }
    return "no error";
}

class Count : public Stage {
public:
    static constexpr const char* name = "render.count";
    static constexpr const char* summary = "";
    static constexpr const char* doc = "";
    static constexpr PortDecl inputs[] = {port<GraphModel>("graphs", "", PortUse::many)};
    void run(Context& context) override {
        context.print(std::to_string(context.many<GraphModel>("graphs").size()));
        context.report({Severity::warning, "ADP-TEST-001", "odd", {}, {}, {}, {}});
        context.summary(context.layers().all ? "all" : "some");
    }
};

}  // namespace

TEST_CASE("a stage of a plugin is run with options and inputs") {
    StageHarness harness{toys, "render.toy"};
    harness.input("graph", graph_from_text("a -> b"))
        .option("times", 2)
        .option("loud", true)
        .option("colours", std::vector<std::string>{"red", "blue"});
    harness.run();
    CHECK(harness.printed() == "2 vertices red blue!\n2 vertices red blue!\n");
    CHECK(harness.file("toy.txt") == "2 vertices red blue!\n");
    CHECK(harness.files().size() == 1);
    harness.option("times", 1);
    harness.run();
    CHECK(harness.printed() == "2 vertices red blue!\n");
}

TEST_CASE("its output files go with the harness") {
    std::filesystem::path file;
    {
        StageHarness harness{toys, "render.toy"};
        harness.input("graph", graph_from_text("a -> b"));
        harness.run();
        file = harness.files().front();
        CHECK(std::filesystem::exists(file));
    }
    CHECK_FALSE(std::filesystem::exists(file.parent_path()));
}

TEST_CASE("its output comes back typed") {
    StageHarness harness{toys, "member.toy"};
    const auto layers = harness.input("graph", graph_from_text("a -> b -> c")).run<Layers>();
    REQUIRE(layers);
    CHECK(layers->of.size() == 3);
    CHECK(harness.output<GraphModel>() == nullptr);
}

TEST_CASE("a class is run without a plugin file") {
    StageHarness harness{stage<Count>()};
    harness.input("graphs", graph_from_text("a -> b")).input("graphs", graph_from_text("c -> d"));
    harness.layers({true, {}});
    harness.run();
    CHECK(harness.printed() == "2");
    CHECK(harness.diagnostics().size() == 1);
    CHECK(harness.summary() == std::vector<std::string>{"all"});
}

TEST_CASE("misuse is told as the host would tell it") {
    StageHarness harness{toys, "render.toy"};
    CHECK(error_of(harness) == "ADP-RUN-005 stage 'render.toy' requires its input 'graph', and nothing feeds it");
    harness.input("graph", graph_from_text("a -> b")).option("times", 9);
    CHECK(error_of(harness) == "ADP-CFG-014 option 'times' must be from 1 to 5; found 9");
    harness.option("times", 1).input("graf", graph_from_text("a -> b"));
    CHECK(error_of(harness) == "ADP-PLAN-004 stage 'render.toy' has no input 'graf' of type graph/1");
    CHECK_THROWS_AS(StageHarness(toys, "render.nothing"), Error);
    CHECK_THROWS_AS(StageHarness("/nowhere/at/all.so", "render.toy"), Error);
    CHECK_THROWS_AS(StageHarness("render.nothing_of_that_name"), Error);
}

TEST_CASE("a graph out of a few lines") {
    const auto graph = graph_from_text(R"(# comment
x = placeholder : s44x8 : torch.int32
h = aten.add.Tensor(%x, %bias : 8 : torch.float32, 1, (2, 3)) : s44x8 : torch.float32
c = aten.cat.default([%h, %x, 7], -1)
c -> tail
output(%tail)
module other
x = placeholder
output(%x)
)");
    REQUIRE(graph->modules().size() == 2);
    const VertexId h = graph->find("h").value();
    CHECK(graph->vertex(h).target == "aten.add.Tensor");
    CHECK(graph->vertex(h).shape == "s44x8");
    CHECK(graph->vertex(h).line == 3);
    REQUIRE(graph->literals(h).size() == 2);
    CHECK(graph->literals(h)[1].text == "(2, 3)");
    CHECK(graph->literals(h)[1].argument == 3);
    const VertexId bias = graph->find("bias").value();
    CHECK(graph->vertex(bias).kind == VertexKind::weight);
    CHECK(graph->vertex(bias).dtype == "torch.float32");
    const auto into_c = graph->inputs(graph->find("c").value());
    REQUIRE(into_c.size() == 2);
    CHECK(into_c[0].argument == 0);
    CHECK(into_c[1].argument == 0);
    CHECK(graph->vertex(graph->find("tail").value()).target == "op");
    CHECK(graph->vertex(graph->find("output").value()).kind == VertexKind::output);
}

TEST_CASE("lines that are none of the graph's") {
    for (const char* wrong : {"a", "a = ", "a = op", "a = op(%x", "a b = op()", "a -> b\nc -> b", "x = placeholder\nx = placeholder"}) {
        INFO(wrong);
        CHECK_THROWS_AS(graph_from_text(wrong), std::invalid_argument);
    }
    CHECK(graph_from_text("")->size() == 0);
}
