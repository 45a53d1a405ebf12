#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace adpipe::cli {

/// "render" of "render.dot".
std::string_view kind_of(std::string_view stage);

/// Sorts stage names by kind, in the order of a pipeline, then by name.
void sort_by_kind(std::vector<std::string>& stages);

}  // namespace adpipe::cli
