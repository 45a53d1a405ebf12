#pragma once

// Numbers and names as tables of kernels have them.

#include <adpipe/kernel_names.hpp>
#include <adpipe/model/trace.hpp>

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace adpipe::tables {

/// Microseconds with one decimal: what people's scripts read and write.
inline std::string one_decimal_us(double nanoseconds) { return fmt::format("{:.1f}", nanoseconds / 1000.0); }
inline std::string one_decimal_percent(Nanoseconds part, Nanoseconds whole) {
    return fmt::format("{:.1f}", whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0);
}

/// The name without the "void " of a template's return type.
inline std::string_view without_void(std::string_view name) { return name.substr(0, 5) == "void " ? name.substr(5) : name; }

/// What a kernel does; copies and fills of the driver are copies whatever they are called.
inline KernelCategory category_of(const KernelName& name, KernelKind kind) {
    return kind == KernelKind::kernel ? name.category : KernelCategory::copy;
}

}  // namespace adpipe::tables
