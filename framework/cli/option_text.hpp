#pragma once

#include <adpipe/options.hpp>

#include <string>
#include <vector>

namespace adpipe::cli {

/// ["a", "b"]
std::string json_list(const std::vector<std::string>& texts);
/// An option's default as JSON (which is YAML, too).
std::string default_json(const OptionDecl& option);
/// The same for people: texts without quotes, "none" for an empty one.
std::string default_text(const OptionDecl& option);

}  // namespace adpipe::cli
