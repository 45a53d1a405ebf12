// Work on another processor while the caller goes on.
#include <adpipe/beside.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <string>

using adpipe::Beside;

TEST_CASE("work beside returns what it made, as often as one asks") {
    for (const bool is_long : {true, false}) {
        Beside<std::string> work([] { return std::string{"made"}; }, is_long);
        CHECK(work.get() == "made");
        CHECK(work.get() == "made");
    }
}

TEST_CASE("work that is not worth a thread is done when it is asked for") {
    int times = 0;
    Beside<int> work([&] { return ++times; }, false);
    CHECK(times == 0);
    CHECK(work.get() == 1);
    CHECK(work.get() == 1);
}

TEST_CASE("what the work throws comes out where its result is asked for") {
    for (const bool is_long : {true, false}) {
        Beside<int> work([]() -> int { throw std::runtime_error("it went wrong"); }, is_long);
        for (int i = 0; i < 2; ++i) CHECK_THROWS_WITH_AS(work.get(), "it went wrong", std::runtime_error);
    }
}

TEST_CASE("nothing runs on after the end of its Beside") {
    std::atomic<int> begun{0};
    std::atomic<int> ended{0};
    for (int i = 0; i < 20; ++i) {
        const Beside<int> never_asked_for([&] {
            ++begun;
            return ++ended;
        });
    }
    CHECK(begun == ended);
}
