#include "layer_solver.hpp"

#include "glob.hpp"
#include "op_traits.hpp"

#include <algorithm>

namespace adpipe::member {

LayerSolver::LayerSolver(const FlowGraph& flow, const LayerTable& table, const Evidence& evidence)
    : flow_(flow), table_(table), evidence_(evidence), count_(table.size()), verdict_(flow.size()) {}

std::vector<Verdict> LayerSolver::solve() {
    if (count_ == 0) {
        for (FlowId v = 0; v < flow_.size(); ++v) decide(v, no_layer, Why::no_layers);
        return std::move(verdict_);
    }
    find_constants();
    sweep_down();
    sweep_up();
    settle_certain();
    look_through_identities();
    hash_what_follows();
    collect_anchors();
    align_layers();
    sweep_results();
    spread_sharing();
    find_cuts();
    decide_middle();
    transfer_to_ends();
    decide_ends();
    decide_constants();
    mark_fused_ends();
    place_checks();
    for (FlowId v = 0; v < flow_.size(); ++v) verdict_[v].near = down_[v] != none_below ? down_[v] : up_[v];
    return std::move(verdict_);
}

void LayerSolver::decide(FlowId v, LayerIndex layer, Why why, FlowId about) {
    verdict_[v].layer = layer;
    verdict_[v].why = why;
    verdict_[v].about = about;
}

/// Weights, and what is computed from weights alone ("1 + weight" of a norm), are no part of the flow of values.
void LayerSolver::find_constants() {
    constant_.assign(flow_.size(), 0);
    weight_layer_.assign(flow_.size(), no_layer);
    role_.assign(flow_.size(), 0);
    for (FlowId v = 0; v < flow_.size(); ++v) {
        if (table_.is_weight(v) || flow_.kind(v) == VertexKind::weight) {
            constant_[v] = 1;
            weight_layer_[v] = table_.of_weight(v);
            role_[v] = table_.role(v);
            continue;
        }
        const auto sources = flow_.sources(v);
        if (!is_op(v) || sources.empty()) continue;
        if (!std::all_of(sources.begin(), sources.end(), [&](FlowId s) { return constant_[s] != 0; })) continue;
        constant_[v] = 1;
        role_[v] = flow_.op_hash(v);
        for (const FlowId s : sources) {
            role_[v] = combine(role_[v], role_[s]);
            const LayerIndex layer = weight_layer_[s];
            if (layer != no_layer && (weight_layer_[v] == no_layer || layer < weight_layer_[v])) weight_layer_[v] = layer;
        }
    }
}

/// Labels from the inputs on: the layer whose weights each op uses, and the highest such layer that each vertex depends on.
void LayerSolver::sweep_down() {
    own_.assign(flow_.size(), no_layer);
    up_.assign(flow_.size(), no_layer);
    up_values_.assign(flow_.size(), no_layer);
    nearest_up_.assign(flow_.size(), {no_layer, no_flow});
    outside_weight_.assign(flow_.size(), 0);
    for (FlowId v = 0; v < flow_.size(); ++v) {
        if (constant_[v] != 0) {
            up_[v] = weight_layer_[v];
            continue;
        }
        LayerIndex own = no_layer;
        for (const FlowId s : flow_.sources(v)) {
            if (constant_[s] != 0) {
                own = std::max(own, weight_layer_[s]);
                if (weight_layer_[s] == no_layer) outside_weight_[v] = 1;
                continue;
            }
            up_[v] = std::max(up_[v], up_[s]);
            if (nearest_up_[s].layer > nearest_up_[v].layer) nearest_up_[v] = nearest_up_[s];
            if (!flow_.is_number(s)) up_values_[v] = std::max(up_values_[v], up_values_[s]);
        }
        // A block's weights used again by a later layer tell nothing about that layer.
        const bool called_again = own != no_layer && up_[v] > own && same_stack(up_[v], own);
        if (is_op(v) && !called_again) own_[v] = own;
        if (own_[v] != no_layer && own_[v] >= nearest_up_[v].layer) nearest_up_[v] = {own_[v], v};
        const LayerIndex is_in = believed_name(v) ? evidence_.of[v].layer : own_[v];
        if (is_in == no_layer) continue;
        if (is_in != own_[v]) own_[v] = no_layer;
        up_[v] = std::max(up_[v], is_in);
        up_values_[v] = std::max(up_values_[v], is_in);
    }
}

/// True if v's name tells a layer, and nothing of a later layer comes before it.
bool LayerSolver::believed_name(FlowId v) {
    const Evidence::Entry& evidence = evidence_.of[v];
    if (evidence.kind != Evidence::Kind::layer) return false;
    const bool possible = up_[v] == no_layer || evidence.layer >= up_[v] || !same_stack(evidence.layer, up_[v]);
    if (!possible) stale_names_.push_back(v);
    return possible;
}

/// Labels from the outputs back: the lowest layer that depends on each vertex.
void LayerSolver::sweep_up() {
    down_.assign(flow_.size(), none_below);
    nearest_down_.assign(flow_.size(), {none_below, no_flow});
    for (FlowId v = flow_.size(); v-- > 0;) {
        for (const FlowId user : flow_.users(v)) {
            down_[v] = std::min(down_[v], down_[user]);
            if (nearest_down_[user].layer < nearest_down_[v].layer) nearest_down_[v] = nearest_down_[user];
        }
        if (own_[v] != no_layer && own_[v] <= nearest_down_[v].layer) nearest_down_[v] = {own_[v], v};
        const Evidence::Entry& evidence = evidence_.of[v];
        const bool named = evidence.kind == Evidence::Kind::layer && evidence.layer == up_[v];
        const LayerIndex is_in = named ? evidence.layer : own_[v];
        if (is_in != no_layer) down_[v] = std::min(down_[v], is_in);
    }
}

void LayerSolver::settle_named() {
    for (FlowId v = 0; v < flow_.size(); ++v) {
        const bool first = evidence_.names == NameUse::first;
        if (!is_op(v) || constant_[v] != 0 || (own_[v] != no_layer && !first)) continue;
        const Evidence::Entry& evidence = evidence_.of[v];
        if (evidence.kind == Evidence::Kind::layer) {
            const bool possible = evidence.layer >= up_[v] && evidence.layer <= down_[v] && !is_inside(v);
            if (first || possible) decide(v, evidence.layer, Why::named);
        } else if (evidence.kind == Evidence::Kind::once && up_values_[v] == no_layer) {
            decide(v, no_layer, Why::metadata);
        } else if (evidence.kind == Evidence::Kind::outside) {
            if (up_[v] == no_layer) decide(v, no_layer, Why::named);
            else if (down_[v] == none_below) decide(v, count_ + up_[v], Why::named);
        }
    }
}

/// What the sweeps decide alone. Everything else is open.
void LayerSolver::settle_certain() {
    settle_named();
    open_.assign(flow_.size(), 0);
    for (FlowId v = 0; v < flow_.size(); ++v) {
        if (flow_.kind(v) == VertexKind::output || constant_[v] != 0 || decided(v)) continue;
        if (own_[v] != no_layer) {
            decide(v, own_[v], Why::uses_weight);
            for (const FlowId s : flow_.sources(v)) {
                if (constant_[s] != 0 && weight_layer_[s] == own_[v] && verdict_[v].about == no_flow) verdict_[v].about = s;
            }
        } else if (up_[v] != no_layer && up_[v] >= down_[v]) {
            decide(v, down_[v], Why::inside, nearest_up_[v].use);
            verdict_[v].about_end = nearest_down_[v].use;
        } else if (is_op(v) && flow_.op(v).is_getitem && !flow_.arguments(v).empty() && decided(flow_.arguments(v)[0])) {
            decide(v, verdict_[flow_.arguments(v)[0]].layer, Why::result_of, flow_.arguments(v)[0]);
        } else if (is_op(v)) {
            open_[v] = 1;
        }
    }
}

/// What becomes of each value: who reads it in the end.
void LayerSolver::sweep_results() {
    live_.assign(flow_.size(), 0);
    leads_outside_ = outside_weight_;
    furthest_user_.assign(flow_.size(), no_layer);
    for (FlowId v = flow_.size(); v-- > 0;) {
        if (flow_.kind(v) == VertexKind::output) live_[v] = 1;
        for (const FlowId user : flow_.users(v)) {
            if (live_[user] != 0) live_[v] = 1;
            if (leads_outside_[user] != 0 && down_[user] == none_below) leads_outside_[v] = 1;
            // Through what holds no value of a layer, though its size may come from one.
            const bool passes = undecided(user) || (up_values_[user] == no_layer && own_[user] == no_layer);
            const LayerIndex reads = passes ? furthest_user_[user] : decided(user) ? verdict_[user].layer : no_layer;
            furthest_user_[v] = std::max(furthest_user_[v], reads);
        }
    }
}

}  // namespace adpipe::member
