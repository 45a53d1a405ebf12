#pragma once

#include <adpipe/render/folding.hpp>
#include <adpipe/render/layer_view.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace adpipe::render_model_explorer {

using Json = nlohmann::ordered_json;

/// Id of a layer's graph: "layer_5".
std::string graph_id(const render::LayerView& view);

/// One graph of Model Explorer's graph collection.
Json graph_json(const render::LayerView& view, render::Fold fold);

/// Node data, each {ending of its file's name, data by graph id}: time, share; evidence, confidence and category of the node's longest
/// kernel. Empty without a trace.
std::vector<std::pair<std::string, Json>> node_data(const std::vector<render::LayerView>& views);

}  // namespace adpipe::render_model_explorer
