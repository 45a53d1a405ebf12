#include "stream_continuity.hpp"

#include <algorithm>

namespace adpipe::align {

namespace {

constexpr float sure_run = 0.9F;
constexpr float factor = 2.0F;  ///< log, for each side on which the op's neighbours are known to run in that chain
constexpr std::int32_t open = -1;
constexpr std::int32_t several = -2;

/// The chain of an op's neighbours on one side, through ops of which nothing is known: they may launch nothing.
std::int32_t join(std::int32_t a, std::int32_t b) {
    if (a == open || b == open) return a == open ? b : a;
    return a == b ? a : several;
}

}  // namespace

std::vector<float> stream_continuity(const LatticeResult& result, const std::vector<std::vector<std::uint32_t>>& producers,
                                     std::size_t chains) {
    std::vector<std::int32_t> own(producers.size(), open);
    for (const LatticeResult::Run& run : result.runs) {
        if (run.probability >= sure_run && run.count > 0) own[run.op] = join(own[run.op], static_cast<std::int32_t>(run.chain));
    }
    std::vector<std::int32_t> before(producers.size(), open);
    std::vector<std::int32_t> after(producers.size(), open);
    for (std::size_t op = 0; op < producers.size(); ++op) {
        for (const std::uint32_t p : producers[op]) before[op] = join(before[op], own[p] != open ? own[p] : before[p]);
    }
    for (std::size_t op = producers.size(); op-- > 0;) {
        const std::int32_t here = own[op] != open ? own[op] : after[op];
        for (const std::uint32_t p : producers[op]) after[p] = join(after[p], here);
    }
    std::vector<float> preference(producers.size() * chains, 0);
    for (std::size_t op = 0; op < producers.size(); ++op) {
        for (const std::int32_t side : {before[op], after[op]}) {
            if (side >= 0) preference[op * chains + static_cast<std::size_t>(side)] += factor;
        }
    }
    return preference;
}

}  // namespace adpipe::align
