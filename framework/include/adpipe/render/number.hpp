#pragma once

// Numbers as people read them: three significant digits, a unit, thousands apart. Pure functions, any thread.

#include <adpipe/export.hpp>
#include <adpipe/model/trace.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace adpipe::render {

/// 1.234 → "1.23", 123.4 → "123", 12345 → "12 300": three significant digits, thousands apart by a narrow no-break space.
/// "-" if `value` is not finite.
ADPIPE_EXPORT std::string three_digits(double value);
/// With the unit that fits: "850 ns", "18.9 µs", "1.23 ms", "2.50 s".
ADPIPE_EXPORT std::string duration_text(Nanoseconds duration);
/// In microseconds, without the unit: for columns whose header names it.
ADPIPE_EXPORT std::string microseconds_text(Nanoseconds duration);
/// "9.6 %", "100 %", "<0.1 %"; "-" if `whole` is not positive.
ADPIPE_EXPORT std::string percent_text(Nanoseconds part, Nanoseconds whole);
/// All digits, thousands apart: "18 514".
ADPIPE_EXPORT std::string count_text(std::uint64_t count);
/// "1 kernel", "18 514 kernels".
ADPIPE_EXPORT std::string count_text(std::uint64_t count, std::string_view singular);

}  // namespace adpipe::render
