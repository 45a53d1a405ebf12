// What sure placements tell of the streams of others.

#include "stream_continuity.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace adpipe::align;

namespace {

LatticeResult::Run run_on(std::uint32_t chain, std::uint32_t op, float probability = 1) { return {op, chain, 0, 1, probability}; }

}  // namespace

TEST_CASE("an op is expected on the stream of what it needs and of what needs it") {
    // 0 → 1 → 2 → 4 and 0 → 3 → 4: 1 and 2 are known to run beside, 0 and 4 on the main stream.
    const std::vector<std::vector<std::uint32_t>> producers{{}, {0}, {1}, {0}, {2, 3}, {4}};
    LatticeResult result;
    result.runs = {run_on(0, 0), run_on(1, 1), run_on(0, 4), run_on(1, 5, 0.5F)};
    const std::vector<float> preference = stream_continuity(result, producers, 2);
    REQUIRE(preference.size() == 12);
    const auto of = [&](std::size_t op, std::size_t chain) { return preference[op * 2 + chain]; };
    CHECK(of(2, 0) == of(2, 1));  // between the two streams
    CHECK(of(2, 0) > 0);
    CHECK(of(3, 0) == 2 * of(2, 0));  // from the main stream back to it
    CHECK(of(3, 1) == 0);
    CHECK(of(5, 0) == of(2, 0));  // an unsure placement counts for nothing
}

TEST_CASE("what comes from two streams prefers neither, and what launches nothing is looked through") {
    const std::vector<std::vector<std::uint32_t>> producers{{}, {}, {0, 1}, {0}, {3}, {4}};
    LatticeResult result;
    result.runs = {run_on(0, 0), run_on(1, 1), run_on(0, 5)};
    const std::vector<float> preference = stream_continuity(result, producers, 2);
    CHECK(preference[2 * 2] == 0);
    CHECK(preference[2 * 2 + 1] == 0);
    CHECK(preference[4 * 2] > 0);  // 0 → 3 → 4 → 5, of 3 and 4 nothing is known
    CHECK(preference[4 * 2 + 1] == 0);
}
