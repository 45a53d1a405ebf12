#pragma once

#include <filesystem>
#include <string>

namespace adpipe::cli {

/// The stage that reads this trace, told from what the file holds, not from its name. Throws Error if it cannot be read, or is none.
std::string trace_stage(const std::filesystem::path& file);

}  // namespace adpipe::cli
