#include "losses.hpp"

#include <algorithm>

namespace adpipe::align {

namespace {

constexpr std::size_t longest_gap = 4;      ///< kernels in a row
constexpr std::size_t alike_after_gap = 3;  ///< that show where both go on
constexpr std::size_t most_lost = 20;       ///< one of so many kernels
constexpr std::size_t neighbours = 4;       ///< passes of nearly the same length that one is compared with

bool alike(std::span<const LatticeKernel> a, std::span<const LatticeKernel> b, std::size_t count) {
    count = std::min({count, a.size(), b.size()});
    return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(count), b.begin(),
                      [](const LatticeKernel& x, const LatticeKernel& y) { return x.variant == y.variant; });
}

/// How many kernels of `longer` stand before what `shorter` goes on with; 0 if there is no such place near.
std::size_t gap_before(std::span<const LatticeKernel> longer, std::span<const LatticeKernel> shorter) {
    for (std::size_t gap = 1; gap <= longest_gap && gap <= longer.size(); ++gap) {
        if (alike(longer.subspan(gap), shorter, alike_after_gap)) return gap;
    }
    return 0;
}

bool chains_differ_by_losses(const Pass& a, const Pass& b) {
    if (a.chains.size() != b.chains.size()) return false;
    bool any = false;
    for (std::size_t c = 0; c < a.chains.size(); ++c) {
        const bool equal = a.chains[c].size() == b.chains[c].size() && alike(a.chains[c], b.chains[c], a.chains[c].size());
        if (!equal && !differ_by_losses(a.chains[c], b.chains[c])) return false;
        any = any || !equal;
    }
    return any;
}

}  // namespace

bool differ_by_losses(std::span<const LatticeKernel> a, std::span<const LatticeKernel> b) {
    const std::size_t allowed = std::max(a.size(), b.size()) / most_lost;
    std::size_t lost = 0;
    while (!a.empty() && !b.empty()) {
        if (a.front().variant == b.front().variant) {
            a = a.subspan(1);
            b = b.subspan(1);
            continue;
        }
        const std::size_t of_b = gap_before(a, b);
        const std::size_t of_a = gap_before(b, a);
        if (of_a == 0 && of_b == 0) return false;
        const bool skip_a = of_a == 0 || (of_b != 0 && of_b <= of_a);
        (skip_a ? a : b) = skip_a ? a.subspan(of_b) : b.subspan(of_a);
        if ((lost += skip_a ? of_b : of_a) > allowed) return false;
    }
    lost += a.size() + b.size();
    return lost > 0 && lost <= allowed;
}

bool replays_show_losses(const std::vector<Pass>& passes) {
    std::vector<const Pass*> replays;
    for (const Pass& pass : passes) {
        if (pass.replay && pass.captured == no_captured_graph && !pass.cut_begin && !pass.cut_end) replays.push_back(&pass);
    }
    std::stable_sort(replays.begin(), replays.end(), [](const Pass* a, const Pass* b) { return a->slot_count < b->slot_count; });
    for (std::size_t i = 0; i < replays.size(); ++i) {
        for (std::size_t j = i + 1; j < std::min(replays.size(), i + 1 + neighbours); ++j) {
            if (chains_differ_by_losses(*replays[i], *replays[j])) return true;
        }
    }
    return false;
}

}  // namespace adpipe::align
