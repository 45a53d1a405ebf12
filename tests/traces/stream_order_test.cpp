// The order of kernels in time.

#include "stream_order.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace adpipe;

namespace {

struct Run {
    std::int64_t stream;
    Nanoseconds start;
    Nanoseconds end;
};

std::vector<std::uint32_t> order_of(const std::vector<Run>& runs, bool streams_known = true) {
    Kernels kernels;
    std::vector<std::uint32_t> list;
    for (const Run& run : runs) {
        list.push_back(static_cast<std::uint32_t>(kernels.start.size()));
        kernels.start.push_back(run.start);
        kernels.end.push_back(run.end);
        if (streams_known) kernels.stream.push_back(run.stream);
    }
    window::sort_by_time(kernels, list);
    return list;
}

using Order = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("kernels are in the order of their starts, also across streams") {
    CHECK(order_of({{7, 50, 60}, {7, 10, 20}, {8, 30, 90}}) == Order{1, 2, 0});
    CHECK(order_of({{7, 10, 20}, {7, 18, 40}}) == Order{0, 1});  // the next may begin before the last has drained
    CHECK(order_of({}).empty());
}

TEST_CASE("a short kernel inside a long one of its stream ran before it or after it, whichever is nearer") {
    CHECK(order_of({{7, 1009, 1400}, {7, 1000, 9000}}) == Order{0, 1});
    CHECK(order_of({{7, 8500, 8990}, {7, 1000, 9000}}) == Order{1, 0});
    // On other streams they run side by side.
    CHECK(order_of({{8, 1009, 1400}, {7, 1000, 9000}}) == Order{1, 0});
    CHECK(order_of({{0, 1009, 1400}, {0, 1000, 9000}}, false) == Order{1, 0});
}
