#pragma once

#include "kernel_map.hpp"

namespace adpipe::kernel_map {

/// True if a rule knows both names as the same kind of kernel, or they are the same function.
bool same_kind(const Cell& a, const Cell& b);

Verdict compare(const Cell& left, const Cell& right);

/// What differs between two kernels of the same work: library, parameters of the names, launches.
std::vector<std::string> differences(const Cell& left, const Cell& right);

/// "2048×1×1"; "2048×1×1 and 2 more" where launches differ; "-" where not recorded.
std::string grid_text(const Cell& cell);
std::string block_text(const Cell& cell);

}  // namespace adpipe::kernel_map
