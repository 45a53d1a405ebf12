#pragma once

#include "lattice.hpp"

#include <span>
#include <vector>

namespace adpipe::align {

/// Calls that are alike (one signature) launch the same kernels. Where several of them follow each other, and all that is open between them is how
/// a row of kernels is shared out, the row is divided evenly if it is the same kernels over and over, once for each call.
/// `chains`: the kernels that `result` is about.
void share_out_among_twins(LatticeResult& result, std::span<const std::vector<LatticeKernel>> chains, std::span<const LatticeOp> ops);

}  // namespace adpipe::align
