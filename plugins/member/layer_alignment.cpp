// The model's own repetition: what stands at the same place in two layers, found by walking both at once from uses of the same weights.

#include "layer_solver.hpp"

#include "glob.hpp"
#include "op_traits.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <span>

namespace adpipe::member {

void LayerSolver::look_through_identities() {
    through_.resize(flow_.size());
    for (FlowId v = 0; v < flow_.size(); ++v) {
        const auto arguments = flow_.arguments(v);
        const bool identity = is_op(v) && flow_.op(v).is_identity && arguments.size() == 1 && constant_[v] == 0;
        through_[v] = identity ? through_[arguments[0]] : v;
    }
}

/// Tells twins apart (two views of one value, one for the router and one for the experts) by what becomes of them, whatever the order of
/// lines: sums over users, one step further each round.
void LayerSolver::hash_what_follows() {
    for (auto& round : follows_) round.assign(flow_.size(), 0);
    for (FlowId v = flow_.size(); v-- > 0;) {
        if (constant_[v] != 0) continue;  // weights are never twins; a mixture of experts would look at a thousand of them a thousand times
        for (const FlowId user : flow_.users(v)) {
            if (!is_op(user)) continue;
            const auto arguments = flow_.arguments(user);
            const auto at = std::find(arguments.begin(), arguments.end(), v);
            const auto position = static_cast<std::uint64_t>(at - arguments.begin());
            std::uint64_t role = flow_.op_hash(user);
            for (const FlowId a : arguments) {
                if (constant_[a] != 0) role += role_[a];
            }
            for (std::size_t depth = 0; depth < hash_depth; ++depth) {
                const std::uint64_t further = depth == 0 ? 0 : follows_[depth - 1][user];
                const bool identity = through_[user] != user;
                follows_[depth][v] += identity ? follows_[depth][user] : combine(combine(role, position), further);
            }
        }
    }
}

/// Pairs vertices of two layers that look alike from where they are used: those that have one partner by what follows them, from the
/// furthest look to the nearest; and what is left over if it is one of each.
std::vector<LayerSolver::Pair> LayerSolver::pair_up(std::vector<FlowId> ours, std::vector<FlowId> theirs) const {
    std::vector<Pair> pairs;
    if (ours.size() != theirs.size()) return pairs;
    for (std::size_t depth = hash_depth; depth-- > 0 && ours.size() > 1;) {
        const auto& hash = follows_[depth];
        const auto count = [&](const std::vector<FlowId>& of, std::uint64_t value) {
            return std::count_if(of.begin(), of.end(), [&](FlowId v) { return hash[v] == value; });
        };
        for (std::size_t i = ours.size(); i-- > 0;) {
            const std::uint64_t value = hash[ours[i]];
            if (count(ours, value) != 1 || count(theirs, value) != 1) continue;
            const auto partner = std::find_if(theirs.begin(), theirs.end(), [&](FlowId v) { return hash[v] == value; });
            pairs.push_back({ours[i], *partner});
            ours.erase(ours.begin() + static_cast<std::ptrdiff_t>(i));
            theirs.erase(partner);
        }
    }
    if (ours.size() == 1) pairs.push_back({ours[0], theirs[0]});
    // Twins that nothing tells apart may be paired as they come: what is said of one holds for the other.
    const auto& hash = follows_[hash_depth - 1];
    const bool all_alike = std::all_of(ours.begin(), ours.end(), [&](FlowId v) { return hash[v] == hash[ours[0]]; }) &&
                           std::all_of(theirs.begin(), theirs.end(), [&](FlowId v) { return hash[v] == hash[theirs[0]]; });
    for (std::size_t i = 0; ours.size() > 1 && all_alike && i < ours.size(); ++i) pairs.push_back({ours[i], theirs[i]});
    return pairs;
}

void LayerSolver::collect_anchors() {
    anchors_.resize(static_cast<std::size_t>(count_));
    for (FlowId v = 0; v < flow_.size(); ++v) {
        if (own_[v] == no_layer) continue;
        std::uint64_t role = flow_.op_hash(v);
        for (const FlowId a : flow_.arguments(v)) {
            if (constant_[a] != 0) role = combine(role, role_[a]);
        }
        anchors_[static_cast<std::size_t>(own_[v])].push_back({role, v});
    }
    for (auto& anchors : anchors_) {
        std::stable_sort(anchors.begin(), anchors.end(), [](const Anchor& a, const Anchor& b) { return a.role < b.role; });
    }
}

/// Compares every layer with the first and the last of its stack, and with the next that uses weights in one of its roles.
void LayerSolver::align_layers() {
    known_uses_of_.assign(flow_.size(), 0);
    known_uses_.resize(1);
    seen_here_.assign(flow_.size(), 0);
    shared_.assign(flow_.size(), 0);
    loop_index_.assign(flow_.size(), 0);
    stream_in_.assign(flow_.size(), 0);
    tested_first_.assign(flow_.size(), 0);
    tested_last_.assign(flow_.size(), 0);
    inner_match_.assign(flow_.size(), 0);
    between_.assign(flow_.size(), 0);
    like_first_.assign(flow_.size(), no_flow);
    like_first_layer_.assign(flow_.size(), no_layer);
    like_last_.assign(flow_.size(), no_flow);
    begins_first_.assign(flow_.size(), 0);
    per_layer_.assign(flow_.size(), no_layer);
    single_role_.assign(flow_.size(), 0);

    // By role: the layers that have it, so that each can look up the next one (the one before, for the last).
    struct RoleInLayer {
        std::uint64_t role;
        LayerIndex first_of_stack;
        LayerIndex layer;
    };
    std::vector<RoleInLayer> roles;
    for (LayerIndex layer = 0; layer < count_; ++layer) {
        for (const Anchor& anchor : anchors_[static_cast<std::size_t>(layer)]) {
            const RoleInLayer entry{anchor.role, table_.first_of_stack(layer), layer};
            const bool repeated = !roles.empty() && roles.back().role == entry.role && roles.back().layer == layer;
            if (!repeated) roles.push_back(entry);
        }
    }
    std::stable_sort(roles.begin(), roles.end(), [](const RoleInLayer& a, const RoleInLayer& b) {
        return a.role != b.role ? a.role < b.role : a.first_of_stack < b.first_of_stack;
    });
    std::vector<std::set<LayerIndex>> partners(static_cast<std::size_t>(count_));
    for (std::size_t i = 0; i < roles.size(); ++i) {
        const auto same = [&](std::size_t j) {
            return roles[j].role == roles[i].role && roles[j].first_of_stack == roles[i].first_of_stack;
        };
        auto& of_layer = partners[static_cast<std::size_t>(roles[i].layer)];
        if (i + 1 < roles.size() && same(i + 1)) of_layer.insert(roles[i + 1].layer);
        else if (i > 0 && same(i - 1)) of_layer.insert(roles[i - 1].layer);
        else mark_single_role(roles[i].layer, roles[i].role);
    }
    for (LayerIndex layer = 0; layer < count_; ++layer) {
        auto& of_layer = partners[static_cast<std::size_t>(layer)];
        of_layer.insert(table_.first_of_stack(layer));
        // Between two runs through the layers may stand what comes after the last run, too: the layer's own last run does not tell them apart.
        const LayerIndex last = table_.last_of_stack(layer);
        if (!table_.same_layer(layer, last)) of_layer.insert(last);
        of_layer.erase(layer);
        for (const LayerIndex other : of_layer) align(layer, other);
    }
    align_single_layers();
}

void LayerSolver::mark_single_role(LayerIndex layer, std::uint64_t role) {
    const auto& anchors = anchors_[static_cast<std::size_t>(layer)];
    auto at = std::lower_bound(anchors.begin(), anchors.end(), role, [](const Anchor& a, std::uint64_t r) { return a.role < r; });
    for (; at != anchors.end() && at->role == role; ++at) single_role_[at->vertex] = 1;
}

/// Walks both layers from the uses of weights that they have in common, along arguments and, where there is one choice, along uses.
void LayerSolver::align(LayerIndex here, LayerIndex there) {
    ++alignment_;
    std::vector<Pair> queue;
    const auto& ours = anchors_[static_cast<std::size_t>(here)];
    const auto& theirs = anchors_[static_cast<std::size_t>(there)];
    for (std::size_t i = 0, j = 0; i < ours.size() && j < theirs.size();) {
        if (ours[i].role != theirs[j].role) {
            ours[i].role < theirs[j].role ? ++i : ++j;
            continue;
        }
        std::size_t i_end = i;
        std::size_t j_end = j;
        while (i_end < ours.size() && ours[i_end].role == ours[i].role) ++i_end;
        while (j_end < theirs.size() && theirs[j_end].role == theirs[j].role) ++j_end;
        if (i_end - i == 1 && j_end - j == 1) {
            queue.push_back({ours[i].vertex, theirs[j].vertex});
        } else {
            std::vector<FlowId> here_uses;
            std::vector<FlowId> there_uses;
            for (std::size_t k = i; k < i_end; ++k) here_uses.push_back(ours[k].vertex);
            for (std::size_t k = j; k < j_end; ++k) there_uses.push_back(theirs[k].vertex);
            for (const Pair& pair : pair_up(std::move(here_uses), std::move(there_uses))) queue.push_back(pair);
        }
        i = i_end;
        j = j_end;
    }
    for (const Side side : {Side::beginning, Side::end}) {
        const LayerIndex outermost = side == Side::beginning ? table_.first_of_stack(here) : table_.last_of_stack(here);
        if (there != outermost) continue;
        const bool has_pair = std::any_of(queue.begin(), queue.end(), [&](const Pair& pair) { return is_at(side, pair.here); });
        if (has_pair) continue;
        for (const Pair& pair : pair_outermost(side, here, there)) queue.push_back(pair);
    }
    walk(std::move(queue), here, there);
}

/// True if no use of the layer's weights comes before it, or after it.
bool LayerSolver::is_at(Side side, FlowId use) const {
    const auto around = side == Side::beginning ? flow_.sources(use) : flow_.users(use);
    return std::all_of(around.begin(), around.end(), [&](FlowId v) {
        return constant_[v] != 0 || (side == Side::beginning ? up_[v] < own_[use] : down_[v] > own_[use]);
    });
}

/// Layers of different kinds may begin alike, with a norm that has another name in each: pairs the outermost uses of weights by op, where
/// the other layer has one of that op. Two branches may end in one op each, and then what follows one of them is no end: there, each layer
/// must have but one.
std::vector<LayerSolver::Pair> LayerSolver::pair_outermost(Side side, LayerIndex here, LayerIndex there) const {
    const auto outermost = [&](LayerIndex layer) {
        std::vector<FlowId> uses;
        for (const Anchor& anchor : anchors_[static_cast<std::size_t>(layer)]) {
            if (is_at(side, anchor.vertex)) uses.push_back(anchor.vertex);
        }
        return uses;
    };
    std::vector<Pair> pairs;
    const std::vector<FlowId> ours = outermost(here);
    const std::vector<FlowId> theirs = outermost(there);
    if (side == Side::end && (ours.size() != 1 || theirs.size() != 1)) return pairs;
    for (const FlowId use : ours) {
        const auto same_op = [&](FlowId other) { return flow_.op_hash(other) == flow_.op_hash(use); };
        const auto partner = std::find_if(theirs.begin(), theirs.end(), same_op);
        if (partner != theirs.end() && std::none_of(partner + 1, theirs.end(), same_op)) pairs.push_back({use, *partner});
    }
    return pairs;
}

/// The only layer of a stack, such as a draft model's, has no layer of its own to be compared with: it may begin like those of another stack.
void LayerSolver::align_single_layers() {
    LayerIndex example = no_layer;
    for (LayerIndex layer = 0; layer < count_ && example == no_layer; ++layer) {
        if (is_first(layer) && !is_last(layer)) example = layer;
    }
    if (example == no_layer) return;
    for (LayerIndex layer = 0; layer < count_; ++layer) {
        if (!is_first(layer) || !is_last(layer)) continue;
        ++alignment_;
        walk(pair_outermost(Side::beginning, layer, example), layer, example);
    }
}

void LayerSolver::walk(std::vector<Pair> queue, LayerIndex here, LayerIndex there) {
    for (const Pair& pair : queue) seen_here_[pair.here] = alignment_;
    for (std::size_t next = 0; next < queue.size(); ++next) {
        const Pair pair = queue[next];
        step_to_arguments(pair, here, there, queue);
        step_to_users(pair, here, there, queue);
    }
}

void LayerSolver::step_to_arguments(Pair pair, LayerIndex here, LayerIndex there, std::vector<Pair>& queue) {
    const auto ours = flow_.arguments(pair.here);
    const auto theirs = flow_.arguments(pair.there);
    for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
        FlowId a = ours[i];
        FlowId b = theirs[i];
        if (flow_.op_hash(a) != flow_.op_hash(b)) {
            a = through_[a];
            b = through_[b];
        }
        if (a == b) {
            shared_[a] = 1;
            // Of one name, but overwritten in between: the stream, which each layer adds to in place.
            if (there < here && reads_unwritten(pair.there, b) && !reads_unwritten(pair.here, a)) stream_in_[b] = 1;
            continue;
        }
        if (constant_[a] != 0 || seen_here_[a] == alignment_) continue;
        if (there == table_.first_of_stack(here)) tested_first_[a] = 1;
        const bool ours_open = is_op(a) && (undecided(a) || verdict_[a].layer == here);
        const bool theirs_open = is_op(b) && (undecided(b) || verdict_[b].layer == there);
        if (ours_open && theirs_open && alike(a, b, here, there)) {
            seen_here_[a] = alignment_;
            queue.push_back({a, b});
            learn_from({a, b}, here, there);
        } else if (there < here && (undecided(b) || is_made_outside(b)) && !flow_.is_number(b) && brings_earlier_layer(a, here) &&
                   up_[b] < up_[a]) {
            stream_in_[b] = 1;
        }
    }
}

bool LayerSolver::reads_unwritten(FlowId v, FlowId argument) const {
    const auto sources = flow_.sources(v);
    return std::find(sources.begin(), sources.end(), argument) != sources.end();
}

/// True for what an earlier layer made, also as the sum that a fused add and norm returns.
bool LayerSolver::brings_earlier_layer(FlowId v, LayerIndex here) const {
    if (up_[v] != here) return up_[v] != no_layer && up_[v] < here;
    if (flow_.picked_result(v) < 0) return false;
    const FlowId fused = flow_.arguments(v)[0];
    if (own_[fused] != here || residual_sum_of(fused) != v) return false;
    const auto sources = flow_.sources(fused);
    return std::all_of(sources.begin(), sources.end(), [&](FlowId s) { return constant_[s] != 0 || up_[s] < here; });
}

void LayerSolver::step_to_users(Pair pair, LayerIndex here, LayerIndex there, std::vector<Pair>& queue) {
    const std::uint32_t ours = uses_around(pair.here, here);
    if (uses_in(known_uses_[ours]).empty()) return;
    const std::uint32_t theirs = uses_around(pair.there, there);
    const std::span<const Use> our_uses = uses_in(known_uses_[ours]);
    const std::span<const Use> their_uses = uses_in(known_uses_[theirs]);
    const auto meet = [&](const Pair& next) {
        if (next.here == next.there || seen_here_[next.here] == alignment_) return;
        seen_here_[next.here] = alignment_;
        queue.push_back(next);
        learn_from(next, here, there);
    };
    const auto users_with = [](std::span<const Use> uses, std::size_t from, std::size_t to) {
        std::vector<FlowId> users;
        for (; from < to; ++from) users.push_back(uses[from].user);
        return users;
    };
    for (std::size_t i = 0, j = 0; i < our_uses.size();) {
        const std::uint64_t key = our_uses[i].key;
        const std::size_t i_begin = i;
        while (i < our_uses.size() && our_uses[i].key == key) ++i;
        while (j < their_uses.size() && their_uses[j].key < key) ++j;
        const std::size_t j_begin = j;
        while (j < their_uses.size() && their_uses[j].key == key) ++j;
        if (there == table_.last_of_stack(here)) {
            for (std::size_t k = i_begin; k < i; ++k) tested_last_[our_uses[k].user] = 1;
        }
        if (i - i_begin != j - j_begin) continue;
        if (i - i_begin == 1) {
            meet({our_uses[i_begin].user, their_uses[j_begin].user});
            continue;
        }
        for (const Pair& next : pair_up(users_with(our_uses, i_begin, i), users_with(their_uses, j_begin, j))) meet(next);
    }
}

/// The uses of v in a layer, or in what is open behind it, sorted by key; of equal ones, the first comes first. A layer is compared with
/// several, the first and the last with all: what was collected is kept. Returns its index in known_uses_.
std::uint32_t LayerSolver::uses_around(FlowId v, LayerIndex layer) {
    std::uint32_t& index = known_uses_of_[v];
    if (index == 0 || known_uses_[index].layer != layer) {
        const std::size_t begin = uses_.size();
        collect_uses(v, layer, begin);
        const auto first = uses_.begin() + static_cast<std::ptrdiff_t>(begin);
        if (uses_.end() - first > 1) std::stable_sort(first, uses_.end(), [](const Use& a, const Use& b) { return a.key < b.key; });
        index = static_cast<std::uint32_t>(known_uses_.size());
        known_uses_.push_back({layer, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(uses_.size())});
    }
    return index;
}

/// Adds them to uses_, where those of this look begin at `begin`.
void LayerSolver::collect_uses(FlowId v, LayerIndex layer, std::size_t begin) {
    for (const FlowId user : flow_.users(v)) {
        const bool around = undecided(user) ? up_[user] == layer : decided(user) && verdict_[user].layer == layer;
        if (!around || !is_op(user) || own_[user] != no_layer || constant_[user] != 0) continue;
        const auto arguments = flow_.arguments(user);
        const auto at = std::find(arguments.begin(), arguments.end(), v);
        if (at == arguments.end()) continue;
        const auto first = uses_.begin() + static_cast<std::ptrdiff_t>(begin);
        const bool counted = std::any_of(first, uses_.end(), [&](const Use& use) { return use.user == user; });
        if (counted) continue;
        std::uint64_t key = combine(flow_.op_hash(user), static_cast<std::uint64_t>(at - arguments.begin()));
        uses_.push_back({combine(combine(key, arguments.size()), flow_.literal_hash(user)), user});
        if (through_[user] != user) collect_uses(user, layer, begin);
    }
}

bool LayerSolver::alike(FlowId a, FlowId b, LayerIndex here, LayerIndex there) {
    if (flow_.op_hash(a) != flow_.op_hash(b) || flow_.arguments(a).size() != flow_.arguments(b).size()) return false;
    if (flow_.literal_hash(a) == flow_.literal_hash(b)) return true;
    if (flow_.picks_result(a)) return false;
    if (undecided(a) && differs_by_layer_number(a, b, here, there)) {
        loop_index_[a] = 1;
        loop_index_[b] = 1;
        return false;
    }
    return true;
}

namespace {

/// The whole numbers in the literal arguments, in order.
std::vector<std::int64_t> numbers_in(std::span<const Literal> literals) {
    std::vector<std::int64_t> numbers;
    for (const Literal& literal : literals) {
        const char* at = literal.text.data();
        const char* const end = at + literal.text.size();
        while (at < end) {
            std::int64_t number = 0;
            const auto [stop, error] = std::from_chars(at, end, number);
            if (error == std::errc{}) numbers.push_back(number);
            at = stop > at ? stop : at + 1;
        }
    }
    return numbers;
}

}  // namespace

/// True if the numbers among the arguments differ, and all that differ do so by as much as the layers' numbers.
bool LayerSolver::differs_by_layer_number(FlowId a, FlowId b, LayerIndex here, LayerIndex there) const {
    const auto ours = numbers_in(flow_.literals(a));
    const auto theirs = numbers_in(flow_.literals(b));
    if (ours.size() != theirs.size()) return false;
    const std::int64_t apart = table_.layer(here).number - table_.layer(there).number;
    bool any = false;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        if (ours[i] == theirs[i]) continue;
        if (ours[i] - theirs[i] != apart) return false;
        any = true;
    }
    return any;
}

/// What two vertices at the same place of two layers tell about where they belong.
void LayerSolver::learn_from(Pair pair, LayerIndex here, LayerIndex there) {
    const FlowId a = pair.here;
    const FlowId b = pair.there;
    if (!undecided(a)) return;
    const bool to_first = there == table_.first_of_stack(here);
    if (!undecided(b)) {
        if (to_first) inner_match_[a] = 1;
        return;
    }
    const bool may_be_here = up_[a] < here && here <= down_[a];
    if (!same_stack(here, there)) {
        if (may_be_here && up_[b] < there) like_other_stack_.push_back(pair);
        return;
    }
    const bool may_be_there = up_[b] < there && there <= down_[b];
    if (may_be_here && may_be_there) {
        if (up_[a] == up_[b]) {
            if (per_layer_[a] == no_layer || here < per_layer_[a]) per_layer_[a] = here;
            equals_.push_back({a, b});
        } else if (to_first) {
            like_first_[a] = b;
            like_first_layer_[a] = here;
            begins_first_[b] = 1;
        }
    }
    if (there == table_.last_of_stack(here) && up_[a] == here && up_[b] == there) like_last_[a] = b;
}

/// What follows an op that the last layer does not have, has no counterpart there either; so has what comes before one that the first lacks.
void LayerSolver::spread_tests() {
    const auto open_alike = [&](FlowId a, FlowId b) { return undecided(a) && undecided(b) && up_[a] == up_[b]; };
    for (FlowId v = 0; v < flow_.size(); ++v) {
        if (!undecided(v) || like_last_[v] != no_flow || tested_last_[v] != 0) continue;
        for (const FlowId s : flow_.sources(v)) {
            if (open_alike(s, v) && tested_last_[s] != 0 && like_last_[s] == no_flow) tested_last_[v] = 1;
        }
    }
    for (FlowId v = flow_.size(); v-- > 0;) {
        if (!undecided(v) || like_first_[v] != no_flow || tested_first_[v] != 0) continue;
        for (const FlowId user : flow_.users(v)) {
            if (open_alike(user, v) && tested_first_[user] != 0 && like_first_[user] == no_flow && inner_match_[user] == 0)
                tested_first_[v] = 1;
        }
    }
}

/// A value that one layer alone reads, but whose counterpart several others share, is shared as well; so is all that it is made from.
void LayerSolver::spread_sharing() {
    std::vector<FlowId> group(flow_.size());
    for (FlowId v = 0; v < flow_.size(); ++v) group[v] = v;
    const auto find = [&](FlowId v) {
        while (group[v] != v) {
            group[v] = group[group[v]];
            v = group[v];
        }
        return v;
    };
    for (const Pair& pair : equals_) {
        const FlowId a = find(pair.here);
        const FlowId b = find(pair.there);
        if (a == b) continue;
        group[std::max(a, b)] = std::min(a, b);
    }
    std::vector<std::uint8_t> group_shared(flow_.size(), 0);
    for (const Pair& pair : equals_) {
        if (shared_[pair.here] != 0 || shared_[pair.there] != 0) group_shared[find(pair.here)] = 1;
    }
    for (const Pair& pair : equals_) {
        if (group_shared[find(pair.here)] != 0) shared_[pair.here] = shared_[pair.there] = 1;
    }
    // An index expression is one thing: a slice of what the loop over the layers picked belongs to the loop too.
    for (FlowId v = 0; v < flow_.size(); ++v) {
        const auto arguments = flow_.arguments(v);
        if (undecided(v) && up_[v] == no_layer && !arguments.empty() && flow_.op(v).is_indexing && loop_index_[arguments[0]] != 0) {
            loop_index_[v] = 1;
        }
    }
    for (FlowId v = flow_.size(); v-- > 0;) {
        if (shared_[v] == 0 && stream_in_[v] == 0) continue;
        for (const FlowId s : flow_.sources(v)) {
            if (shared_[v] != 0 && undecided(s) && up_[s] == up_[v]) shared_[s] = 1;
            if (stream_in_[v] != 0) stream_in_[s] = 1;
        }
    }
}

}  // namespace adpipe::member
