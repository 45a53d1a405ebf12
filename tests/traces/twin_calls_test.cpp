// Like calls in a row, and how a row of kernels is shared out among them.

#include "twin_calls.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace adpipe::align;

namespace {

/// Kernels as letters; ops 0 and 1 are twins, 2 and 3 are other calls. Per kernel, how likely it is on ops 0, 1 and 2.
struct Row {
    LatticeResult result;
    std::vector<std::vector<LatticeKernel>> chains{1};
    std::vector<LatticeOp> ops;

    explicit Row(std::string_view letters, const std::vector<std::vector<Placement>>& placements) {
        result.aligned = true;
        result.placements = {placements};
        for (const char letter : letters) {
            LatticeKernel kernel;
            kernel.name = kernel.variant = static_cast<std::uint32_t>(letter);
            chains[0].push_back(kernel);
        }
        for (const std::uint32_t signature : {5U, 5U, 6U, 7U}) {
            LatticeOp op;
            op.signature = signature;
            ops.push_back(op);
        }
    }

    /// The op that each kernel is surely on, '.' if there is none.
    std::string shared_out() {
        share_out_among_twins(result, chains, ops);
        std::string text;
        for (const auto& list : result.placements[0]) {
            text += !list.empty() && list.front().probability >= 0.95F ? static_cast<char>('0' + list.front().op) : '.';
        }
        return text;
    }
};

const std::vector<Placement> either{{0, 0.5F}, {1, 0.5F}};
const std::vector<Placement> first{{0, 1.0F}};
const std::vector<Placement> other{{2, 1.0F}};
const std::vector<Placement> foreign{{0, 0.5F}, {2, 0.5F}};
const std::vector<Placement> or_none{{0, 0.4F}, {1, 0.4F}};

}  // namespace

TEST_CASE("a row of kernels that comes twice is shared out evenly among two like calls") {
    CHECK(Row("abaabax", {either, either, either, either, either, either, other}).shared_out() == "0001112");
    CHECK(Row("abab", {first, either, either, either}).shared_out() == "0011");
    CHECK(Row("aa", {either, either}).shared_out() == "01");
}

TEST_CASE("what does not come twice stays open") {
    CHECK(Row("abc", {either, either, either}).shared_out() == "...");
    CHECK(Row("abac", {either, either, either, either}).shared_out() == "....");
    CHECK(Row("abaaba", {first, either, either, foreign, either, either}).shared_out() == "0.....");
    CHECK(Row("abab", {or_none, or_none, or_none, or_none}).shared_out() == "....");
}
