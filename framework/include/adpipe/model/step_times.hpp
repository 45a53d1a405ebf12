#pragma once

// What the steps of a trace took, and which of them took much longer than others of their kind.

#include <adpipe/export.hpp>
#include <adpipe/model/trace.hpp>
#include <adpipe/model/window.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace adpipe {

/// All in nanoseconds. `wall`: from the first kernel's start to the last one's end; `idle`: of that, while no kernel of the step ran.
struct StepTimes {
    Nanoseconds sum = 0;
    Nanoseconds wall = 0;
    Nanoseconds idle = 0;
};

ADPIPE_EXPORT StepTimes times_of(const Kernels& kernels, const Step& step);

/// A step that took much longer than the others of its kind, and where the time went.
struct Straggler {
    /// What holds at least half of the excess: one kernel, waiting, or neither. Only the worst few steps are looked into.
    enum class Cause : std::uint8_t { unknown, kernel, idle, spread };
    std::uint32_t step = 0;  ///< index into Window::steps
    std::size_t peers = 0;   ///< steps of its kind, itself included
    Nanoseconds wall = 0;
    Nanoseconds median = 0;  ///< of the walls of its kind
    Cause cause = Cause::unknown;
    std::uint32_t kernel = 0;   ///< index into Trace::kernels; the one that took most longer than elsewhere
    Nanoseconds took = 0;       ///< that kernel's time, or the idle time
    Nanoseconds elsewhere = 0;  ///< the median of the same in the other steps of its kind
};

/// The stragglers among the steps that were not cut off, in their order. Steps are of one kind if they ran on one device of one process in the same phase,
/// and replayed one graph, or had the same kernels with the same launch shapes. A kind of fewer than three steps has none. A step is a straggler
/// if it took half as long again as the median of its kind, or a fifth longer where that is far outside of what the others vary by.
ADPIPE_EXPORT std::vector<Straggler> find_stragglers(const Window& window);

/// "2.3 times the median of its kind: allreduce_kernel took 2.31 ms, elsewhere 46.1 µs"
ADPIPE_EXPORT std::string straggler_text(const Trace& trace, const Straggler& straggler);

}  // namespace adpipe
