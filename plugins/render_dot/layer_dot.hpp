#pragma once

#include <adpipe/render/folding.hpp>

#include <string>
#include <string_view>

namespace adpipe::render_dot {

/// Files that a picture leads to, in the same directory; empty: none.
struct Links {
    std::string before;  ///< the picture of the layer before
    std::string after;
};

/// The picture of a layer in the DOT language. The same input gives the same text.
std::string layer_dot(const render::LayerView& view, render::Fold fold, std::string_view pipeline, const Links& links = {});
/// `, URL="file"`, or nothing.
std::string link_attribute(std::string_view file);

}  // namespace adpipe::render_dot
