#include "stream_order.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>

namespace adpipe::window {

namespace {

/// Twice the middle of a kernel's time: nanoseconds since 1970 stay below a quarter of the range of the type.
Nanoseconds twice_middle(const Kernels& kernels, std::uint32_t k) { return kernels.start[k] + kernels.end[k]; }

bool middles_are_in_order(const Kernels& kernels, const std::vector<std::uint32_t>& list) {
    struct Tail {
        std::int64_t stream;
        Nanoseconds twice_middle;
    };
    std::vector<Tail> tails;  // one per stream: few
    for (const std::uint32_t k : list) {
        const std::int64_t stream = kernels.stream[k];
        const auto tail = std::find_if(tails.begin(), tails.end(), [&](const Tail& t) { return t.stream == stream; });
        const Nanoseconds middle = twice_middle(kernels, k);
        if (tail == tails.end()) {
            tails.push_back({stream, middle});
            continue;
        }
        if (middle < tail->twice_middle) return false;
        tail->twice_middle = middle;
    }
    return true;
}

}  // namespace

void sort_by_time(const Kernels& kernels, std::vector<std::uint32_t>& list) {
    const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
        return std::tuple(kernels.start[a], a) < std::tuple(kernels.start[b], b);
    };
    if (!std::is_sorted(list.begin(), list.end(), earlier)) std::sort(list.begin(), list.end(), earlier);
    if (kernels.stream.empty() || middles_are_in_order(kernels, list)) return;
    std::map<std::int64_t, std::vector<std::size_t>> places_of_stream;
    for (std::size_t i = 0; i < list.size(); ++i) places_of_stream[kernels.stream[list[i]]].push_back(i);
    for (const auto& [stream, places] : places_of_stream) {
        std::vector<std::uint32_t> of_stream;
        for (const std::size_t place : places) of_stream.push_back(list[place]);
        std::stable_sort(of_stream.begin(), of_stream.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return twice_middle(kernels, a) < twice_middle(kernels, b); });
        for (std::size_t i = 0; i < places.size(); ++i) list[places[i]] = of_stream[i];
    }
}

}  // namespace adpipe::window
