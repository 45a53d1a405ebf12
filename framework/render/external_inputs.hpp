#pragma once

#include <adpipe/render/layer_view.hpp>

namespace adpipe::render {

/// What `v`, a vertex outside of the layer of `view`, is to it. `view` must have boundary_in and boundary_out.
ExternalInput describe_input(const LayerView& view, VertexId v);

/// True for a buffer that people see as an input, not as a weight of the layer: the tables of rotary embeddings.
bool is_shared_table(const Vertex& vertex);

}  // namespace adpipe::render
