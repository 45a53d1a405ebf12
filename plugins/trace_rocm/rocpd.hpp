#pragma once

#include <adpipe/model/trace.hpp>

#include <filesystem>

namespace adpipe::rocm {

/// Reads a rocpd database (rocprofv3 --output-format rocpd, schema 3) through its views. What limits the trace is in Trace::limits.
/// Throws Error (ADP-ROC-…, ADP-SQL-…, ADP-IO-…).
Trace read_rocpd(const std::filesystem::path& file);

}  // namespace adpipe::rocm
