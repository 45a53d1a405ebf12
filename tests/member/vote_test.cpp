#include "vote.hpp"

#include "graph_text.hpp"

#include <doctest/doctest.h>

using namespace adpipe;
using namespace adpipe::member;

namespace {

const std::string text = R"(
    ids:
    x = aten.embedding.default($model_embed_weight, ids)
    a = linear(x, $model_layers_0_w_weight)
    b = linear(a, $model_layers_1_w_weight)
    out b
)";

std::shared_ptr<const Layers> ballot(const GraphModel& graph, const char* strategy, std::string_view node, LayerId layer) {
    std::vector<Diagnostic> notes;
    auto layers = std::make_shared<Layers>(members_by_dataflow(graph, common_rules(), NameUse::ignore, notes));
    layers->strategy = strategy;
    if (!node.empty()) layers->of[*graph.find(node)].layer = layer;
    return layers;
}

}  // namespace

TEST_CASE("strategies that agree leave nothing to say") {
    const auto graph = graph_of(text);
    std::vector<Diagnostic> notes;
    const Layers result = vote(*graph, {ballot(*graph, "one", "", 0), ballot(*graph, "two", "", 0)}, notes);
    CHECK(notes.empty());
    CHECK(result.of[*graph->find("b")].layer == 1);
    CHECK(result.of[*graph->find("b")].certain);
    CHECK(result.layers.size() == 2);
}

TEST_CASE("most ballots decide, the first where they are even, a difference is reported with both reasons") {
    const auto graph = graph_of(text);
    std::vector<Diagnostic> notes;
    const Layers two = vote(*graph, {ballot(*graph, "one", "b", 0), ballot(*graph, "two", "", 0)}, notes);
    CHECK(two.of[*graph->find("b")].layer == 0);
    CHECK_FALSE(two.of[*graph->find("b")].certain);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].code == "ADP-MEMBER-004");
    CHECK(notes[0].message == "1 node is put into different layers by the strategies compared");
    CHECK(notes[0].notes ==
          std::vector<std::string>{"line 5, %b; one: 0 (uses model_layers_1_w_weight); two: 1 (uses model_layers_1_w_weight)"});
    notes.clear();
    const Layers three = vote(*graph, {ballot(*graph, "one", "b", 0), ballot(*graph, "two", "", 0), ballot(*graph, "three", "", 0)}, notes);
    CHECK(three.of[*graph->find("b")].layer == 1);
    CHECK(notes.size() == 1);
}

TEST_CASE("a vertex that serves two layers is no difference") {
    const auto graph = graph_of(text);
    std::vector<Diagnostic> notes;
    auto other = std::make_shared<Layers>(*ballot(*graph, "two", "b", 0));
    other->of[*graph->find("b")].also = 1;
    vote(*graph, {ballot(*graph, "one", "", 0), other}, notes);
    CHECK(notes.empty());
}

TEST_CASE("no ballot, or one of another graph, is an error") {
    const auto graph = graph_of(text);
    const auto other = graph_of("ids:\nout ids");
    std::vector<Diagnostic> notes;
    const auto code = [&](const std::vector<std::shared_ptr<const Layers>>& ballots) {
        try {
            vote(*graph, ballots, notes);
        } catch (const Error& error) {
            return error.diagnostics().front().code;
        }
        return std::string{};
    };
    CHECK(code({}) == "ADP-MEMBER-002");
    CHECK(code({ballot(*other, "one", "", 0)}) == "ADP-MEMBER-003");
}
