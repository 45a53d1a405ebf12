#pragma once

#include <adpipe/render/layer_view.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace adpipe::render_html {

struct PageInput {
    std::string pipeline;
    std::vector<render::LayerView> layers;  ///< that the page shows
    std::vector<render::LayerView> all;     ///< of the same stacks, for the strip of layers
};

/// What the page's script reads.
nlohmann::ordered_json page_data(const PageInput& input);

/// The whole page: one file that loads nothing.
std::string page(const PageInput& input);

}  // namespace adpipe::render_html
