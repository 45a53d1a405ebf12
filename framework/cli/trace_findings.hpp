#pragma once

#include <adpipe/model/window.hpp>

#include <string>
#include <vector>

namespace adpipe::cli {

/// One thing that a trace holds, or lacks.
struct Finding {
    bool good;
    std::string topic;
    std::string text;
};

/// What a trace can tell of where its kernels belong.
struct TraceFindings {
    std::vector<Finding> list;
    std::vector<std::string> evidence;  ///< how kernels can be put on nodes, strongest first
    std::vector<std::string> commands;  ///< that record what is missing
};

TraceFindings examine(const Window& window);

}  // namespace adpipe::cli
