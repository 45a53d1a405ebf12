#pragma once

#include "graph_text.hpp"

#include <string_view>
#include <vector>

namespace adpipe::parse {

/// The GraphModules of an AutoDeploy dump. Looks at header lines only.
std::vector<ModuleText> autodeploy_modules(std::string_view text);

/// Reads the lines before the first module. Reports lines that are none, and a count of modules that is not true: an error if the part
/// that is missing may hold what the user wants, else a warning.
void check_autodeploy_header(std::string_view text, const std::vector<ModuleText>& modules, const std::string& wanted, Findings& findings);

/// True for a line of nothing but '='.
bool is_separator(std::string_view line) noexcept;

}  // namespace adpipe::parse
