#pragma once

#include <adpipe/export.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace adpipe {

/// A decimal integer such as 0, 42 or -7. Strict: no sign '+', no leading zero (which YAML 1.1 reads as octal), no hexadecimal, no blanks.
ADPIPE_EXPORT std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;
/// A finite decimal number such as 5, -0.25 or 1e-3.
ADPIPE_EXPORT std::optional<double> parse_real(std::string_view text) noexcept;

}  // namespace adpipe
