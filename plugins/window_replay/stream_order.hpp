#pragma once

#include <adpipe/model/trace.hpp>

#include <cstdint>
#include <vector>

namespace adpipe::window {

/// Sorts kernels (indices into Trace::kernels) by start, but those of one stream in the order in which they can have run: a stream runs one
/// after the other, and some recordings shift a start by up to a microsecond, which puts a short kernel behind or before the long one that it
/// then lies in. The middles keep their order.
void sort_by_time(const Kernels& kernels, std::vector<std::uint32_t>& list);

}  // namespace adpipe::window
