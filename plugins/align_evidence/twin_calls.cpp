#include "twin_calls.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace adpipe::align {

namespace {

constexpr float hardly_possible = 0.05F;
constexpr float beyond_doubt = 0.95F;
constexpr float shared_out = 0.96F;

/// The signature of all ops that a kernel may well belong to; nothing if they differ, or if it may well belong to none.
std::optional<std::uint32_t> common_signature(const std::vector<Placement>& placements, std::span<const LatticeOp> ops) {
    std::optional<std::uint32_t> signature;
    float known = 0;
    for (const Placement& placement : placements) {
        known += placement.probability;
        if (placement.probability < hardly_possible) continue;
        if (signature && *signature != ops[placement.op].signature) return std::nullopt;
        signature = ops[placement.op].signature;
    }
    return known > 1 - hardly_possible ? signature : std::nullopt;
}

using Row = std::span<std::vector<Placement>>;

void share_out(Row row, std::span<const LatticeKernel> kernels) {
    std::set<std::uint32_t> calls;
    bool is_open = false;
    for (const auto& placements : row) {
        for (const Placement& placement : placements) {
            if (placement.probability >= hardly_possible) calls.insert(placement.op);
        }
        is_open = is_open || placements.front().probability < beyond_doubt;
    }
    if (!is_open || calls.size() < 2 || row.size() % calls.size() != 0) return;
    const std::size_t each = row.size() / calls.size();
    for (std::size_t i = each; i < row.size(); ++i) {
        if (kernels[i].variant != kernels[i - each].variant) return;
    }
    std::size_t i = 0;
    for (const std::uint32_t op : calls) {
        for (std::size_t n = 0; n < each; ++n) row[i++] = {{op, shared_out}};
    }
}

}  // namespace

void share_out_among_twins(LatticeResult& result, std::span<const std::vector<LatticeKernel>> chains, std::span<const LatticeOp> ops) {
    if (!result.aligned) return;
    for (std::size_t c = 0; c < chains.size(); ++c) {
        auto& placements = result.placements[c];
        for (std::size_t begin = 0, end = 0; begin < placements.size(); begin = end) {
            const auto signature = common_signature(placements[begin], ops);
            for (end = begin + 1; signature && end < placements.size() && common_signature(placements[end], ops) == signature;) ++end;
            if (signature) share_out(Row(placements).subspan(begin, end - begin), std::span(chains[c]).subspan(begin, end - begin));
        }
    }
}

}  // namespace adpipe::align
