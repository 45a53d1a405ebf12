// Placements that time forbids: a kernel that began before what it needs.

#include "graph_text_support.hpp"

#include "align_evidence/time_order.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace adpipe;
using namespace adpipe::align;

namespace {

/// norm → router (main stream) and norm → shared (auxiliary) → view (launches nothing) → add, with what the router gives.
constexpr const char* two_branches = R"(# Transform: t
# Stage: s
# GraphModules found: 1


================================================================================
# GraphModule: model
================================================================================

%x : 2x4 : torch.bfloat16
%norm = aten.relu.default(%x : 2x4 : torch.bfloat16) : 2x4 : torch.bfloat16
%router = aten.sin.default(%norm : 2x4 : torch.bfloat16) : 2x4 : torch.bfloat16
%shared = aten.cos.default(%norm : 2x4 : torch.bfloat16) : 2x4 : torch.bfloat16
%view = aten.view.default(%shared : 2x4 : torch.bfloat16, [2, 4]) : 2x4 : torch.bfloat16
%add = aten.add.Tensor(%router : 2x4 : torch.bfloat16, %view : 2x4 : torch.bfloat16) : 2x4 : torch.bfloat16
output %add
)";

struct Kernel {
    const char* node;
    Nanoseconds start;
    std::int64_t stream;
    bool by_order = true;
};

/// "doubted: needs before made @time" of each contradiction.
std::vector<std::string> doubts(const std::vector<Kernel>& kernels) {
    const auto graph = graph_text::read(parse::parse_autodeploy, two_branches).graph;
    std::vector<PlacedKernel> placed;
    for (const Kernel& kernel : kernels) placed.push_back({*graph->find(kernel.node, 0), kernel.start, kernel.stream, kernel.by_order});
    std::vector<std::string> found;
    for (const Contradiction& one : TimeOrder(*graph).contradictions(placed)) {
        const auto name = [&](VertexId v) { return std::string{graph->vertex(v).name}; };
        found.push_back(name(one.doubted) + ": " + name(one.needs) + " before " + name(one.made) + " @" + std::to_string(one.time));
    }
    return found;
}

using Doubts = std::vector<std::string>;

}  // namespace

TEST_CASE("placements in the order of the dataflow are left alone, also where streams overlap") {
    CHECK(doubts({{"norm", 10, 1}, {"shared", 12, 2}, {"router", 14, 1}, {"shared", 16, 2}, {"add", 20, 1}}) == Doubts{});
    CHECK(doubts({{"norm", 10, 1}, {"add", 20, 1}}) == Doubts{});
    CHECK(doubts({}) == Doubts{});
}

TEST_CASE("a kernel of a side stream that slipped behind what needs it is doubted, through ops that launch nothing") {
    CHECK(doubts({{"norm", 10, 1}, {"router", 14, 1}, {"shared", 16, 2}, {"shared", 30, 2}, {"add", 20, 1}}) ==
          Doubts{"shared: add before shared @20"});
}

TEST_CASE("a kernel of a side stream that slipped before what it needs is doubted, and says nothing of what comes after it") {
    CHECK(doubts({{"shared", 5, 2}, {"norm", 10, 1}, {"router", 14, 1}, {"add", 20, 1}}) == Doubts{"shared: shared before norm @10"});
}

TEST_CASE("what stronger evidence placed is not doubted for what the order of kernels says") {
    CHECK(doubts({{"norm", 10, 1}, {"router", 14, 1}, {"shared", 30, 2, false}, {"add", 20, 1}}) == Doubts{"add: add before shared @30"});
    CHECK(doubts({{"norm", 10, 1}, {"router", 14, 1}, {"shared", 30, 2, false}, {"add", 20, 1, false}}) == Doubts{});
}

TEST_CASE("a contradiction holds against the kernels on the wrong side alone") {
    const Contradiction late{1, 2, 1, 20};
    CHECK(late.holds_against(30));
    CHECK_FALSE(late.holds_against(16));
    const Contradiction early{1, 2, 2, 10};
    CHECK(early.holds_against(5));
    CHECK_FALSE(early.holds_against(10));
}
