#pragma once

// The texts that every renderer shows for the same thing. Raw text, not escaped. Pure functions, any thread.

#include <adpipe/export.hpp>
#include <adpipe/render/folding.hpp>
#include <adpipe/render/layer_view.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace adpipe::render {

struct NodeLabel {
    std::string title;   ///< "q_a_proj" for a projection, "noaux_tc_op" for another op
    std::string detail;  ///< the op where the title is a weight's role, else the weights' roles; may be empty
    std::string type;    ///< "2x4x7168 bf16", "(8x8, 8x8) (f32, i32)"; empty if the text prints none
};
ADPIPE_EXPORT NodeLabel label_node(const LayerView& view, VertexId v);

/// "2x4x7168 bf16"; empty if shape and dtype are unknown.
ADPIPE_EXPORT std::string type_text(const Vertex& vertex);

/// "deepseek_decode · layer 5", with the stack where the model has several.
ADPIPE_EXPORT std::string layer_title(const LayerView& view, std::string_view pipeline);
/// "decode · batch size 8 · median of 6 replays"; empty without a trace.
ADPIPE_EXPORT std::string steps_line(const LayerView& view);
/// "sum 197 µs · wall 143 µs"; empty without a trace.
ADPIPE_EXPORT std::string time_line(const LayerView& view);
/// "34 kernels on 2 streams, all on nodes" or "… 3.20 µs (1.6 %) on no node"; empty without a trace.
ADPIPE_EXPORT std::string coverage_line(const LayerView& view);
/// "092_compile_compile_model.txt, monolithic.model · decode.sqlite (simulated)".
ADPIPE_EXPORT std::string source_line(const LayerView& view);

/// Where the layer's output goes: "layer 6", "behind the last layer".
ADPIPE_EXPORT std::string destination_text(const LayerView& view);

/// Inputs that pictures show as one: all batch metadata, all sizes; a named value on its own.
struct InputGroup {
    InputKind kind = InputKind::other;
    std::string label;
    std::vector<VertexId> vertices;
};
/// In the order of InputKind, then of first use. At most `limit` groups of unnamed values; further ones become one group.
ADPIPE_EXPORT std::vector<InputGroup> group_inputs(const std::vector<ExternalInput>& inputs, std::size_t limit = 6);

}  // namespace adpipe::render
