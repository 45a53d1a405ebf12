#pragma once

#include <adpipe/model/trace.hpp>

#include <filesystem>

namespace adpipe::rocm {

/// Reads `<name>_kernel_trace.csv` of rocprofv3, and what lies beside it under the same name: `_memory_copy_trace.csv`,
/// `_hip_api_trace.csv`, `_marker_api_trace.csv`. What limits the trace is in Trace::limits. Throws Error (ADP-ROC-…, ADP-IO-…).
Trace read_rocprof_csv(const std::filesystem::path& file);

}  // namespace adpipe::rocm
