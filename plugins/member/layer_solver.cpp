#include "layer_solver.hpp"

#include "glob.hpp"
#include "op_traits.hpp"

#include <algorithm>
#include <map>

namespace adpipe::member {

LayerSolver::LayerSolver(const FlowGraph& flow, const LayerTable& table, const Evidence& evidence)
    : flow_(flow), table_(table), evidence_(evidence), count_(table.size()), verdict_(flow.size()) {}

std::vector<Verdict> LayerSolver::solve() {
    if (count_ == 0) {
        for (FlowId v = 0; v < flow_.size(); ++v) decide(v, no_layer, Why::no_layers);
        return std::move(verdict_);
    }
    find_constants();
    find_reused_weights();
    if (find_foreign_calls()) {
        extend_to_blocks();
        find_foreign_calls();
    }
    sweep_down();
    sweep_up();
    settle_certain();
    look_through_identities();
    hash_what_follows();
    collect_anchors();
    align_layers();
    sweep_results();
    spread_sharing();
    spread_tests();
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
        if (weight_layer_[v] == no_layer) made_outside_.push_back(v);
    }
}

/// Weights of a layer that several ops use: those of a block that several layers call, or of one that a layer uses twice.
void LayerSolver::find_reused_weights() {
    std::vector<std::uint8_t> uses(flow_.size(), 0);  // up to 2
    bool any = false;
    for (FlowId v = flow_.size(); v-- > 0;) {
        if (constant_[v] == 0 || weight_layer_[v] == no_layer) continue;
        const auto users = flow_.users(v);
        for (std::size_t i = 0; i < users.size() && uses[v] < 2; ++i) {
            if (i > 0 && users[i] == users[i - 1]) continue;
            if (is_op(users[i]))
                uses[v] = static_cast<std::uint8_t>(std::min(2, uses[v] + (constant_[users[i]] != 0 ? uses[users[i]] : 1)));
        }
        any = any || uses[v] > 1;
    }
    if (!any) return;
    reused_.assign(flow_.size(), 0);
    for (FlowId v = 0; v < flow_.size(); ++v) {
        if (constant_[v] == 0) continue;
        const auto sources = flow_.sources(v);
        const bool from_reused = std::any_of(sources.begin(), sources.end(), [&](FlowId s) { return reused_[s] != 0; });
        reused_[v] = uses[v] > 1 || from_reused ? 1 : 0;
    }
}

/// The layer whose weights v uses.
LayerIndex LayerSolver::claim(FlowId v, bool with_reused) const {
    LayerIndex layer = no_layer;
    if (!is_op(v) || constant_[v] != 0) return layer;
    for (const FlowId s : flow_.sources(v)) {
        if (constant_[s] != 0 && (with_reused || reused_[s] == 0)) layer = std::max(layer, weight_layer_[s]);
    }
    return layer;
}

/// A block that several layers call has its weights under the name of one of them, the first or the last. Where the weights that are
/// used once tell that a call comes after a later layer, or before an earlier one, the name is another caller's.
/// True if there is such a call.
bool LayerSolver::find_foreign_calls() {
    if (reused_.empty()) return false;
    std::vector<LayerIndex> up(flow_.size(), no_layer);
    std::vector<LayerIndex> down(flow_.size(), none_below);
    for (FlowId v = 0; v < flow_.size(); ++v) {
        up[v] = claim(v, false);
        for (const FlowId s : flow_.sources(v)) {
            if (constant_[s] == 0) up[v] = std::max(up[v], up[s]);
        }
    }
    foreign_call_.assign(flow_.size(), 0);
    bool any = false;
    for (FlowId v = flow_.size(); v-- > 0;) {
        for (const FlowId user : flow_.users(v)) down[v] = std::min(down[v], down[user]);
        const LayerIndex once = claim(v, false);
        const LayerIndex named = once == no_layer ? claim(v, true) : once;
        if (once != no_layer) down[v] = std::min(down[v], once);
        else if (named == no_layer) continue;
        const bool too_late = up[v] > named && same_stack(up[v], named);
        const bool too_early = down[v] < named && same_stack(down[v], named);
        foreign_call_[v] = once == no_layer && (too_late || too_early) ? 1 : 0;
        any = any || foreign_call_[v] != 0;
    }
    if (any) find_calls_before_owner(up);
    return any;
}

/// A call between the layers before the owner of the weights and the owner may be either's. Where another call is surely the owner's, and
/// others are surely not, each layer has one. `up`: by vertex, the highest layer before it by weights that are used once.
void LayerSolver::find_calls_before_owner(const std::vector<LayerIndex>& up) {
    std::vector<FlowId> found;
    for (FlowId v = 0; v < flow_.size(); ++v) {
        const LayerIndex owner = claim(v, true);
        if (owner == no_layer || foreign_call_[v] != 0 || up[v] >= owner) continue;
        bool others_call = false;
        bool owner_calls = false;
        for (const FlowId s : flow_.sources(v)) {
            if (reused_[s] == 0 || weight_layer_[s] != owner) continue;
            for (const FlowId user : flow_.users(s)) {
                others_call = others_call || foreign_call_[user] != 0;
                owner_calls = owner_calls || (user != v && up[user] == owner);
            }
        }
        if (others_call && owner_calls) found.push_back(v);
    }
    for (const FlowId v : found) foreign_call_[v] = 1;
}

/// A block may hold something for each of its callers, such as an adapter, which one call alone uses: what stands under the name that all
/// weights of foreign calls have in common is the block's.
void LayerSolver::extend_to_blocks() {
    std::map<LayerIndex, std::string_view> block_names;
    std::vector<std::uint8_t> in_foreign_call = foreign_call_;
    for (FlowId v = flow_.size(); v-- > 0;) {
        if (constant_[v] == 0 || reused_[v] == 0) continue;
        const auto users = flow_.users(v);
        if (std::none_of(users.begin(), users.end(), [&](FlowId user) { return in_foreign_call[user] != 0; })) continue;
        in_foreign_call[v] = 1;
        if (is_op(v)) continue;
        const std::string_view name = full_name(flow_.vertex(v));
        auto [at, is_new] = block_names.try_emplace(weight_layer_[v], name);
        std::string_view& common = at->second;
        const auto differ = std::mismatch(common.begin(), common.end(), name.begin(), name.end());
        common = common.substr(0, static_cast<std::size_t>(differ.first - common.begin()));
        common = common.substr(0, common.find_last_of("._") + 1);
    }
    for (FlowId v = 0; v < flow_.size(); ++v) {
        if (constant_[v] == 0) continue;
        const auto sources = flow_.sources(v);
        const auto block = block_names.find(weight_layer_[v]);
        const bool of_block = block != block_names.end() && !is_op(v) && full_name(flow_.vertex(v)).starts_with(block->second);
        if (of_block || std::any_of(sources.begin(), sources.end(), [&](FlowId s) { return reused_[s] != 0; })) reused_[v] = 1;
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
        if (!foreign_call_.empty() && foreign_call_[v] != 0) own = no_layer;
        own = table_.run_after(own, up_[v]);
        // Weights of an earlier layer after a later one: a block called again, or one late use. Nothing follows from it for what is near.
        out_of_order_ = out_of_order_ || (own != no_layer && up_[v] > own && is_op(v));
        const bool late = own != no_layer && up_[v] > own && same_stack(up_[v], own);
        const bool called_again = late && !reused_.empty() && claim(v, false) == no_layer;
        if (is_op(v) && !called_again) own_[v] = own;
        if (own_[v] != no_layer && own_[v] >= nearest_up_[v].layer) nearest_up_[v] = {own_[v], v};
        const LayerIndex is_in = believed_name(v) ? named_layer(v) : own_[v];
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
    const bool possible = up_[v] == no_layer || named_layer(v) >= up_[v] || !same_stack(evidence.layer, up_[v]);
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
        const bool late = own_[v] != no_layer && own_[v] < up_[v] && same_stack(own_[v], up_[v]);
        if (late) continue;
        if (own_[v] != no_layer && own_[v] <= nearest_down_[v].layer) nearest_down_[v] = {own_[v], v};
        const Evidence::Entry& evidence = evidence_.of[v];
        const bool named = evidence.kind == Evidence::Kind::layer && named_layer(v) == up_[v];
        const LayerIndex is_in = named ? up_[v] : own_[v];
        if (is_in != no_layer) down_[v] = std::min(down_[v], is_in);
    }
}

void LayerSolver::settle_named() {
    for (FlowId v = 0; v < flow_.size(); ++v) {
        const bool first = evidence_.names == NameUse::first;
        if (!is_op(v) || constant_[v] != 0 || (own_[v] != no_layer && !first)) continue;
        const Evidence::Entry& evidence = evidence_.of[v];
        if (evidence.kind == Evidence::Kind::layer) {
            const LayerIndex layer = named_layer(v);
            const bool possible = layer >= up_[v] && layer <= down_[v] && !is_inside(v);
            if (first || possible) decide(v, layer, Why::named);
        } else if (evidence.kind == Evidence::Kind::once && up_values_[v] == no_layer) {
            decide(v, no_layer, Why::metadata);
        } else if (evidence.kind == Evidence::Kind::outside) {
            const bool enters_stack = up_[v] != no_layer && down_[v] != none_below && !same_stack(up_[v], down_[v]) &&
                                      same_stack(evidence.layer, down_[v]);
            if (up_[v] == no_layer || enters_stack) decide(v, no_layer, Why::named);
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
                if (verdict_[v].about != no_flow) break;
                if (constant_[s] != 0 && table_.run_after(weight_layer_[s], own_[v]) == own_[v]) verdict_[v].about = s;
            }
        } else if (up_[v] != no_layer && up_[v] >= down_[v]) {
            decide(v, down_[v], Why::inside, nearest_up_[v].use);
            verdict_[v].about_end = nearest_down_[v].use;
        } else if (is_op(v) && flow_.picks_result(v) && !flow_.arguments(v).empty() && decided(flow_.arguments(v)[0])) {
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
