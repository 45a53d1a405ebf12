#pragma once

#include "flow_graph.hpp"
#include "layer_names.hpp"
#include "layer_solver.hpp"
#include "layer_table.hpp"
#include "rules.hpp"

#include <adpipe/model/layers.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace adpipe::member {

/// What part of its layer a vertex is.
struct GroupLabel {
    Group group = Group::other;
    const std::string* sub_group = nullptr;  ///< owned by the rules
    bool known = false;

    friend bool operator==(const GroupLabel&, const GroupLabel&) = default;
};

/// Assigns groups: by rules where a weight or an op tells, else from the neighbours in the same layer.
class GroupFinder {
public:
    /// `layer_of`: per flow vertex, any number that is equal for vertices of one layer.
    GroupFinder(const FlowGraph& flow, const LayerTable& table, const LayerNames& names, const Rules& rules,
                const std::vector<Verdict>& verdicts);
    std::vector<GroupLabel> find();

private:
    void read_features();
    void label_by_rules();
    const std::vector<std::uint32_t>& rules_for(FlowId v);
    std::vector<std::uint32_t> match_rules(FlowId v) const;
    bool layer_allows(std::uint32_t rule, LayerIndex layer);
    bool has_any_feature(const std::vector<std::uint32_t>& features, LayerIndex layer) const;
    std::string_view weight_role(FlowId weight) const;
    void find_weights();
    void collect_weights(FlowId v, std::size_t enough);
    std::span<const FlowId> weights(FlowId v) const;
    /// Verdicts name the prologue, the layers, and after each layer a place behind it.
    std::size_t layer_slots() const { return 2 * static_cast<std::size_t>(table_.size()) + 2; }
    std::size_t layer_slot(LayerIndex layer) const { return static_cast<std::size_t>(layer - no_layer); }
    void spread();
    void find_stream();
    void look_around();
    bool adds_two_values(FlowId v) const;
    bool feeds_whole_norm(FlowId v) const;
    bool same_layer(FlowId a, FlowId b) const;
    bool same_owner(FlowId a, FlowId b) const;
    GroupLabel settle(FlowId v) const;

    const FlowGraph& flow_;
    const LayerTable& table_;
    const LayerNames& names_;
    const Rules& rules_;
    const std::vector<Verdict>& verdicts_;
    std::vector<GroupLabel> labels_;
    std::vector<std::uint8_t> several_before_;
    std::vector<std::uint8_t> several_after_;
    std::vector<std::uint8_t> on_stream_;
    std::vector<GroupLabel> before_;                                         ///< label of the nearest labelled vertices that it depends on
    std::vector<GroupLabel> after_;                                          ///< of those that depend on it
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> matches_;  ///< by op and weights: rules that match
    std::vector<std::uint32_t> weights_begin_;                               ///< per vertex, into weights_
    std::vector<FlowId> weights_;                                            ///< that an op uses: the first few
    std::vector<std::string_view> features_;                                 ///< distinct roles of weights, and ops
    std::vector<std::vector<std::uint8_t>> has_feature_;                     ///< per layer slot and feature; none at the end are left out
    struct WantedFeatures {
        std::vector<std::uint32_t> features;  ///< any of these allows the rule
        bool is_known = false;
    };
    std::vector<WantedFeatures> wanted_features_;  ///< per rule
};

}  // namespace adpipe::member
