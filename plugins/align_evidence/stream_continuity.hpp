#pragma once

#include "lattice.hpp"

#include <cstdint>
#include <vector>

namespace adpipe::align {

/// What the placements that are sure tell of the streams of the others: work goes on where what it needs was made, and where what needs it runs,
/// since changing the stream costs an event. Result: per op and chain a log factor, for LatticeInput::chain_preference.
/// `producers`: per op, the ops whose values it uses, which come before it.
std::vector<float> stream_continuity(const LatticeResult& result, const std::vector<std::vector<std::uint32_t>>& producers,
                                     std::size_t chains);

}  // namespace adpipe::align
