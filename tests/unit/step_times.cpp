// What steps took, and which of them are stragglers.

#include <adpipe/model/step_times.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace adpipe;

namespace {

/// Steps of the same four kernels, 100 ns each and 10 ns apart.
struct MadeSteps {
    std::shared_ptr<Trace> trace = std::make_shared<Trace>();
    Window window;

    explicit MadeSteps(std::size_t steps, std::uint64_t graph = 5) {
        window.trace = trace;
        for (std::size_t s = 0; s < steps; ++s) {
            Step step;
            step.number = static_cast<std::uint32_t>(s);
            step.replay = graph != no_id;
            step.graph = graph;
            step.start = static_cast<Nanoseconds>(s) * 100000;
            for (int k = 0; k < 4; ++k) {
                step.kernels.push_back(static_cast<std::uint32_t>(trace->kernels.size()));
                trace->kernels.start.push_back(step.start + 110 * k);
                trace->kernels.end.push_back(step.start + 110 * k + 100);
                trace->kernels.name.push_back(trace->string_id("kernel_" + std::to_string(k)));
            }
            step.end = trace->kernels.end.back();
            window.steps.push_back(step);
        }
    }

    /// Kernel `k` of a step takes so much longer, or begins so much later.
    void delay(std::size_t s, std::size_t k, Nanoseconds longer, Nanoseconds later) {
        Kernels& kernels = trace->kernels;
        for (std::size_t i = k; i < 4; ++i) {
            kernels.start[4 * s + i] += later + (i > k ? longer : 0);
            kernels.end[4 * s + i] += later + longer;
        }
        window.steps[s].end = kernels.end[4 * s + 3];
    }
};

}  // namespace

TEST_CASE("the times of a step: overlap counts once in idle time") {
    MadeSteps made(1);
    const StepTimes plain = times_of(made.trace->kernels, made.window.steps[0]);
    CHECK(plain.sum == 400);
    CHECK(plain.wall == 430);
    CHECK(plain.idle == 30);
    made.trace->kernels.end[0] = 300;  // over the second and into the third
    const StepTimes overlapping = times_of(made.trace->kernels, made.window.steps[0]);
    CHECK(overlapping.sum == 600);
    CHECK(overlapping.idle == 10);
}

TEST_CASE("a step that one kernel held up is named with the kernel") {
    MadeSteps made(7);
    made.delay(3, 2, 900, 0);
    const auto found = find_stragglers(made.window);
    REQUIRE(found.size() == 1);
    CHECK(found[0].step == 3);
    CHECK(found[0].peers == 7);
    CHECK(found[0].wall == 1330);
    CHECK(found[0].median == 430);
    CHECK(found[0].cause == Straggler::Cause::kernel);
    CHECK(found[0].kernel == 14);
    CHECK(found[0].took == 1000);
    CHECK(found[0].elsewhere == 100);
    CHECK(straggler_text(*made.trace, found[0]) == "3.0 times the median of its kind: kernel_2 took 1.00 µs, elsewhere 100 ns");
}

TEST_CASE("a step that waited, and one in which everything was slow") {
    MadeSteps made(7);
    made.delay(1, 2, 0, 500);
    for (std::size_t k = 0; k < 4; ++k) made.delay(5, k, 100, 0);
    const auto found = find_stragglers(made.window);
    REQUIRE(found.size() == 2);
    CHECK(found[0].cause == Straggler::Cause::idle);
    CHECK(found[0].took == 530);
    CHECK(found[0].elsewhere == 30);
    CHECK(found[1].step == 5);
    CHECK(found[1].cause == Straggler::Cause::spread);
}

TEST_CASE("steps are compared with their kind only") {
    SUBCASE("two are too few") {
        MadeSteps made(2);
        made.delay(1, 0, 5000, 0);
        CHECK(find_stragglers(made.window).empty());
    }
    SUBCASE("other kernels") {
        MadeSteps made(5, no_id);
        made.delay(2, 0, 5000, 0);
        CHECK(find_stragglers(made.window).size() == 1);
        made.trace->kernels.name[11] = made.trace->string_id("longer prompt");
        CHECK(find_stragglers(made.window).empty());
    }
    SUBCASE("another graph, another device, another phase") {
        for (int what = 0; what < 3; ++what) {
            MadeSteps made(5);
            made.delay(2, 0, 5000, 0);
            if (what == 0) made.window.steps[2].graph = 6;
            if (what == 1) made.window.steps[2].device = 3;
            if (what == 2) made.window.steps[2].phase = Phase::prefill;
            CHECK(find_stragglers(made.window).empty());
        }
    }
    SUBCASE("steps that were cut off") {
        MadeSteps made(5);
        made.delay(2, 0, 5000, 0);
        made.window.steps[2].complete = false;
        made.window.steps[2].missing = "lost by the profiler: 1 of 5 kernels";
        CHECK(find_stragglers(made.window).size() == 1);
        made.window.steps[2].missing = "cut off at the end of the recording: 1 of 5 kernels";
        CHECK(find_stragglers(made.window).empty());
    }
}

TEST_CASE("what varies by nature is no straggler, what stands out of it is") {
    MadeSteps made(20);
    for (std::size_t s = 0; s < 20; ++s) made.delay(s, 1, static_cast<Nanoseconds>(s * 7), 0);  // decode grows slower with the context
    CHECK(find_stragglers(made.window).empty());
    MadeSteps calm(20);
    calm.delay(9, 1, 120, 0);  // a quarter more, where all others take the same
    const auto found = find_stragglers(calm.window);
    REQUIRE(found.size() == 1);
    CHECK(found[0].step == 9);
}

TEST_CASE("only the worst few steps are looked into") {
    MadeSteps made(40);
    for (std::size_t s = 0; s < 12; ++s) made.delay(s * 3, 0, 1000 + static_cast<Nanoseconds>(s), 0);
    const auto found = find_stragglers(made.window);
    REQUIRE(found.size() == 12);
    CHECK(found.front().cause == Straggler::Cause::unknown);
    CHECK(found.back().cause == Straggler::Cause::kernel);
    CHECK(straggler_text(*made.trace, found.front()) == "3.3 times the median of its kind");
}
