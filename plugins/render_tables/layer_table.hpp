#pragma once

#include <adpipe/model/operators.hpp>
#include <adpipe/render/layer_profile.hpp>

#include <string>
#include <vector>

namespace adpipe::render_tables {

struct LayerTableInput {
    const GraphModel& graph;
    const Layers& layers;
    const Attribution& attribution;
    const KernelNames& names;
    const Operators* operators = nullptr;  ///< of the trace; nullptr: none are known
    bool from_attention = false;           ///< position 0 is the attention kernel, not what begins the layer
    std::string name = "layer";            ///< of the files
};

struct TableFile {
    std::string name;
    std::string content;
};

/// A CSV file per batch size and kind of layer.
std::vector<TableFile> layer_csv_files(const LayerTableInput& input, const render::LayerProfiles& profiles);

/// One page: a table per batch size and kind, one that sets batch sizes side by side, and how the times add up.
std::string layer_markdown(const LayerTableInput& input, const render::LayerProfiles& profiles);

}  // namespace adpipe::render_tables
