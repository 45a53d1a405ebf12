// The order in which layers run, where it is not that of their numbers: found from which uses of weights come before which.

#include "layer_table.hpp"

#include <algorithm>
#include <numeric>

namespace adpipe::member {

namespace {

/// The layer whose weights each op uses.
struct WeightUses {
    std::vector<LayerIndex> layer;
    std::vector<std::uint8_t> constant;  ///< made of weights alone
};

WeightUses find_uses(const FlowGraph& flow, const LayerTable& table) {
    WeightUses uses{std::vector<LayerIndex>(flow.size(), no_layer), std::vector<std::uint8_t>(flow.size(), 0)};
    for (FlowId v = 0; v < flow.size(); ++v) {
        const auto sources = flow.sources(v);
        const auto is_constant = [&](FlowId s) { return uses.constant[s] != 0; };
        uses.constant[v] = table.is_weight(v) || (!sources.empty() && std::all_of(sources.begin(), sources.end(), is_constant)) ? 1 : 0;
        uses.layer[v] = table.of_weight(v);
        for (const FlowId s : sources) {
            if (is_constant(s)) uses.layer[v] = std::max(uses.layer[v], uses.layer[s]);
        }
    }
    return uses;
}

using Precedences = std::vector<std::vector<bool>>;

/// [a][b]: a use of b's weights depends on a use of a's.
Precedences find_precedences(const FlowGraph& flow, const WeightUses& uses, LayerIndex layers) {
    const auto count = static_cast<std::size_t>(layers);
    const std::size_t words = (count + 63) / 64;
    std::vector<std::uint64_t> before(static_cast<std::size_t>(flow.size()) * words, 0);
    Precedences precedes(count, std::vector<bool>(count, false));
    for (FlowId v = 0; v < flow.size(); ++v) {
        if (uses.constant[v] != 0) continue;
        for (const FlowId s : flow.sources(v)) {
            for (std::size_t w = 0; w < words; ++w) before[v * words + w] |= before[s * words + w];
        }
        if (uses.layer[v] == no_layer) continue;
        const auto own = static_cast<std::size_t>(uses.layer[v]);
        for (std::size_t a = 0; a < count; ++a) {
            if (a != own && (before[v * words + a / 64] >> (a % 64) & 1U) != 0) precedes[a][own] = true;
        }
        before[v * words + own / 64] |= std::uint64_t{1} << (own % 64);
    }
    return precedes;
}

bool is_wholly_before(const Precedences& precedes, LayerIndex a, LayerIndex b) {
    const auto i = static_cast<std::size_t>(a);
    const auto j = static_cast<std::size_t>(b);
    return precedes[i][j] && !precedes[j][i];
}

using Stacks = std::vector<std::vector<LayerIndex>>;

/// The layers of each stack; those of stacks that take turns, in each of which a layer comes before one of the other, together.
Stacks find_stacks(const LayerTable& table, const Precedences& precedes) {
    Stacks stacks;
    for (LayerIndex first = 0; first < table.size(); first = table.last_of_stack(first) + 1) {
        std::vector<LayerIndex> layers(static_cast<std::size_t>(table.last_of_stack(first) - first) + 1);
        std::iota(layers.begin(), layers.end(), first);
        stacks.push_back(std::move(layers));
    }
    const auto any_before = [&](const std::vector<LayerIndex>& from, const std::vector<LayerIndex>& to) {
        return std::any_of(from.begin(), from.end(), [&](LayerIndex a) {
            return std::any_of(to.begin(), to.end(), [&](LayerIndex b) { return is_wholly_before(precedes, a, b); });
        });
    };
    for (std::size_t i = 0; i < stacks.size(); ++i) {
        for (std::size_t j = i + 1; j < stacks.size();) {
            if (!any_before(stacks[i], stacks[j]) || !any_before(stacks[j], stacks[i])) {
                ++j;
                continue;
            }
            stacks[i].insert(stacks[i].end(), stacks[j].begin(), stacks[j].end());
            stacks.erase(stacks.begin() + static_cast<std::ptrdiff_t>(j));
            j = i + 1;  // together they may take turns with one that was looked at
        }
    }
    return stacks;
}

/// The first that nothing left must come before; the first of all where they go in a circle.
std::vector<LayerIndex> sorted_by_flow(const std::vector<LayerIndex>& layers, const Precedences& precedes) {
    std::vector<LayerIndex> left = layers;
    std::vector<LayerIndex> order;
    while (!left.empty()) {
        const auto is_next = [&](LayerIndex a) {
            return std::none_of(left.begin(), left.end(), [&](LayerIndex b) { return is_wholly_before(precedes, b, a); });
        };
        auto next = std::find_if(left.begin(), left.end(), is_next);
        if (next == left.end()) next = left.begin();
        order.push_back(*next);
        left.erase(next);
    }
    return order;
}

/// Goes through the uses of weights and counts, for each run through a stack's layers, those of each layer. A run ends where a layer comes
/// after a later one.
class RunCounter {
public:
    RunCounter(const Stacks& stacks, LayerIndex layers)
        : stack_of_(static_cast<std::size_t>(layers)), place_of_(stack_of_), runs_(stacks.size()) {
        for (std::size_t i = 0; i < stacks.size(); ++i) {
            for (std::size_t k = 0; k < stacks[i].size(); ++k) {
                stack_of_[static_cast<std::size_t>(stacks[i][k])] = i;
                place_of_[static_cast<std::size_t>(stacks[i][k])] = k;
            }
            sizes_.push_back(stacks[i].size());
        }
    }

    void count(const FlowGraph& flow, const WeightUses& uses) {
        std::vector<Position> reached(flow.size());
        for (FlowId v = 0; v < flow.size(); ++v) {
            if (uses.constant[v] != 0) continue;
            for (const FlowId s : flow.sources(v)) reached[v] = std::max(reached[v], reached[s]);
            if (uses.layer[v] != no_layer) reached[v] = use(uses.layer[v], reached[v]);
        }
    }

    /// True if the stack is gone through several times, and each layer is used as a whole in each run that it has.
    bool runs_again(std::size_t stack) const {
        const auto& runs = runs_[stack];
        if (runs.size() < 2 || runs.size() > most_runs) return false;
        for (std::size_t k = 0; k < sizes_[stack]; ++k) {
            std::size_t most = 0;
            for (const auto& run : runs) most = std::max(most, run[k]);
            for (const auto& run : runs) {
                if (run[k] != 0 && 10 * run[k] < 9 * most) return false;
            }
        }
        return true;
    }

    /// The layers in each run, one after the other.
    std::vector<LayerIndex> unrolled(std::size_t stack, const std::vector<LayerIndex>& layers) const {
        std::vector<LayerIndex> order;
        for (std::size_t r = 0; r < runs_[stack].size(); ++r) {
            for (std::size_t k = 0; k < layers.size(); ++k) {
                const auto& runs = runs_[stack];
                const bool unused = r == 0 && std::all_of(runs.begin(), runs.end(), [&](const auto& run) { return run[k] == 0; });
                if (runs[r][k] != 0 || unused) order.push_back(layers[k]);
            }
        }
        return order;
    }

private:
    static constexpr std::size_t most_runs = 256;

    struct Position {
        std::size_t stack = 0;  ///< from 1
        std::size_t run = 0;
        std::size_t place = 0;

        friend auto operator<=>(const Position&, const Position&) = default;
    };

    Position use(LayerIndex layer, const Position& before) {
        Position here{stack_of_[static_cast<std::size_t>(layer)] + 1, 0, place_of_[static_cast<std::size_t>(layer)]};
        if (before.stack > here.stack) return before;
        if (before.stack == here.stack) here.run = before.place <= here.place ? before.run : before.run + 1;
        auto& runs = runs_[here.stack - 1];
        if (here.run > most_runs) return before;
        if (here.run >= runs.size()) runs.resize(here.run + 1, std::vector<std::size_t>(sizes_[here.stack - 1], 0));
        ++runs[here.run][here.place];
        return here;
    }

    std::vector<std::size_t> stack_of_;
    std::vector<std::size_t> place_of_;
    std::vector<std::size_t> sizes_;
    std::vector<std::vector<std::vector<std::size_t>>> runs_;  ///< [stack][run][place]: uses of weights
};

}  // namespace

std::vector<LayerIndex> LayerTable::arrange(const FlowGraph& flow) {
    const WeightUses uses = find_uses(flow, *this);
    const Precedences precedes = find_precedences(flow, uses, size());
    Stacks stacks = find_stacks(*this, precedes);
    for (auto& layers : stacks) layers = sorted_by_flow(layers, precedes);
    RunCounter runs(stacks, size());
    runs.count(flow, uses);
    LayerIndex next = 0;
    bool changed = false;
    for (std::size_t i = 0; i < stacks.size(); ++i) {
        if (stacks[i].size() > 1 && runs.runs_again(i)) stacks[i] = runs.unrolled(i, stacks[i]);
        for (const LayerIndex layer : stacks[i]) changed = changed || layer != next++;
    }
    if (!changed) return {};
    std::vector<LayerIndex> new_of(layers_.size(), no_layer);
    LayerIndex position = 0;
    for (const auto& layers : stacks) {
        for (const LayerIndex layer : layers) {
            LayerIndex& first_run = new_of[static_cast<std::size_t>(layer)];
            if (first_run == no_layer) first_run = position;
            ++position;
        }
    }
    place(stacks);
    for (LayerIndex& layer : of_weight_) {
        if (layer != no_layer) layer = new_of[static_cast<std::size_t>(layer)];
    }
    for (auto& numbers : of_container_) {
        for (Numbered& numbered : numbers) numbered.index = new_of[static_cast<std::size_t>(numbered.index)];
    }
    return new_of;
}

/// Positions for the runs of old layers, in this order.
void LayerTable::place(const std::vector<std::vector<LayerIndex>>& stacks) {
    const std::vector<Entry> old = std::move(layers_);
    layers_.clear();
    first_.clear();
    last_.clear();
    next_run_.clear();
    std::vector<LayerIndex> last_run(old.size(), no_layer);
    for (const auto& layers : stacks) {
        const LayerIndex first = size();
        for (const LayerIndex layer : layers) {
            LayerIndex& before = last_run[static_cast<std::size_t>(layer)];
            if (before != no_layer) next_run_[static_cast<std::size_t>(before)] = size();
            before = size();
            layers_.push_back(old[static_cast<std::size_t>(layer)]);
            next_run_.push_back(no_layer);
        }
        first_.resize(layers_.size(), first);
        last_.resize(layers_.size(), size() - 1);
    }
}

bool LayerTable::runs_again(std::uint32_t container) const {
    if (next_run_.empty()) return false;
    for (LayerIndex i = 0; i < size(); ++i) {
        if (layer(i).container == container && next_run_[static_cast<std::size_t>(i)] != no_layer) return true;
    }
    return false;
}

}  // namespace adpipe::member
