#pragma once

#include "layer_file.hpp"

#include <adpipe/model/graph_fwd.hpp>
#include <adpipe/model/layers.hpp>
#include <adpipe/model/metrics.hpp>

#include <memory>

namespace adpipe::layer_json {

struct LayerGraph {
    std::shared_ptr<const GraphModel> graph;
    std::shared_ptr<const Layers> layers;
    std::shared_ptr<const Metrics> metrics;  ///< kernel time and number of kernels per node; no columns if the file has no times
};

/// Makes the graph of one layer. Throws Error if a name is there twice, or is nowhere, or nodes wait for each other in a circle.
LayerGraph make_graph(const std::filesystem::path& path, const LayerFile& file);

}  // namespace adpipe::layer_json
