#pragma once

#include <adpipe/render/folding.hpp>

#include <string>
#include <string_view>

namespace adpipe::render_dot {

/// The picture of a layer in the DOT language. The same input gives the same text.
std::string layer_dot(const render::LayerView& view, render::Fold fold, std::string_view pipeline);

}  // namespace adpipe::render_dot
