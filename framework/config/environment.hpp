#pragma once

#include <adpipe/export.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace adpipe {

/// Looks a variable up; nullptr if it is not set.
using EnvironmentLookup = std::function<const char*(const char* name)>;

/// Puts `${NAME}` and `${NAME:-default}` (for a variable that is unset or empty) into a text, in place; `$${` stands for `${`.
/// Returns what is wrong; empty if nothing is. A value is taken as it is, not looked through again.
ADPIPE_EXPORT std::string expand_environment(std::string& text, const EnvironmentLookup& lookup);

}  // namespace adpipe
