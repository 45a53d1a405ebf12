#pragma once

// What renderers know of ops by their names: which only change a tensor's shape, what to call them. Pure functions, any thread.

#include <adpipe/export.hpp>
#include <adpipe/model/graph_fwd.hpp>

#include <string>
#include <string_view>

namespace adpipe::render {

/// The op without library and overload: "aten.add.Tensor" → "add", "auto_deploy.flashinfer_rope" → "flashinfer_rope",
/// "torch.nn.functional.linear" → "linear", "_insert_fused_gemm.<locals>.split_output" → "split_output".
ADPIPE_EXPORT std::string_view bare_op(std::string_view op) noexcept;

/// True for ops whose result holds the values of their first argument, in another shape or as a part: view, getitem, split, slice,
/// a cast to the type that the value has already, the markers of auxiliary streams.
ADPIPE_EXPORT bool is_shape_only(const GraphModel& graph, VertexId v);

/// The markers that AutoDeploy puts around work on an auxiliary stream; identities on the value.
ADPIPE_EXPORT bool begins_auxiliary_stream(std::string_view op) noexcept;
ADPIPE_EXPORT bool ends_auxiliary_stream(std::string_view op) noexcept;

/// True for matrix products, norms, convolutions and look-ups: ops that people call by the weight that they use.
ADPIPE_EXPORT bool is_named_by_weight(std::string_view op) noexcept;

/// What a weight is to its layer: "model_layers_5_self_attn_q_a_proj_weight" → "q_a_proj" in layer 5; the name without "_weight" where
/// it does not hold the layer's number.
ADPIPE_EXPORT std::string weight_role(std::string_view weight, std::int32_t layer);

/// "torch.bfloat16" → "bf16", "(torch.float32, torch.int32)" → "(f32, i32)"; unknown ones without "torch.".
ADPIPE_EXPORT std::string short_dtype(std::string_view dtype);

}  // namespace adpipe::render
