#pragma once

// Where a layer begins. The anchor of a cut lies somewhere inside of a layer; the beginning is chosen such that the
// first and the last layer of a pass are complete too, and, where that leaves a choice, such that a norm begins the
// layer, or what follows the residual sum.

#include "layering.hpp"

#include <vector>

namespace segment {

struct Boundaries {
    std::vector<Span> spans;
    std::vector<std::uint32_t> stack;
    double preference = 0;  ///< how well the beginning keeps to the convention
    Symbol first = 0;       ///< what begins the commonest kind of layer
};

/// `cut.spans` are the pieces between anchors, without gaps.
Boundaries place_boundaries(const Measure& measure, const Layering& cut);

}  // namespace segment
