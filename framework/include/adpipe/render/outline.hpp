#pragma once

#include <adpipe/export.hpp>
#include <adpipe/render/folding.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace adpipe::render {

enum class BlockKind : std::uint8_t { attention, feed_forward, mamba, gated_delta_net };

/// A part of a layer that pictures frame and tables head: attention, its Q branch, the router.
struct Block {
    std::string title;  ///< "Multi-head latent attention", "Q"
    BlockKind kind = BlockKind::attention;
    int parent = -1;              ///< index into Outline::blocks; -1: outermost
    std::vector<VertexId> nodes;  ///< that are in no inner block
};

/// How an engineer would draw the layer: the residual stream as the spine, branches beside it.
struct ADPIPE_EXPORT Outline {
    std::vector<VertexId> spine;       ///< shown nodes through which the residual stream runs, from the layer's input to its output
    std::vector<Block> blocks;         ///< outer ones before their inner ones; in the order of their first node
    std::map<VertexId, int> block_of;  ///< shown nodes that are in a block
    /// Shown nodes that run on an auxiliary stream → its number; -1 where the graph alone says so.
    std::map<VertexId, std::int64_t> auxiliary;

    int block(VertexId v) const noexcept;  ///< or -1
    bool on_spine(VertexId v) const noexcept;
};
ADPIPE_EXPORT Outline outline_layer(const LayerView& view, const FoldedLayer& folded);

/// Shown nodes in reading order: block after block, each under its head. `head` is "Attention › Q", "Norm", "Residual", "Other".
struct Section {
    std::string head;
    int block = -1;
    std::vector<VertexId> nodes;
};
ADPIPE_EXPORT std::vector<Section> sections_of(const LayerView& view, const FoldedLayer& folded, const Outline& outline);

}  // namespace adpipe::render
