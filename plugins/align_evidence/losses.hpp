#pragma once

#include "passes.hpp"

#include <span>

namespace adpipe::align {

/// True if both are recordings of one sequence of kernels (same names, same launch shapes) from each of which the profiler lost a few: one has
/// what the other lacks, nothing stands in place of another.
bool differ_by_losses(std::span<const LatticeKernel> a, std::span<const LatticeKernel> b);

/// True if the replays of a graph are not alike: a captured graph launches the same kernels each time, so some are missing. Not every profiler
/// says that it lost events.
bool replays_show_losses(const std::vector<Pass>& passes);

}  // namespace adpipe::align
