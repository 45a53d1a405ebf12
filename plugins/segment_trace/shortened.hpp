#pragma once

// What tells nothing of the layers and hides them. Loops of small kernels, such as the iterations of a normalisation
// that is written out, repeat more than the layers do, and each is as long as all the rest of its layer. Whether a
// library adds up the parts of a matrix product in a kernel of its own depends on sizes alone.

#include "layering.hpp"

namespace segment {

/// A sequence in which of every loop two rounds are left, and of every matrix product its first kernel.
struct Shortened {
    Symbols symbols;
    std::vector<std::uint32_t> origin;  ///< per symbol, and at last for the end: its position in the whole sequence
    /// The same kernels, with those that were left out behind them, in the whole sequence.
    Span whole(Span span) const { return {origin[span.begin], origin[span.end]}; }
};

/// Loops are of kernels that only compute element by element, reduce or copy: a layer multiplies matrices, mixes tokens
/// or normalises.
Shortened shortened(const SymbolTable& table, SymbolSpan sequence);

}  // namespace segment
