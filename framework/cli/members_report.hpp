#pragma once

#include <adpipe/model/graph_fwd.hpp>
#include <adpipe/model/layers.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace adpipe::cli {

/// What carries one layer to the next, and whether taking it away separates the two.
struct BoundaryProof {
    const Layer* layer;
    std::vector<VertexId> values;
    /// A vertex of a later layer that is reached although the values are taken away; none if they separate the layers.
    std::optional<VertexId> leak;
};

/// For every layer that has a next one in its stack. Sizes do not count as values.
std::vector<BoundaryProof> prove_boundaries(const GraphModel& graph, const Layers& layers);

/// One line per boundary: module, stack, layer, values, proof.
std::vector<std::vector<std::string>> boundary_rows(const GraphModel& graph, const Layers& layers);

/// Everything about the vertices of that name: where they belong and why, what they read, what reads them.
std::string explain_vertex(const GraphModel& graph, const Layers& layers, VertexId v);

}  // namespace adpipe::cli
