#pragma once

#include <adpipe/export.hpp>

#include <string>
#include <string_view>

namespace adpipe {

/// `text` made safe for a terminal and for one line: control characters and invalid UTF-8 as \n, \t, \x1b, …
std::string display_text(std::string_view text);

/// Length of the valid UTF-8 sequence at the start of `text`, or 0 if there is none.
std::size_t utf8_length(std::string_view text) noexcept;

}  // namespace adpipe
