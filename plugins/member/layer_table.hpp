#pragma once

#include "flow_graph.hpp"
#include "layer_names.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe::member {

/// The path that a weight has in the model, else the name that the text gives it.
std::string_view full_name(const Vertex& vertex);

/// Position of a layer in the order of computation over all stacks: encoder layers before decoder layers.
using LayerIndex = std::int32_t;
inline constexpr LayerIndex no_layer = -1;

/// What the name of a weight tells, or of an input that is named like one: parts are given weights as inputs.
struct WeightName {
    static constexpr std::uint32_t no_container = 0xffffffffU;

    std::uint32_t position;                  ///< in the order that was read
    std::uint32_t container = no_container;  ///< of its layer
    LayerId layer = 0;
    std::uint64_t role = 0;  ///< hash of the name without the layer

    bool in_layer() const { return container != no_container; }
    bool same_layer(const WeightName& other) const { return container == other.container && layer == other.layer; }
};

/// Adds the names of the weights among the vertices to `into`, in that order. `endings`: patterns of names of weights that are passed in.
void read_weight_names(const GraphModel& graph, std::span<const VertexId> order, LayerNames& names, const std::vector<std::string>& endings,
                       std::vector<WeightName>& into);

/// Which layer each weight belongs to, and the layers in the order of computation.
class LayerTable {
public:
    /// `weights`: by position in the flow. `containers`: how many stacks of layers their names tell apart.
    LayerTable(const FlowGraph& flow, const std::vector<WeightName>& weights, std::size_t containers);

    struct Entry {
        std::uint32_t container;
        LayerId number;
    };
    LayerIndex size() const { return static_cast<LayerIndex>(layers_.size()); }
    const Entry& layer(LayerIndex index) const { return layers_[static_cast<std::size_t>(index)]; }
    /// The layer's first run.
    LayerIndex find(std::uint32_t container, LayerId number) const;
    /// The container's layer of the lowest number.
    LayerIndex first_of_container(std::uint32_t container) const { return of_container_[container].front().index; }
    LayerIndex first_of_stack(LayerIndex index) const { return first_[static_cast<std::size_t>(index)]; }
    LayerIndex last_of_stack(LayerIndex index) const { return last_[static_cast<std::size_t>(index)]; }
    bool same_stack(LayerIndex a, LayerIndex b) const { return first_of_stack(a) == first_of_stack(b); }
    /// Puts the layers in the order in which they run, where that is not the order of their numbers: a layer wholly before another comes
    /// first, stacks that take turns are one, and a layer that runs several times, because the model goes through its layers again,
    /// has one position for each run. Gives the new position of each old one's first run; empty if nothing changed. Cost: layers times
    /// edges.
    std::vector<LayerIndex> arrange(const FlowGraph& flow);
    /// The layer's first run that is not before `after`; the last one where all are. `layer`: a first run.
    LayerIndex run_after(LayerIndex layer, LayerIndex after) const {
        if (next_run_.empty() || layer >= after || layer == no_layer || !same_stack(layer, after)) return layer;
        while (layer < after && next_run_[static_cast<std::size_t>(layer)] != no_layer) layer = next_run_[static_cast<std::size_t>(layer)];
        return layer;
    }
    /// True for two runs of one layer.
    bool same_layer(LayerIndex a, LayerIndex b) const {
        return layer(a).container == layer(b).container && layer(a).number == layer(b).number;
    }
    /// True if layers of the container run several times.
    bool runs_again(std::uint32_t container) const;
    /// Stacks in the order of computation.
    std::size_t stack_count() const { return stack_count_; }

    /// For a weight, or an input of a part that is a weight: its layer, or no_layer.
    LayerIndex of_weight(FlowId v) const { return of_weight_[v]; }
    /// True for weights and for inputs of a part that are weights.
    bool is_weight(FlowId v) const { return is_weight_[v] != 0; }
    /// For a weight: hash of its name without the layer; equal for the same weight of all layers.
    std::uint64_t role(FlowId v) const { return role_[v]; }

private:
    std::vector<std::uint32_t> order_stacks(const FlowGraph& flow, const std::vector<WeightName>& weights, std::size_t containers) const;

    void place(const std::vector<std::vector<LayerIndex>>& stacks);

    std::vector<Entry> layers_;
    struct Numbered {
        LayerId number;
        LayerIndex index;  ///< of the first run
    };
    std::vector<std::vector<Numbered>> of_container_;  ///< by number
    std::vector<LayerIndex> first_;
    std::vector<LayerIndex> last_;
    std::vector<LayerIndex> next_run_;  ///< of the same layer, or no_layer; empty if each layer runs once
    std::size_t stack_count_ = 0;
    std::vector<LayerIndex> of_weight_;
    std::vector<std::uint8_t> is_weight_;
    std::vector<std::uint64_t> role_;
};

}  // namespace adpipe::member
