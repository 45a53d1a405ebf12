#include "shortened.hpp"

#include <algorithm>

namespace segment {

namespace {

constexpr std::size_t longest_round = 16;
constexpr std::size_t fewest_rounds = 4;
constexpr std::size_t shortest_loop = 12;
constexpr std::size_t rounds_kept = 2;

bool may_be_in_loop(adpipe::KernelCategory category) {
    return category == adpipe::KernelCategory::elementwise || category == adpipe::KernelCategory::reduction ||
           category == adpipe::KernelCategory::copy;
}

struct Loop {
    std::size_t round = 0;   ///< kernels in one
    std::size_t length = 0;  ///< kernels in whole rounds
};

/// The loop of the shortest rounds that begins at the front of `run`, or one of length 0.
Loop loop_at_front(SymbolSpan run) {
    for (std::size_t round = 1; round <= longest_round && fewest_rounds * round <= run.size(); ++round) {
        std::size_t same = 0;
        while (same + round < run.size() && run[same] == run[same + round]) ++same;
        const std::size_t rounds = same / round + 1;
        if (rounds >= fewest_rounds && rounds * round >= shortest_loop) return {round, rounds * round};
    }
    return {};
}

}  // namespace

Shortened shortened(const SymbolTable& table, SymbolSpan sequence) {
    Shortened result;
    result.symbols.reserve(sequence.size());
    const auto keep = [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            if (i > 0 && table[sequence[i]].finishes_product) continue;
            result.symbols.push_back(sequence[i]);
            result.origin.push_back(static_cast<std::uint32_t>(i));
        }
    };
    std::size_t run_end = 0;  // of the kernels from `i` on that may be in loops
    for (std::size_t i = 0; i < sequence.size();) {
        run_end = std::max(run_end, i);
        while (run_end < sequence.size() && may_be_in_loop(table[sequence[run_end]].category)) ++run_end;
        const Loop loop = loop_at_front(sequence.subspan(i, run_end - i));
        const std::size_t kept = loop.length > 0 ? rounds_kept * loop.round : 1;
        keep(i, i + kept);
        i += std::max(loop.length, kept);
    }
    result.origin.push_back(static_cast<std::uint32_t>(sequence.size()));
    return result;
}

}  // namespace segment
