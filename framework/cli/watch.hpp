#pragma once

#include <filesystem>
#include <functional>
#include <vector>

namespace adpipe::cli {

/// Runs `once`, and again whenever one of `inputs` (files, or directories with files) has changed and been left alone for a moment. Ends
/// with the status of a run that was stopped or could not start; Ctrl-C between two runs ends the program.
int watch(const std::vector<std::filesystem::path>& inputs, const std::function<int()>& once);

}  // namespace adpipe::cli
