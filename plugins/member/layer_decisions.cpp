// From evidence to verdicts, from the outputs back: nothing is in a later layer than what reads it.

#include "layer_solver.hpp"

#include "glob.hpp"
#include "op_traits.hpp"

#include <algorithm>
#include <unordered_map>

namespace adpipe::member {

/// The lowest layer among what reads v: decided, or at least possible.
LayerIndex LayerSolver::first_user(FlowId v) const {
    LayerIndex lowest = none_below;
    for (const FlowId user : flow_.users(v)) {
        if (!is_op(user) || leads_nowhere(user)) continue;
        lowest = std::min(lowest, decided(user) ? verdict_[user].layer : down_[user]);
    }
    return std::min(lowest, down_[v]);
}

/// What lies between two layers of one stack, and what layers other than the first alone need.
void LayerSolver::decide_middle() {
    for (FlowId v = flow_.size(); v-- > 0;) {
        if (!undecided(v)) continue;
        const LayerIndex users = first_user(v);
        const auto all_users = flow_.users(v);
        const bool feeds_between = up_[v] == no_layer && !all_users.empty() &&
                                   std::all_of(all_users.begin(), all_users.end(), [&](FlowId u) { return between_[u] != 0; });
        if (feeds_between) {
            between_[v] = 1;
            decide(v, no_layer, Why::feeds_between);
        } else if (up_[v] == no_layer) {
            if (down_[v] != none_below && !is_first(users) && !is_first(down_[v])) decide_early(v, users);
        } else if (down_[v] != none_below && same_stack(up_[v], down_[v])) {
            decide_cut_side(v, users);
        }
    }
}

/// A vertex that depends on no layer: made once for all, or by each layer for itself?
void LayerSolver::decide_early(FlowId v, LayerIndex users) {
    if (users < 0) decide(v, no_layer, Why::feeds_shared);
    else if (loop_index_[v] != 0) decide(v, no_layer, Why::loop_index);
    else if (shared_[v] != 0) decide(v, no_layer, Why::shared);
    else if (per_layer_[v] != no_layer) decide(v, std::min(users, per_layer_[v]), Why::per_layer);
    else if (furthest_user_[v] > down_[v]) decide(v, no_layer, Why::shared);
}

/// A vertex after layer `up` and before layer `users`.
void LayerSolver::decide_cut_side(FlowId v, LayerIndex users) {
    const LayerIndex before = up_[v];
    if (users <= before) {
        decide(v, before, Why::users_in_layer);
        return;
    }
    if (shared_[v] != 0 && users > before + 1) {
        decide(v, before, Why::shared);
        return;
    }
    if (per_layer_[v] != no_layer) {
        decide(v, std::min(users, per_layer_[v]), Why::per_layer);
        return;
    }
    const bool first = like_first_[v] != no_flow;
    const bool last = like_last_[v] != no_flow;
    const LayerIndex after = first ? std::min(users, like_first_layer_[v]) : users;
    if (first && !last && tested_last_[v] != 0) {
        decide(v, after, Why::like_first_layer, like_first_[v]);
    } else if (last && !first && tested_first_[v] != 0 && inner_match_[v] == 0) {
        decide(v, before, Why::like_last_layer, like_last_[v]);
    } else if (users > before + 1 && furthest_user_[v] <= down_[v] && !first) {
        decide(v, users, Why::only_user);
    } else {
        const bool is_after = after_cut_[v] != 0 || (first && last && behind_join_[v] != 0);
        decide(v, is_after ? after : before, is_after ? Why::after_cut : Why::before_cut, cut_of_[v]);
        verdict_[v].certain = cut_of_[v] != no_flow;
        between_[v] = !first && !last && tested_first_[v] != 0 && tested_last_[v] != 0 && inner_match_[v] == 0 ? 1 : 0;
        if (between_[v] != 0) verdict_[v].why = Why::between_layers;
    }
}

/// The first and the last layer have no neighbour on one side; what was settled between the others holds for them too.
void LayerSolver::transfer_to_ends() {
    for (FlowId v = 0; v < flow_.size(); ++v) {
        if (!undecided(v) || !decided(v)) continue;
        const FlowId first = like_first_[v];
        if (first != no_flow && undecided(first) && !decided(first) && verdict_[v].layer == like_first_layer_[v]) {
            decide(first, table_.first_of_stack(like_first_layer_[v]), Why::like_other_layers, v);
        } else if (first != no_flow && verdict_[v].layer < like_first_layer_[v] && up_[first] == no_layer) {
            stream_in_[first] = 1;
        }
        const FlowId last = like_last_[v];
        if (last != no_flow && undecided(last) && !decided(last) && is_last(up_[last]) && verdict_[v].layer == up_[v]) {
            decide(last, up_[last], Why::like_other_layers, v);
            if (joins_values(last)) end_settled_.insert(up_[last]);
        }
    }
}

void LayerSolver::decide_ends() {
    for (const Pair& pair : like_other_stack_) {
        if (undecided(pair.here) && !decided(pair.here) && begins_first_[pair.there] != 0)
            decide(pair.here, down_[pair.here], Why::like_other_layers, pair.there);
    }
    find_joins();
    for (FlowId v = flow_.size(); v-- > 0;) {
        if (!undecided(v) || decided(v)) continue;
        const LayerIndex users = first_user(v);
        if (up_[v] == no_layer) decide_before(v, users);
        else decide_after(v, users);
    }
    move_dead_ends();
    // What something before the layers needs is before the layers.
    for (FlowId v = flow_.size(); v-- > 0;) {
        if (!undecided(v) || up_[v] != no_layer || verdict_[v].layer < 0) continue;
        const auto users = flow_.users(v);
        const bool feeds = std::any_of(users.begin(), users.end(), [&](FlowId user) {
            return is_op(user) && decided(user) && verdict_[user].layer == no_layer && !leads_nowhere(user);
        });
        if (feeds) decide(v, no_layer, Why::feeds_shared);
    }
}

/// An input's size is read at the module's beginning, whoever asks for it.
bool LayerSolver::is_size_of_input(FlowId v) const {
    const auto arguments = flow_.arguments(v);
    return flow_.op(v).reads_size && !arguments.empty() && flow_.kind(arguments[0]) == VertexKind::placeholder &&
           constant_[arguments[0]] == 0;
}

/// True if v is read by the only layer of its kind, such as the one attention layer among state-space layers: the next use of the
/// layer's weights follows earlier ones, and no other layer has the like. What such a layer reads was then made for all of the kind,
/// but for a last index into it.
bool LayerSolver::feeds_single_kind(FlowId v) const {
    const FlowId next = nearest_down_[v].use;
    if (next == no_flow || single_role_[next] == 0 || flow_.op(v).is_indexing || flow_.is_number(v)) return false;
    const auto sources = flow_.sources(next);
    return std::any_of(sources.begin(), sources.end(), [&](FlowId s) { return constant_[s] == 0 && up_[s] == own_[next]; });
}

void LayerSolver::decide_before(FlowId v, LayerIndex users) {
    const bool repeats = users != none_below && users >= 0 && users < count_ && table_.first_of_stack(users) != table_.last_of_stack(users);
    if (users < 0) decide(v, no_layer, Why::feeds_shared);
    else if (leads_nowhere(v)) decide(v, no_layer, Why::dead_end);
    else if (loop_index_[v] != 0) decide(v, no_layer, Why::loop_index);
    else if (shared_[v] != 0) decide(v, no_layer, Why::shared);
    else if (per_layer_[v] != no_layer) decide(v, std::min(users, per_layer_[v]), Why::per_layer);
    else if (is_size_of_input(v) || feeds_single_kind(v)) decide(v, no_layer, Why::before_layers);
    else if (repeats && furthest_user_[v] <= down_[v] && stream_in_[v] == 0 && outside_weight_[v] == 0) decide(v, users, Why::only_user);
    else decide(v, no_layer, Why::before_layers);
}

bool LayerSolver::has_live_user_up_to(FlowId v, LayerIndex layer) const {
    const auto users = flow_.users(v);
    return std::any_of(users.begin(), users.end(), [&](FlowId user) {
        // What stands before the next stack's layers is after this one's.
        return is_op(user) && live_[user] != 0 && decided(user) && verdict_[user].layer != no_layer && verdict_[user].layer <= layer;
    });
}

void LayerSolver::decide_after(FlowId v, LayerIndex users) {
    const LayerIndex layer = up_[v];
    if (down_[v] != none_below && per_layer_[v] != no_layer && shared_[v] == 0) {
        // Such as what each decoder layer makes of the encoder's output.
        decide(v, std::min(users, per_layer_[v]), Why::per_layer);
    } else if (!is_last(layer) && users > layer && users < count_ && same_stack(layer, users)) {
        const bool first = like_first_[v] != no_flow;
        const LayerIndex after = first ? std::min(users, like_first_layer_[v]) : users;
        const bool is_after = first || after_cut_[v] != 0;
        decide(v, is_after ? after : layer, is_after ? Why::after_cut : Why::before_cut, cut_of_[v]);
    } else if (down_[v] == none_below && live_[v] == 0 && leads_outside_[v] == 0) {
        decide(v, layer, Why::dead_end);
    } else if (down_[v] == none_below && !is_last(layer) && leads_outside_[v] == 0) {
        decide(v, layer, Why::side_result);
    } else if (has_live_user_up_to(v, layer)) {
        decide(v, layer, Why::users_in_layer);
    } else if (joins_later_[v] == joined_by_fused_end || (joins_later_[v] == joined_by_sum && end_settled_.count(layer) == 0)) {
        decide(v, layer, Why::joins_branch);
    } else {
        decide(v, count_ + layer, Why::after_layers);
    }
}

/// True for what depends on no layer, and is read by nothing but checks.
bool LayerSolver::leads_nowhere(FlowId v) const { return live_[v] == 0 && up_[v] == no_layer && down_[v] == none_below; }

/// What nothing reads is where the last of what it reads is: in a layer, also if that depends on no layer, or after the layers.
void LayerSolver::move_dead_ends() {
    for (FlowId v = 0; v < flow_.size(); ++v) {
        if (verdict_[v].why != Why::dead_end) continue;
        for (const FlowId s : flow_.sources(v)) {
            if (!is_op(s) || constant_[s] != 0) continue;
            if (verdict_[s].layer >= count_) decide(v, verdict_[s].layer, Why::after_layers);
            else if (leads_nowhere(v)) verdict_[v].layer = std::max(verdict_[v].layer, verdict_[s].layer);
        }
    }
}

/// Where the last layer ends unlike all others, its end is still the addition of its branch to what it had before.
void LayerSolver::find_joins() {
    joins_later_.assign(flow_.size(), 0);
    for (FlowId v = flow_.size(); v-- > 0;) {
        if (verdict_[v].why == Why::named && is_last(up_[v]) && verdict_[v].layer == up_[v] && joins_branch(v)) end_settled_.insert(up_[v]);
        if (!undecided(v) || !is_last(up_[v])) continue;
        if (joins_branch(v)) joins_later_[v] = joined_by_sum;
        for (const FlowId user : flow_.users(v)) {
            if (up_[user] == up_[v]) joins_later_[v] = std::max(joins_later_[v], joins_later_[user]);
            if (is_fused_end(user)) joins_later_[v] = joined_by_fused_end;
        }
    }
}

/// True for what joins two values and uses a weight of no layer: the add and norm behind the last layer, in one op.
bool LayerSolver::is_fused_end(FlowId v) const {
    if (outside_weight_[v] == 0 || down_[v] != none_below || !is_op(v)) return false;
    return joins_values(v);
}

/// True if v is made of several values. Several results of one op, such as a quantized value and its scales, are one.
bool LayerSolver::joins_values(FlowId v) const {
    FlowId only = no_flow;
    for (const FlowId s : flow_.sources(v)) {
        if (constant_[s] != 0 || flow_.is_number(s) || !is_op(s)) continue;
        const FlowId value = flow_.picks_result(s) && !flow_.arguments(s).empty() ? flow_.arguments(s)[0] : s;
        if (only != no_flow && value != only) return true;
        only = value;
    }
    return false;
}

bool LayerSolver::joins_branch(FlowId v) const {
    if (flow_.bare(v) != "add" && flow_.bare(v) != "add_") return false;
    std::size_t values = 0;
    bool has_settled = false;
    for (const FlowId s : flow_.sources(v)) {
        if (constant_[s] != 0 || flow_.is_number(s) || !is_op(s)) continue;
        ++values;
        has_settled = has_settled || (decided(s) && verdict_[s].layer <= up_[v]);
    }
    return values == 2 && has_settled;
}

/// Of a weight that is no layer's but has a part for each, such as one scalar a layer, the loop over the layers picks the part.
void LayerSolver::find_picked_parts() {
    for (const FlowId v : made_outside_) {
        const auto sources = flow_.sources(v);
        bool picked = std::all_of(sources.begin(), sources.end(), [&](FlowId s) { return loop_index_[s] != 0; });
        if (!picked && flow_.op(v).is_indexing) {
            const auto users = flow_.users(sources[0]);
            picked = std::any_of(users.begin(), users.end(), [&](FlowId other) {
                return flow_.op_hash(other) == flow_.op_hash(v) && flow_.literal_hash(other) != flow_.literal_hash(v) &&
                       first_user(other) != first_user(v);
            });
        }
        if (picked) loop_index_[v] = 1;
    }
}

/// Why an op that is made of weights alone, and read by a layer, is before the layers; nothing if it is not.
Why LayerSolver::why_before_layers(FlowId v) const {
    if (evidence_.of[v].kind == Evidence::Kind::outside) return Why::named;
    if (weight_layer_[v] != no_layer) return Why::nothing;
    if (loop_index_[v] != 0) return Why::loop_index;
    return stream_in_[v] != 0 ? Why::before_layers : Why::nothing;
}

/// Weights and what is made of them alone go with their users; so do the inputs of the module.
void LayerSolver::decide_constants() {
    find_per_layer_inputs();
    find_picked_parts();
    for (FlowId v = flow_.size(); v-- > 0;) {
        if (decided(v) || flow_.kind(v) == VertexKind::output) continue;
        LayerIndex lowest = none_below;
        bool several = false;
        for (const FlowId user : flow_.users(v)) {
            if (!decided(user)) continue;
            const LayerIndex layer = verdict_[user].layer;
            several = several || (lowest != none_below && layer != lowest);
            lowest = std::min(lowest, layer);
        }
        const bool owned = lowest != none_below && (!several || per_layer_inputs_.count(v) != 0);
        const bool feeds_layer = is_op(v) && lowest >= 0 && lowest < count_;
        const Why before = feeds_layer ? why_before_layers(v) : Why::nothing;
        if (before != Why::nothing) decide(v, no_layer, before);
        else if (weight_layer_[v] != no_layer) decide(v, weight_layer_[v], Why::made_of_weights);
        else if (evidence_.of[v].kind == Evidence::Kind::once) decide(v, no_layer, Why::metadata);
        else if (owned) decide(v, lowest, several ? Why::first_reader : Why::users_in_layer);
        else decide(v, no_layer, Why::shared);
    }
}

/// Inputs of which there are several for the same argument of the same op, such as one cache for each layer. Where layers share one
/// of them, it belongs to the first, which fills it.
void LayerSolver::find_per_layer_inputs() {
    std::unordered_map<std::uint64_t, FlowId> first_at;
    std::vector<std::pair<std::uint64_t, FlowId>> uses;
    std::set<std::uint64_t> places_of_several;
    for (FlowId v = 0; v < flow_.size(); ++v) {
        if (!is_op(v) || constant_[v] != 0) continue;
        const auto arguments = flow_.arguments(v);
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            if (flow_.kind(arguments[i]) != VertexKind::placeholder) continue;
            const std::uint64_t place = combine(flow_.op_hash(v), i);
            const auto [at, is_new] = first_at.try_emplace(place, arguments[i]);
            if (at->second != arguments[i]) places_of_several.insert(place);
            uses.emplace_back(place, arguments[i]);
        }
    }
    for (const auto& [place, input] : uses) {
        if (places_of_several.count(place) != 0) per_layer_inputs_.insert(input);
    }
}

/// A fused add and norm ends one layer and begins the next: it uses the next one's weight, and names the other. The sum that it returns
/// beside the normed value is the result of the layer before.
void LayerSolver::mark_fused_ends() {
    for (FlowId v = 0; v < flow_.size(); ++v) {
        const bool after_layers = is_op(v) && own_[v] == no_layer && outside_weight_[v] != 0 && verdict_[v].layer >= count_;
        const LayerIndex layer = after_layers ? verdict_[v].layer : own_[v];
        if (layer == no_layer || is_first(layer)) continue;
        const LayerIndex before = after_layers ? layer - count_ : layer - 1;
        // The branch is the layer's before; what it is added to may be older, where that layer has but one branch.
        const LayerIndex oldest = is_first(before) ? no_layer : table_.first_of_stack(before);
        std::size_t values = 0;
        bool any_from_before = false;
        bool none_from_here = true;
        for (const FlowId a : flow_.sources(v)) {
            if (constant_[a] != 0 || flow_.is_number(a) || !is_op(a)) continue;
            ++values;
            const bool from_before = verdict_[a].layer == before || verdict_[a].also == before;
            any_from_before = any_from_before || from_before;
            none_from_here = none_from_here && (from_before || (oldest <= verdict_[a].layer && verdict_[a].layer < layer));
        }
        if (values < 2 || !any_from_before || !none_from_here) continue;
        verdict_[v].also = before;
        const FlowId sum = residual_sum_of(v);
        if (sum == no_flow || verdict_[sum].layer != layer) continue;
        decide(sum, before, Why::residual_sum, v);
        verdict_[sum].also = layer;
    }
}

/// A check belongs with the cast of what it checks that follows: the two were written as one. Where the cast is gone, its name may tell;
/// else the only check of what several layers read stays with it, and others go with the next reader.
void LayerSolver::place_checks() {
    std::vector<FlowId> checks;
    for (FlowId v = 0; v < flow_.size(); ++v) {
        if (flow_.op(v).is_check && is_op(v) && !flow_.arguments(v).empty()) checks.push_back(v);
    }
    std::vector<std::uint8_t> count(checks.empty() ? 0 : flow_.size(), 0);  // of each value, up to 2
    for (const FlowId v : checks) {
        std::uint8_t& of_value = count[flow_.arguments(v)[0]];
        of_value = static_cast<std::uint8_t>(std::min(2, of_value + 1));
    }
    for (const FlowId v : checks) {
        const FlowId value = flow_.arguments(v)[0];
        const auto users = flow_.users(value);
        const auto next = std::upper_bound(users.begin(), users.end(), v);
        const bool has_cast = next != users.end() && is_cast(flow_.bare(*next));
        if (!has_cast && verdict_[v].why == Why::named) continue;
        const bool goes_with_next = has_cast || (next != users.end() && is_op(*next) && (shared_[value] == 0 || count[value] > 1));
        const FlowId with = goes_with_next ? *next : value;
        // Before a fused end, which is in two layers, the check is still in the first.
        const bool ends_layer = verdict_[with].also != no_layer && verdict_[with].also == verdict_[value].layer;
        const LayerIndex layer = verdict_[ends_layer ? value : with].layer;
        // A check of a weight comes after no layer, whoever uses the weight.
        decide(v, constant_[value] != 0 && layer >= count_ ? no_layer : layer, Why::checks, with);
    }
}

/// Of the results of a fused add and norm, the one that is only ever joined with other values: the normed one enters projections alone.
FlowId LayerSolver::residual_sum_of(FlowId v) const {
    FlowId sum = no_flow;
    for (const FlowId result : flow_.users(v)) {
        if (flow_.picked_result(result) < 0 || !is_only_joined(result)) continue;
        if (sum != no_flow) return no_flow;
        sum = result;
    }
    return sum;
}

bool LayerSolver::is_only_joined(FlowId value) const {
    const auto users = flow_.users(value);
    return !users.empty() && std::all_of(users.begin(), users.end(), [&](FlowId user) {
        if (through_[user] != user) return is_only_joined(user);
        const auto sources = flow_.sources(user);
        return std::count_if(sources.begin(), sources.end(),
                             [&](FlowId s) { return constant_[s] == 0 && !flow_.is_number(s) && is_op(s); }) >= 2;
    });
}

}  // namespace adpipe::member
