#pragma once

#include "flow_graph.hpp"
#include "layer_table.hpp"

#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace adpipe::member {

/// Why a vertex is where it is.
enum class Why : std::uint8_t {
    nothing,
    uses_weight,        ///< `about`: the weight
    made_of_weights,    ///< computed from weights alone; `about`: the weight
    named,              ///< its name, or the module path in the text, says so
    inside,             ///< depends on the layer and the layer depends on it; `about`, `about_end`: uses of weights before and after
    shared,             ///< read by several layers; `count`
    feeds_shared,       ///< needed for something that is shared
    loop_index,         ///< picks the layer's part with the layer's number: done by the loop over the layers
    per_layer,          ///< every layer has its own, at the same place
    only_user,          ///< read by this layer alone
    like_first_layer,   ///< the first layer, which has no layer before it, has the same there
    like_last_layer,    ///< the last layer, which has no layer after it, has the same there
    like_other_layers,  ///< settled in other layers, which look alike
    before_cut,         ///< not after the value that carries the layer to the next; `about`: that value
    after_cut,          ///< after that value
    between_layers,     ///< added between two layers, in neither's pattern
    feeds_between,      ///< needed only for what lies between two layers
    first_reader,       ///< an input of which each layer has one, but which later layers read too
    joins_branch,       ///< adds the last layer's branch to what the layer had before
    users_in_layer,     ///< all that reads it is in this layer
    result_of,          ///< one of several results of `about`
    residual_sum,       ///< the sum that a fused add and norm returns beside the normed value
    checks,             ///< only checks a value, for `about`, which uses it next
    dead_end,           ///< nothing reads it; made by this layer
    side_result,        ///< leaves the model from this layer
    before_layers,      ///< no layer comes before it
    after_layers,       ///< no layer comes after it
    no_layers,          ///< the module has no numbered layers
    metadata,           ///< an op that prepares what all layers read
    brackets,           ///< an auxiliary-stream marker
};

struct Verdict {
    LayerIndex layer = no_layer;  ///< no_layer: before the layers; >= number of layers: after layer (layer - number of layers)
    LayerIndex also = no_layer;   ///< another layer that it serves
    Why why = Why::nothing;
    bool certain = true;
    FlowId about = no_flow;
    FlowId about_end = no_flow;
    std::uint32_t count = 0;
    LayerIndex near = no_layer;  ///< a layer that depends on it, or that it depends on: tells the stack of what is in no layer
};

/// What module paths in names count for.
enum class NameUse : std::uint8_t {
    ignore,
    use,    ///< where the dataflow leaves a choice
    first,  ///< before the dataflow
};

/// What is known of single vertices beside the dataflow.
struct Evidence {
    enum class Kind : std::uint8_t { none, layer, outside, once };
    struct Entry {
        Kind kind = Kind::none;
        LayerIndex layer = no_layer;  ///< of `outside`: the first layer of the stack that the name stands beside
    };
    std::vector<Entry> of;  ///< per flow vertex
    NameUse names = NameUse::use;
};

/// Decides the layer of every vertex from the weights that it, what it depends on, and what depends on it use, and from the model's
/// own repetition. Linear in the graph but for the number of kinds of layers. docs/decisions/0005-layer-membership.md explains the method.
class LayerSolver {
public:
    LayerSolver(const FlowGraph& flow, const LayerTable& table, const Evidence& evidence);
    std::vector<Verdict> solve();

    /// Names that contradict the dataflow, and were not believed.
    const std::vector<FlowId>& stale_names() const { return stale_names_; }
    /// True if a weight of one layer was used after those of a later one: LayerTable::arrange may find a better order.
    bool out_of_order() const { return out_of_order_; }

private:
    static constexpr LayerIndex none_below = 1'000'000;  ///< `down` of what no layer depends on

    struct Anchor {
        std::uint64_t role;
        FlowId vertex;
    };
    /// Which of the uses of weights in a layer: those before which, or after which, the layer has no other.
    enum class Side : std::uint8_t { beginning, end };
    struct Pair {
        FlowId here;
        FlowId there;
    };

    // Sweeps: layer_solver.cpp
    void find_constants();
    void find_reused_weights();
    bool find_foreign_calls();
    void find_calls_before_owner(const std::vector<LayerIndex>& up);
    void extend_to_blocks();
    LayerIndex claim(FlowId v, bool with_reused) const;
    void sweep_down();
    void sweep_up();
    bool believed_name(FlowId v);
    /// The layer that v's name tells, in the run that v can be in.
    LayerIndex named_layer(FlowId v) const { return table_.run_after(evidence_.of[v].layer, up_[v]); }
    /// Weights of one layer both before and after it.
    bool is_inside(FlowId v) const { return nearest_up_[v].layer != no_layer && nearest_up_[v].layer == nearest_down_[v].layer; }
    void settle_certain();
    void settle_named();
    void sweep_results();
    // Repetition: layer_alignment.cpp
    void look_through_identities();
    void hash_what_follows();
    void collect_anchors();
    void align_layers();
    void mark_single_role(LayerIndex layer, std::uint64_t role);
    void align(LayerIndex here, LayerIndex there);
    void walk(std::vector<Pair> queue, LayerIndex here, LayerIndex there);
    bool is_at(Side side, FlowId use) const;
    std::vector<Pair> pair_outermost(Side side, LayerIndex here, LayerIndex there) const;
    void align_single_layers();
    void step_to_arguments(Pair pair, LayerIndex here, LayerIndex there, std::vector<Pair>& queue);
    bool reads_unwritten(FlowId v, FlowId argument) const;
    bool brings_earlier_layer(FlowId v, LayerIndex here) const;
    void step_to_users(Pair pair, LayerIndex here, LayerIndex there, std::vector<Pair>& queue);
    struct Use {
        std::uint64_t key;  ///< op, position, literals
        FlowId user;
    };
    std::uint32_t uses_around(FlowId v, LayerIndex layer);
    void collect_uses(FlowId v, LayerIndex layer, std::size_t begin);
    std::vector<Pair> pair_up(std::vector<FlowId> ours, std::vector<FlowId> theirs) const;
    bool alike(FlowId a, FlowId b, LayerIndex here, LayerIndex there);
    bool differs_by_layer_number(FlowId a, FlowId b, LayerIndex here, LayerIndex there) const;
    void learn_from(Pair pair, LayerIndex here, LayerIndex there);
    void spread_tests();
    void spread_sharing();
    // Cuts: layer_cuts.cpp
    void find_cuts();
    bool leaves_directly(FlowId v, LayerIndex layer) const;
    void find_cut(LayerIndex layer, const std::vector<FlowId>& region);
    void split_region(const std::vector<FlowId>& region, FlowId cut);
    // Decisions: layer_decisions.cpp
    void decide_middle();
    void decide_early(FlowId v, LayerIndex users);
    void decide_cut_side(FlowId v, LayerIndex users);
    void transfer_to_ends();
    void decide_ends();
    void find_joins();
    bool leads_nowhere(FlowId v) const;
    void move_dead_ends();
    bool joins_branch(FlowId v) const;
    bool is_fused_end(FlowId v) const;
    bool joins_values(FlowId v) const;
    bool is_size_of_input(FlowId v) const;
    bool feeds_single_kind(FlowId v) const;
    void decide_before(FlowId v, LayerIndex users);
    bool has_live_user_up_to(FlowId v, LayerIndex layer) const;
    void decide_after(FlowId v, LayerIndex users);
    void decide_constants();
    void find_per_layer_inputs();
    void find_picked_parts();
    Why why_before_layers(FlowId v) const;
    void mark_fused_ends();
    void place_checks();
    FlowId residual_sum_of(FlowId v) const;
    bool is_only_joined(FlowId value) const;

    bool is_op(FlowId v) const { return flow_.kind(v) == VertexKind::op; }
    bool undecided(FlowId v) const { return open_[v] != 0; }
    /// Computed from weights of no layer alone, such as the queries that enter a stack.
    bool is_made_outside(FlowId v) const { return constant_[v] != 0 && is_op(v) && weight_layer_[v] == no_layer; }
    bool decided(FlowId v) const { return verdict_[v].why != Why::nothing; }
    void decide(FlowId v, LayerIndex layer, Why why, FlowId about = no_flow);
    LayerIndex first_user(FlowId v) const;
    bool is_first(LayerIndex layer) const { return layer >= 0 && layer < count_ && table_.first_of_stack(layer) == layer; }
    bool is_last(LayerIndex layer) const { return layer >= 0 && layer < count_ && table_.last_of_stack(layer) == layer; }
    bool same_stack(LayerIndex a, LayerIndex b) const { return table_.same_stack(a, b); }

    const FlowGraph& flow_;
    const LayerTable& table_;
    const Evidence& evidence_;
    const LayerIndex count_;
    std::vector<Verdict> verdict_;
    std::vector<FlowId> stale_names_;
    bool out_of_order_ = false;

    // Per vertex.
    std::vector<std::uint8_t> constant_;      ///< made of weights alone
    std::vector<FlowId> made_outside_;        ///< ops that are made of weights of no layer alone
    std::vector<LayerIndex> weight_layer_;    ///< of a constant: the layer of the weights that it is made of
    std::vector<std::uint64_t> role_;         ///< of a constant: hash of how it is made
    std::vector<std::uint8_t> reused_;        ///< of a constant: several ops use the weights that it is made of; empty if none is
    std::vector<std::uint8_t> foreign_call_;  ///< of an op: another layer than the weight's calls it; empty if no weight is reused
    std::vector<LayerIndex> own_;             ///< of an op: the layer whose weights it uses
    std::vector<LayerIndex> up_;              ///< highest layer among the weights that it or its ancestors use
    std::vector<LayerIndex> down_;            ///< lowest layer among those that it or its descendants use
    std::vector<LayerIndex> up_values_;       ///< as up_, but not through sizes
    struct KnownUses {
        LayerIndex layer = no_layer;
        std::uint32_t begin = 0;  ///< into uses_
        std::uint32_t end = 0;
    };
    std::span<const Use> uses_in(const KnownUses& known) const { return {uses_.data() + known.begin, uses_.data() + known.end}; }
    std::vector<std::uint32_t> known_uses_of_;  ///< index into known_uses_, or 0
    std::vector<KnownUses> known_uses_;
    std::vector<Use> uses_;
    struct WeightUse {
        LayerIndex layer;
        FlowId use;
    };
    std::vector<WeightUse> nearest_up_;  ///< as up_, without names: the layer, and an op that uses its weights
    std::vector<WeightUse> nearest_down_;
    std::vector<std::uint8_t> open_;            ///< an op that the sweeps leave open
    std::vector<LayerIndex> furthest_user_;     ///< highest layer that reads it, through open vertices
    std::vector<std::uint8_t> outside_weight_;  ///< uses a weight of no layer
    std::vector<std::uint8_t> leads_outside_;   ///< no layer depends on it, but a use of a weight of no layer does
    std::vector<std::uint8_t> live_;            ///< the output depends on it

    // Repetition.
    std::vector<FlowId> through_;  ///< what an identity op stands for; of others, themselves
    static constexpr std::size_t hash_depth = 3;
    std::array<std::vector<std::uint64_t>, hash_depth> follows_;  ///< hash of what becomes of the value in so many steps
    std::vector<std::vector<Anchor>> anchors_;                    ///< per layer, uses of weights by role
    std::vector<std::uint32_t> seen_here_;                        ///< per vertex: last alignment that reached it
    std::uint32_t alignment_ = 0;
    std::vector<std::uint8_t> single_role_;  ///< uses a weight whose like no other layer of the stack has
    std::vector<std::uint8_t> shared_;
    std::vector<std::uint8_t> loop_index_;
    std::vector<std::uint8_t> stream_in_;     ///< stands in the first layer where others have the layer before
    std::vector<std::uint8_t> tested_first_;  ///< was compared with the first layer
    std::vector<std::uint8_t> tested_last_;
    std::vector<std::uint8_t> inner_match_;  ///< looks like the inside of the first layer: says nothing about the border
    std::vector<std::uint8_t> between_;
    std::vector<FlowId> like_first_;            ///< its counterpart in the first layer
    std::vector<LayerIndex> like_first_layer_;  ///< the layer it was reached from
    std::vector<FlowId> like_last_;
    std::vector<std::uint8_t> begins_first_;  ///< other layers begin with the like, so that it begins the first layer of its stack
    std::vector<Pair> like_other_stack_;  ///< in the only layer of a stack, what looks like the beginning of another stack's first layer
    std::vector<LayerIndex> per_layer_;   ///< the layer whose own it is, or no_layer
    std::vector<Pair> equals_;            ///< per-layer counterparts

    std::set<LayerIndex> end_settled_;  ///< last layers whose last sum looks like that of others
    static constexpr std::uint8_t joined_by_sum = 1;
    static constexpr std::uint8_t joined_by_fused_end = 2;
    std::vector<std::uint8_t> joins_later_;  ///< adds a branch to the stream, or leads to what does
    std::set<FlowId> per_layer_inputs_;      ///< inputs of which each layer has one

    // Cuts.
    std::vector<std::uint8_t> after_cut_;
    std::vector<std::uint8_t> behind_join_;  ///< all that the layer brings to it comes through one open value
    std::vector<FlowId> cut_of_;             ///< per vertex of a region: the value that carries the layer to the next
};

}  // namespace adpipe::member
