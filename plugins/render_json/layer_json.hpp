#pragma once

#include <adpipe/render/layer_view.hpp>

#include <nlohmann/json.hpp>

namespace adpipe::render_json {

/// Keys in the order in which they are put in, as people and diffs expect them.
using Json = nlohmann::ordered_json;

/// The layer JSON (docs/formats.md). Additions of adpipe have keys that begin with `x_`.
Json layer_json(const render::LayerView& view);

/// The kernels JSON of the layer; `view` must have a trace.
Json kernels_json(const render::LayerView& view, std::uint32_t layers_with_kernels);

/// Nanoseconds as microseconds with `decimals` decimals, rounded.
double microseconds(Nanoseconds duration, int decimals);

/// Text that is valid UTF-8, whatever the file held.
std::string json_text(std::string_view text);

}  // namespace adpipe::render_json
