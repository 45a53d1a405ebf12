#pragma once

#include <adpipe/beside.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <exception>
#include <thread>
#include <vector>

namespace adpipe::shared {

/// Calls `work(begin, end)` for parts that together are [0, count), each on a thread of its own: as many as there are processors, none smaller than
/// `least`. Returns when all are done, and throws what the first of them threw.
template <class Work>
void in_parts(std::size_t count, std::size_t least, const Work& work) {
    const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t parts = std::clamp<std::size_t>(count / std::max<std::size_t>(least, 1), 1, processors);
    std::vector<std::exception_ptr> failures(parts);
    const auto run = [&](std::size_t part) noexcept {
        try {
            work(count * part / parts, count * (part + 1) / parts);
        } catch (...) {
            failures[part] = std::current_exception();
        }
        return part;
    };
    {
        std::deque<Beside<std::size_t>> others;
        for (std::size_t part = 1; part < parts; ++part) others.emplace_back([&run, part] { return run(part); });
        run(0);
        for (Beside<std::size_t>& other : others) other.get();
    }
    for (const std::exception_ptr& failure : failures) {
        if (failure) std::rethrow_exception(failure);
    }
}

}  // namespace adpipe::shared
