#include "sample.hpp"

#include <adpipe/render/folding.hpp>
#include <adpipe/render/labels.hpp>
#include <adpipe/render/outline.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace adpipe;
using namespace adpipe::testing;
using namespace adpipe::render;

namespace {

std::vector<std::string> names(const LayerView& view, const std::vector<VertexId>& vertices) {
    std::vector<std::string> result;
    for (const VertexId v : vertices) result.emplace_back(view.graph->vertex(v).name);
    return result;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a view holds the layer's ops, what feeds them and what they feed") {
    const LayerView view = make_sample().view(1);
    CHECK(view.nodes.size() == 16);
    CHECK(names(view, view.boundary_in) == Names{"sum_0"});
    CHECK(names(view, view.boundary_out) == Names{"sum_1"});
    CHECK(view.next == layer_epilogue);
    Names labels;
    for (const ExternalInput& input : view.inputs) labels.push_back(input.label);
    CHECK(labels == Names{"Layer 0 residual output", "RoPE cos/sin", "KV cache", "batch metadata"});
    for (const Edge& edge : view.edges) CHECK(view.contains(edge.target));
}

TEST_CASE("the first layer's input is what the prologue makes") {
    const LayerView view = make_sample().view(0);
    CHECK(names(view, view.boundary_in) == Names{"embed"});
    CHECK(view.inputs.front().label == "Embedding output");
    CHECK(view.next == 1);
}

TEST_CASE("times of a layer add up") {
    const Sample sample = make_sample();
    const LayerView view = sample.view(1);
    REQUIRE(view.kernels.size() == 12);
    Nanoseconds sum = 0;
    for (const KernelUse& kernel : view.kernels) sum += kernel.time.median;
    CHECK(sum == view.times.sum);
    CHECK(view.times.sum == 2000 + 3000 + 4000 + 1000 + 11000 + 5000 + 2000 + 8000 + 20000 + 1000 + 1000 + 500);
    CHECK(view.times.attributed + view.times.unattributed == view.times.sum);
    CHECK(view.times.unattributed == 500);
    REQUIRE(view.times.unattributed_by_reason.size() == 1);
    CHECK(view.times.unattributed_by_reason[0].reason == "its range names a module that the dump does not hold");
    CHECK(view.times.outside == 700);
    Nanoseconds on_nodes = 0;
    for (const VertexId v : view.nodes) on_nodes += view.time_of(v);
    CHECK(on_nodes == view.times.attributed);
    CHECK(view.times.step_sum.minimum == 57500);
    CHECK(view.times.step_sum.maximum == 59500);
    // The auxiliary stream's 12000 run beside the main stream.
    CHECK(view.times.wall.minimum == 45500);
    CHECK(view.times.wall.maximum == 47500);
    CHECK(view.times.streams == std::vector<std::int64_t>{13, 29});
}

TEST_CASE("kernels correspond between steps by node, name and number") {
    const Sample sample = make_sample();
    const LayerView view = sample.view(1);
    const auto attention = view.kernels_of(sample.vertex("attention_1"));
    REQUIRE(attention.size() == 1);
    const KernelUse& kernel = view.kernels[attention[0]];
    CHECK(kernel.time.count == 2);
    CHECK(kernel.time.minimum == 10000);
    CHECK(kernel.time.median == 11000);
    CHECK(kernel.time.maximum == 12000);
    CHECK(kernel.time.mean() == doctest::Approx(11000));
    CHECK(kernel.evidence == Evidence::annotation);
    CHECK(view.kernels_of(sample.vertex("q_1")).size() == 2);
    CHECK(view.shared_kernels_of(sample.vertex("scale_1")).size() == 1);
    CHECK(view.time_of(sample.vertex("scale_1")) == 0);
}

TEST_CASE("medians and deviations") {
    CHECK(spread_of({}).count == 0);
    const Spread odd = spread_of({5, 1, 3});
    CHECK(odd.median == 3);
    CHECK(odd.deviation == doctest::Approx(2.0));
    CHECK(spread_of({1, 4}).median == 2);
    CHECK(spread_of({7}).deviation == 0);
}

TEST_CASE("shape-only ops fold into edges, and nothing that launches a kernel does") {
    const Sample sample = make_sample();
    const LayerView view = sample.view(1);
    const FoldedLayer folded = fold_layer(view, Fold::shape);
    const Names shown = names(view, folded.nodes);
    for (const char* gone : {"begin_1", "end_1", "q_view_1"}) CHECK(std::find(shown.begin(), shown.end(), gone) == shown.end());
    CHECK(shown.size() == 13);
    const auto edge = std::find_if(folded.edges.begin(), folded.edges.end(), [&](const FoldedEdge& e) {
        return e.from == sample.vertex("q_1") && e.to == sample.vertex("attention_1");
    });
    REQUIRE(edge != folded.edges.end());
    CHECK(names(view, edge->through) == Names{"q_view_1"});
    CHECK(fold_layer(view, Fold::none).nodes.size() == 16);
}

TEST_CASE("the outline finds the residual stream, the blocks and the auxiliary stream") {
    const Sample sample = make_sample();
    for (const bool with_trace : {true, false}) {
        const LayerView view = sample.view(1, with_trace);
        const FoldedLayer folded = fold_layer(view, Fold::shape);
        const Outline outline = outline_layer(view, folded);
        CHECK(names(view, outline.spine) == Names{"residual_1", "sum_1"});
        Names titles;
        for (const Block& block : outline.blocks) titles.push_back((block.parent < 0 ? "" : "> ") + block.title);
        CHECK(titles == Names{"Attention", "> KV", "> Q", "Mixture of experts", "> Router", "> Shared experts", "> Experts"});
        CHECK(outline.block(sample.vertex("norm_1")) == -1);
        CHECK(outline.auxiliary.count(sample.vertex("kv_1")) == 1);
        CHECK(outline.auxiliary.at(sample.vertex("kv_1")) == (with_trace ? 29 : -1));
        CHECK(outline.auxiliary.count(sample.vertex("shared_1")) == (with_trace ? 1U : 0U));
    }
}

TEST_CASE("an in-place op stands between what it overwrites and the readers of that") {
    GraphBuilder builder("dump.txt", nullptr);
    builder.begin_module("m", 1);
    const auto add = [&](const char* name, const char* target, VertexKind kind = VertexKind::op) {
        Vertex vertex;
        vertex.name = name;
        vertex.target = target;
        vertex.op = target;
        vertex.kind = kind;
        return builder.add(vertex).vertex;
    };
    const VertexId in = add("in", "", VertexKind::placeholder);
    const VertexId x = add("x", "aten.mm.default");
    const VertexId norm = add("norm", "aten.add_.Tensor");
    const VertexId reader = add("reader", "aten.mm.default");
    builder.connect(in, x, 0);
    builder.connect(x, norm, 0);
    builder.connect(x, reader, 0);
    const auto graph = builder.freeze();
    auto layers = std::make_shared<Layers>();
    layers->graph_digest = graph->digest();
    layers->of.resize(graph->size());
    for (const VertexId v : {x, norm, reader}) layers->of[v].layer = 0;
    layers->layers.push_back({});
    layers->layers[0].number = 0;
    const LayerViews views(graph, layers, nullptr);
    const LayerView view = views.view(layers->layers[0]);
    const FoldedLayer folded = fold_layer(view, Fold::shape);
    REQUIRE(folded.edges.size() == 3);
    CHECK(folded.edges[2].from == norm);
    CHECK(folded.edges[2].to == reader);
    CHECK(folded.edges[2].kind == EdgeKind::memory);
}

TEST_CASE("annotations of another graph are refused") {
    const Sample sample = make_sample();
    auto other = std::make_shared<Layers>(*sample.layers);
    other->graph_digest += 1;
    CHECK(error_code_of([&] { LayerViews(sample.graph, other, nullptr); }) == "ADP-RND-003");
}

TEST_CASE("titles say what is shown") {
    const Sample sample = make_sample();
    const LayerView view = sample.view(1);
    CHECK(layer_title(view, "decode") == "decode · layer 1");
    CHECK(steps_line(view) == "decode · batch size 8 · median of 2 replays");
    CHECK(time_line(view) == "sum 58.5 µs · wall 46.5 µs");
    CHECK(coverage_line(view) == "12 kernels on 2 streams, 500 ns (0.9 %) on no node");
    CHECK(source_line(view) == "092_compile_compile_model.txt, model · decode.sqlite");
    CHECK(label_node(view, sample.vertex("q_1")).title == "q_proj");
    CHECK(label_node(view, sample.vertex("q_1")).detail == "torch_linear_simple");
    CHECK(label_node(view, sample.vertex("q_1")).type == "2x4x8 bf16");
    CHECK(label_node(view, sample.vertex("router_1")).title == "gate");
    CHECK(label_node(view, sample.vertex("experts_1")).title == "moe_fused");
}
