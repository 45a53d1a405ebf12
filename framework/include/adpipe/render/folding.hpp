#pragma once

#include <adpipe/export.hpp>
#include <adpipe/render/layer_view.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace adpipe::render {

enum class Fold : std::uint8_t { none, shape };
/// "none" or "shape".
ADPIPE_EXPORT Fold fold_named(std::string_view name);

/// True if an op before `reader` has written over `value` in place: what `reader` reads under that name comes from that op, by a
/// memory edge.
ADPIPE_EXPORT bool is_overwritten(const GraphModel& graph, VertexId value, VertexId reader) noexcept;

/// An edge between shown vertices.
struct FoldedEdge {
    VertexId from = no_vertex;
    VertexId to = no_vertex;
    EdgeKind kind = EdgeKind::data;
    std::vector<VertexId> through;  ///< folded ops on the way, in the order of the dataflow
};

/// A layer with its shape-only ops folded into edges. An op on which the trace shows kernels is never folded.
struct FoldedLayer {
    std::vector<VertexId> nodes;        ///< shown, in the order of the text; borrowed ones among them
    std::vector<ExternalInput> inputs;  ///< that a shown node reads
    std::vector<FoldedEdge> edges;      ///< by `to`, then `from`
    std::vector<FoldedEdge> outputs;    ///< from the nodes that carry the layer's boundary; `to` is the boundary's vertex
};
ADPIPE_EXPORT FoldedLayer fold_layer(const LayerView& view, Fold fold);

}  // namespace adpipe::render
