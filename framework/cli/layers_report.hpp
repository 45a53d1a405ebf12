#pragma once

#include <adpipe/model/attribution.hpp>
#include <adpipe/model/graph_fwd.hpp>
#include <adpipe/model/layers.hpp>
#include <adpipe/model/operators.hpp>
#include <adpipe/model/segmentation.hpp>

#include <string>

namespace adpipe::cli {

/// What a segment stage found, whole.
struct FoundLayers {
    const GraphModel& graph;
    const Layers& layers;
    const Attribution& attribution;
    const Segmentation& segmentation;
    const Operators& operators;
};

/// For people: per program how many layers, how sure, the next best reading, and the kernels of each kind of layer.
void write_layers_table(const FoundLayers& found);
/// One line per kernel of the chosen steps.
void write_layers_tsv(const FoundLayers& found);
/// {"programs": […], "kernels": […]}
void write_layers_json(const FoundLayers& found);

}  // namespace adpipe::cli
