#pragma once

#include "graph_text.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace adpipe::parse {

/// A line without what TORCH_LOGS writes before it: "V0606 12:00:00.123 1 torch/_dynamo/output_graph.py:1353] [0/0] [__graph_code] ".
std::string_view without_log_prefix(std::string_view line) noexcept;

/// The classes of a text that GraphModule.print_readable() or str(ExportedProgram) wrote. `names` keeps the names, which the text does not
/// hold as they are: "(root)" for an only class, "(root).true_graph_0" for a class inside it.
std::vector<ModuleText> fx_modules(std::string_view text, std::vector<std::string>& names);

}  // namespace adpipe::parse
