#pragma once

#include <adpipe/render/layer_view.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace adpipe::render_dot {

/// Several layers in one picture: a box for each kind of layer, with how often it comes and what its parts take. The same input gives
/// the same text. A box leads to the picture of the first layer of its kind: `files` has one for each of `layers`, or is empty.
std::string model_dot(const std::vector<render::LayerView>& layers, std::string_view pipeline, const std::vector<std::string>& files = {});

}  // namespace adpipe::render_dot
