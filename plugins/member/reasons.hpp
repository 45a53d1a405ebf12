#pragma once

#include "flow_graph.hpp"
#include "layer_names.hpp"
#include "layer_solver.hpp"
#include "layer_table.hpp"

#include <adpipe/model/layers.hpp>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace adpipe::member {

/// Says in a short phrase why a vertex is where it is, in terms that a person finds in the dump.
class ReasonWriter {
public:
    ReasonWriter(const FlowGraph& flow, const LayerTable& table, const LayerNames& names, Layers& layers);

    TextId text(FlowId v, const Verdict& verdict);

private:
    std::string phrase(FlowId v, const Verdict& verdict);
    const std::string& layer_phrase(LayerIndex layer) const;
    std::string_view name_of(FlowId v) const;
    struct WeightUse {
        std::string_view module;
        LayerIndex layer = no_layer;
        bool known = false;
    };
    const WeightUse& weight_use(FlowId v);
    std::string inside_phrase(const Verdict& verdict);
    std::uint32_t reading_layers(FlowId v) const;

    const FlowGraph& flow_;
    const LayerTable& table_;
    const LayerNames& names_;
    Layers& layers_;
    std::vector<std::string> layer_phrases_;               ///< "the prologue", one per layer, "the epilogue"
    std::vector<WeightUse> weight_uses_;                   ///< per flow vertex; of those asked for so far
    std::unordered_map<LayerIndex, TextId> weight_texts_;  ///< by layer: what to say of its weights
};

}  // namespace adpipe::member
