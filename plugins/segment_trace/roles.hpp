#pragma once

// Which kernels of a sequence mix tokens and which feed forward: what a layer has one of each of. A name alone does not
// tell: a sigmoid scales a mixer's output as well as an expert's, and a softmax is of attention or of a router.

#include "symbols.hpp"

#include <vector>

namespace segment {

enum class Role : std::uint8_t { none, mixes, feeds };

/// One per kernel of the sequence.
std::vector<Role> roles_of(const SymbolTable& table, SymbolSpan sequence);

}  // namespace segment
