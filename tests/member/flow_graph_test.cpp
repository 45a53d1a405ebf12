#include "flow_graph.hpp"
#include "graph_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace adpipe;
using namespace adpipe::member;

namespace {

/// Names of what `node` depends on.
std::vector<std::string> sources(const FlowGraph& flow, std::string_view node) {
    std::vector<std::string> names;
    for (FlowId v = 0; v < flow.size(); ++v) {
        if (flow.vertex(v).name != node) continue;
        for (const FlowId s : flow.sources(v)) names.emplace_back(flow.vertex(s).name);
    }
    return names;
}

}  // namespace

TEST_CASE("what reads an operand after an in-place op depends on that op") {
    const auto graph = graph_of(R"(
        x:
        y:
        before = aten.relu.default(x)
        added = aten.add_.Tensor(x, y)
        after = aten.relu.default(x)
        out after
    )");
    const FlowGraph flow(*graph, 0);
    CHECK(sources(flow, "before") == std::vector<std::string>{"x"});
    CHECK(sources(flow, "added") == std::vector<std::string>{"x", "y"});
    CHECK(sources(flow, "after") == std::vector<std::string>{"added"});
}

TEST_CASE("a write through a view reaches readers of the whole, and a copy_ that nothing reads is not lost") {
    const auto graph = graph_of(R"(
        x:
        whole = aten.empty.memory_format(x)
        left = aten.slice.Tensor(whole, 0, 0, 4)
        right = aten.slice.Tensor(whole, 0, 4, 8)
        copied = aten.copy_.default(left, x)
        reads_whole = aten.relu.default(whole)
        reads_right = aten.relu.default(right)
        out reads_whole, reads_right
    )");
    const FlowGraph flow(*graph, 0);
    CHECK(sources(flow, "reads_whole") == std::vector<std::string>{"copied"});
    CHECK(sources(flow, "reads_right") == std::vector<std::string>{"right", "copied"});
}

TEST_CASE("the in-place fused add and norm writes both operands") {
    const auto graph = graph_of(R"(
        x:
        residual:
        fused = auto_deploy.flashinfer_fused_add_rms_norm_inplace.default(x, residual, $model_layers_0_norm_weight)
        q = auto_deploy.torch_linear_simple.default(x, $model_layers_0_q_weight)
        next = auto_deploy.flashinfer_fused_add_rms_norm_inplace.default(q, residual, $model_layers_1_norm_weight)
        out next
    )");
    const FlowGraph flow(*graph, 0);
    CHECK(sources(flow, "q").front() == "fused");
    CHECK(sources(flow, "next") == std::vector<std::string>{"q", "fused", "model_layers_1_norm_weight"});
}

TEST_CASE("parts of a split graph are taken as the whole that they are") {
    const auto graph = graph_of(R"(
        module split
        x:
        first = submod_0(x)
        a = getitem(first, 0)
        b = getitem(first, 1)
        second = submod_1(b, a)
        out second
        module split.submod_0.inner
        p:
        u = aten.relu.default(p)
        v = aten.tanh.default(p)
        out u, v
        module split.submod_1
        q:
        r:
        w = aten.sub.Tensor(q, r)
        out w
    )");
    const std::vector<RootModule> roots = root_modules(*graph);
    REQUIRE(roots.size() == 1);
    CHECK(roots[0].calls_parts);
    const FlowGraph flow(*graph, roots[0].index);
    CHECK(sources(flow, "w") == std::vector<std::string>{"v", "u"});
    CHECK(sources(flow, "output") == std::vector<std::string>{"w"});
    CHECK(flow.calls().size() == 2);
    // Every vertex but the calls and the parts' outputs has a place: x, a, b, output; p, u, v; q, r, w.
    CHECK(flow.places().size() == 10);
}

TEST_CASE("sizes and arithmetic on sizes are numbers") {
    const auto graph = graph_of(R"(
        x:
        n = aten.sym_size.int(x, 0)
        m = mul(n, 2)
        y = aten.mul.Tensor(x, m)
        out y
    )");
    const FlowGraph flow(*graph, 0);
    for (FlowId v = 0; v < flow.size(); ++v) {
        const std::string_view name = flow.vertex(v).name;
        CAPTURE(name);
        CHECK(flow.is_number(v) == (name == "n" || name == "m"));
    }
}
