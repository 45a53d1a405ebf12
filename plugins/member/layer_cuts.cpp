// Where nothing repeats, the dataflow decides: the value that everything of a layer passes through on its way to the next.

#include "layer_solver.hpp"

#include <algorithm>

namespace adpipe::member {

void LayerSolver::find_cuts() {
    after_cut_.assign(flow_.size(), 0);
    cut_of_.assign(flow_.size(), no_flow);
    behind_join_.assign(flow_.size(), 0);
    std::vector<std::vector<FlowId>> regions(static_cast<std::size_t>(count_));
    std::vector<std::uint8_t> in_region(flow_.size(), 0);
    for (FlowId v = 0; v < flow_.size(); ++v) {
        const LayerIndex layer = up_[v];
        if (!undecided(v) || layer == no_layer || flow_.op(v).is_check) continue;
        const bool at_border = down_[v] == none_below || down_[v] == layer + 1 || !same_stack(layer, down_[v]);
        const auto sources = flow_.sources(v);
        const bool continues = std::any_of(sources.begin(), sources.end(), [&](FlowId s) { return in_region[s] != 0 && up_[s] == layer; });
        if (!at_border && !continues) continue;
        in_region[v] = 1;
        regions[static_cast<std::size_t>(layer)].push_back(v);
    }
    for (LayerIndex layer = 0; layer < count_; ++layer) find_cut(layer, regions[static_cast<std::size_t>(layer)]);
}

/// True for a value of the layer, no open one, that a later layer reads, beside what is open: where all that is open comes from it, it is
/// what carries the layer to the next.
bool LayerSolver::leaves_directly(FlowId v, LayerIndex layer) const {
    const auto users = flow_.users(v);
    return std::any_of(users.begin(), users.end(), [&](FlowId user) {
        const LayerIndex reader = own_[user] != no_layer ? own_[user] : decided(user) ? verdict_[user].layer : no_layer;
        return reader > layer && reader < count_ && same_stack(reader, layer);
    });
}

/// The last vertex that dominates all ways out of the region. On an acyclic graph the immediate dominator of a vertex is the nearest
/// common dominator of what it depends on, so that one pass in order is enough.
void LayerSolver::find_cut(LayerIndex layer, const std::vector<FlowId>& region) {
    std::vector<FlowId> values;
    for (const FlowId v : region) {
        if (!flow_.is_number(v)) values.push_back(v);
    }
    if (values.empty()) return;
    // Numbers 1…n in the region; 0 is what lies before it.
    const auto number_of = [&](FlowId v) -> std::uint32_t {
        const auto at = std::lower_bound(values.begin(), values.end(), v);
        return at != values.end() && *at == v ? static_cast<std::uint32_t>(at - values.begin()) + 1 : 0;
    };
    std::vector<std::uint32_t> dominator(values.size() + 1, 0);
    std::vector<std::uint32_t> depth(values.size() + 1, 0);
    const auto common = [&](std::uint32_t a, std::uint32_t b) {
        while (a != b) {
            if (depth[a] < depth[b]) std::swap(a, b);
            a = dominator[a];
        }
        return a;
    };
    constexpr std::uint32_t unset = no_flow;
    std::uint32_t exits = unset;
    constexpr FlowId several_entries = no_flow - 1;
    FlowId entry = no_flow;
    for (std::uint32_t n = 1; n <= values.size(); ++n) {
        const FlowId v = values[n - 1];
        std::uint32_t nearest = unset;
        for (const FlowId s : flow_.sources(v)) {
            const std::uint32_t inside = number_of(s);
            if (inside == 0 && (up_[s] != layer || constant_[s] != 0 || flow_.is_number(s))) continue;
            if (inside == 0) entry = entry == no_flow || entry == s ? s : several_entries;
            nearest = nearest == unset ? inside : common(nearest, inside);
        }
        dominator[n] = nearest == unset ? 0 : nearest;
        depth[n] = depth[dominator[n]] + 1;
        behind_join_[v] = dominator[n] != 0 ? 1 : 0;
        const auto users = flow_.users(v);
        const bool leaves = std::any_of(users.begin(), users.end(),
                                        [&](FlowId user) { return !flow_.is_number(user) && number_of(user) == 0; });
        if (leaves) exits = exits == unset ? n : common(exits, n);
    }
    if (entry != no_flow && entry != several_entries && leaves_directly(entry, layer)) split_region(region, entry);
    else if (exits != unset && exits != 0) split_region(region, values[exits - 1]);
}

/// Before the cut is all that it depends on; nothing, where it lies before the region.
void LayerSolver::split_region(const std::vector<FlowId>& region, FlowId cut) {
    std::vector<std::uint8_t> is_before(region.size(), 0);
    const auto mark = [&](FlowId v) {
        const auto at = std::lower_bound(region.begin(), region.end(), v);
        if (at != region.end() && *at == v) is_before[static_cast<std::size_t>(at - region.begin())] = 1;
    };
    mark(cut);
    for (std::size_t i = region.size(); i-- > 0;) {
        const FlowId v = region[i];
        cut_of_[v] = cut;
        after_cut_[v] = is_before[i] == 0 ? 1 : 0;
        if (is_before[i] == 0) continue;
        for (const FlowId s : flow_.sources(v)) mark(s);
    }
}

}  // namespace adpipe::member
