#pragma once

#include <adpipe/diagnostic.hpp>
#include <adpipe/model/trace.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace adpipe::window {

/// Ranges each of which is a step: on one thread (or, for ranges as the GPU saw them, one stream) none inside another.
class StepRanges {
public:
    static constexpr std::uint32_t none = 0xffffffffU;

    /// `chosen`: per text of the trace, whether ranges of that name are steps.
    StepRanges(const Trace& trace, const std::vector<bool>& chosen);
    bool empty() const noexcept { return by_thread_.empty(); }
    /// The step's range open at `time` on `thread`; where that thread has no such ranges, on the only thread of the process that has. `none` if
    /// there is none.
    std::uint32_t find(std::uint16_t process, std::uint64_t thread, Nanoseconds time) const;

private:
    using Rows = std::vector<std::uint32_t>;
    std::uint32_t find_in(const Rows& rows, Nanoseconds time) const;
    const Annotations& ranges_;
    std::map<std::pair<std::uint16_t, std::uint64_t>, Rows> by_thread_;  ///< by start
};

/// True if the parts of `pattern` between its '*' are in `name`, in this order.
bool name_matches(std::string_view pattern, std::string_view name);

/// Names with their numbers replaced by '#', so that ranges of a kind have one name.
std::string without_numbers(std::string_view name);

/// Per text of the trace: whether ranges of that name are steps. See find_range_steps.
std::vector<bool> choose_range_names(const Trace& trace, const std::string& pattern);

/// What to say where no range of a step launched work: the names that there are.
Diagnostic no_step_range(const Trace& trace, const std::string& pattern);

}  // namespace adpipe::window
