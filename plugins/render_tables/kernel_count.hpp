#pragma once

// All kernels of a trace, or of some steps, counted by name and by what they do.

#include <adpipe/kernel_names.hpp>
#include <adpipe/model/window.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace adpipe::render_tables {

struct KernelGroup {
    std::string name;        ///< the kernel's, without "void "; or the category's
    std::string short_name;  ///< different for different kernels; empty for a category
    std::string library;
    KernelCategory category = KernelCategory::other;
    std::uint64_t count = 0;
    Nanoseconds total = 0;
    Nanoseconds minimum = 0;
    Nanoseconds maximum = 0;
    double mean() const noexcept { return count == 0 ? 0 : static_cast<double>(total) / static_cast<double>(count); }
};

/// Times of one device: sum - overlap = busy; busy + idle = span.
struct DeviceTime {
    std::int32_t device = -1;
    Nanoseconds span = 0;  ///< of the chosen steps, from their first kernel's start to their last one's end; of the
                           ///< whole trace likewise
    Nanoseconds busy = 0;  ///< length of the union of all kernels in it
    Nanoseconds sum = 0;   ///< of durations
    Nanoseconds idle() const noexcept { return span - busy; }
    Nanoseconds overlap() const noexcept { return sum - busy; }
};

struct KernelCount {
    std::vector<KernelGroup> kernels;     ///< the most time first
    std::vector<KernelGroup> categories;  ///< the same
    std::vector<DeviceTime> devices;
    std::uint64_t count = 0;
    Nanoseconds total = 0;
    std::uint32_t steps = 0;  ///< 0: the whole trace
};

/// `whole`: every kernel of the trace, also outside of steps; else those of chosen steps.
KernelCount count_kernels(const Window& window, bool whole, const KernelNames& names);

}  // namespace adpipe::render_tables
