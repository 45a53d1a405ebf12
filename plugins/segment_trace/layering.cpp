#include "layering.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace segment {

namespace {

constexpr std::size_t most_kinds = 8;
constexpr std::size_t most_odd_kinds = 4;
constexpr std::size_t most_looked_at = 6;  ///< layers that differ from all kinds, when looking for one that resembles
constexpr double kind_cost = 2.0;          ///< of saying that there is one more kind
constexpr double member_cost = 0.3;        ///< of naming the kind of one layer
constexpr double bits_per_kernel = 5.0;
constexpr double nested_kinds = 0.9;  ///< resemblance of two complete kinds of which one has all that the other has
constexpr double with_gap = 0.6;      ///< completeness of a layer that does without one of its blocks
constexpr double almost_all = 0.85;   ///< of the kernels of such a layer are those of a whole one
constexpr std::uint64_t hash_factor = 0x9e3779b97f4a7c15U;

std::uint64_t scrambled(Symbol symbol) {
    std::uint64_t x = symbol + 0x632be59bd9b4e019U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    return (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
}

/// Spans with the same kernels.
struct SpanGroup {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

/// Bits to tell the order of the kinds, each given the one before, and to list the changes that occur.
double order_bits(const std::vector<std::uint32_t>& kinds) {
    std::map<std::uint32_t, std::map<std::uint32_t, double>> changes;
    for (std::size_t i = 0; i + 1 < kinds.size(); ++i) changes[kinds[i]][kinds[i + 1]] += 1;
    double bits = 0;
    for (const auto& [from, to_counts] : changes) {
        double all = 0;
        for (const auto& [to, count] : to_counts) all += count;
        for (const auto& [to, count] : to_counts) bits += 2 - count * std::log2(count / all);
    }
    return bits;
}

}  // namespace

Measure::Measure(const SymbolTable& table, SymbolSpan sequence) : table_{table}, sequence_{sequence} {
    const std::size_t n = sequence.size();
    prefix_hash_.resize(n + 1);
    powers_.resize(n + 1, 1);
    mixers_before_.resize(n + 1);
    forwards_before_.resize(n + 1);
    networks_before_.resize(n + 1);
    roles_ = roles_of(table, sequence);
    // Where norms are written out too, the sums of the residual stream part the blocks.
    const bool has_norms = std::any_of(sequence.begin(), sequence.end(),
                                       [&](Symbol s) { return table[s].category == adpipe::KernelCategory::norm; });
    bool in_network = false;
    for (std::size_t i = 0; i < n; ++i) {
        const bool mixes = roles_[i] == Role::mixes;
        const bool feeds = roles_[i] == Role::feeds;
        const bool begins_network = feeds && !in_network;
        const SymbolInfo& info = table[sequence[i]];
        const bool parts = has_norms ? info.category == adpipe::KernelCategory::norm : info.is_addition;
        in_network = (in_network || feeds) && !mixes && !parts;
        networks_before_[i + 1] = networks_before_[i] + (begins_network ? 1 : 0);
        prefix_hash_[i + 1] = prefix_hash_[i] * hash_factor + scrambled(sequence[i]);
        powers_[i + 1] = powers_[i] * hash_factor;
        mixers_before_[i + 1] = mixers_before_[i] + (mixes ? 1 : 0);
        forwards_before_[i + 1] = forwards_before_[i] + (feeds ? 1 : 0);
        if (!mixes && !feeds) continue;
        const bool turn = !marked_.empty() && feeds && roles_[marked_.back()] == Role::mixes;
        turns_before_.push_back((turns_before_.empty() ? 0 : turns_before_.back()) + (turn ? 1 : 0));
        marked_.push_back(static_cast<std::uint32_t>(i));
    }
}

std::uint64_t Measure::hash(Span span) const noexcept {
    return (prefix_hash_[span.end] - prefix_hash_[span.begin] * powers_[span.size()]) ^ (std::uint64_t{span.size()} << 48U);
}

std::size_t Measure::kernels_in_distinct(const std::vector<Span>& spans) const {
    std::unordered_set<std::uint64_t> seen;
    std::size_t kernels = 0;
    for (const Span& span : spans) {
        if (seen.insert(hash(span)).second) kernels += span.size();
    }
    return kernels;
}

namespace {

/// Distance and number of the kind that is nearest; 0 and 0 where there is none.
std::pair<double, std::uint32_t> nearest_kind(const Layering& layering, SymbolSpan symbols) {
    std::pair<double, std::uint32_t> nearest{0, 0};
    for (std::uint32_t k = 0; k < layering.kinds.size(); ++k) {
        const double distance = layering.kinds[k]->distance(symbols);
        if (k == 0 || distance < nearest.first) nearest = {distance, k};
    }
    return nearest;
}

}  // namespace

/// Layers of one kind may all differ a little, in the sizes that libraries choose: by how much `others` are nearer to
/// `symbols` than to any kind.
double Measure::saved_by_kind(const Layering& layering, SymbolSpan symbols, const std::vector<SymbolSpan>& others) const {
    const Unit unit{table_, symbols};
    double saved = 0;
    for (const SymbolSpan other : others) saved += std::max(0.0, nearest_kind(layering, other).first - unit.distance(other) - member_cost);
    return saved;
}

void Measure::find_kinds(Layering& layering) const {
    std::unordered_map<std::uint64_t, std::uint32_t> group_of_hash;
    std::vector<SpanGroup> groups;
    std::vector<std::uint32_t> group_of_span;
    for (std::uint32_t i = 0; i < layering.spans.size(); ++i) {
        const auto [it, is_new] = group_of_hash.emplace(hash(layering.spans[i]), static_cast<std::uint32_t>(groups.size()));
        if (is_new) groups.push_back({i, 0});
        ++groups[it->second].count;
        group_of_span.push_back(it->second);
    }
    std::vector<std::uint32_t> order(groups.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        if (groups[a].count != groups[b].count) return groups[a].count > groups[b].count;
        return layering.spans[groups[a].first].size() < layering.spans[groups[b].first].size();
    });
    std::vector<std::uint32_t> kind_of_group(groups.size());
    std::vector<double> distance_of_group(groups.size());
    for (std::size_t at = 0; at < order.size(); ++at) {
        const std::uint32_t g = order[at];
        const SymbolSpan symbols = part(layering.spans[groups[g].first]);
        const auto count = static_cast<double>(groups[g].count);
        auto [nearest, kind] = nearest_kind(layering, symbols);
        const double by_itself = static_cast<double>(symbols.size());
        const double told = layering.kinds.empty() ? by_itself : std::min(layering.kinds[kind]->novelty(symbols), by_itself);
        const double as_new_kind = told + kind_cost;
        bool begins_kind = layering.kinds.empty();
        if (!begins_kind && layering.kinds.size() < most_kinds) {
            begins_kind = groups[g].count >= 2 && count * nearest > as_new_kind + count * member_cost;
            const bool irregular = nearest > 0.25 * static_cast<double>(layering.kinds[kind]->size());
            if (!begins_kind && irregular) {
                std::vector<SymbolSpan> others;
                for (std::size_t next = at + 1; next < std::min(order.size(), at + 1 + most_looked_at); ++next)
                    others.push_back(part(layering.spans[groups[order[next]].first]));
                begins_kind = saved_by_kind(layering, symbols, others) + count * nearest > as_new_kind;
            }
        }
        if (begins_kind) {
            kind = static_cast<std::uint32_t>(layering.kinds.size());
            nearest = 0;
            layering.kinds.push_back(std::make_shared<Unit>(table_, symbols));
            layering.description += as_new_kind;
        } else {
            layering.departures += count * std::min(nearest, by_itself);
        }
        kind_of_group[g] = kind;
        distance_of_group[g] = nearest;
    }
    for (const std::uint32_t g : group_of_span) {
        layering.kind.push_back(kind_of_group[g]);
        layering.distance.push_back(distance_of_group[g]);
    }
}

double Measure::ends_left_over(const Layering& layering, bool all) const {
    const auto head = static_cast<double>(layering.spans.front().begin);
    const std::uint32_t last = layering.spans.back().end;
    const auto tail = static_cast<double>(sequence_.size() - last);
    if (all) return 0.9 * (head + tail);
    double head_part = 0;
    double tail_part = 0;
    for (const auto& kind : layering.kinds) {
        const CommonSubsequence pattern{kind->symbols(), table_.size()};
        const auto window = static_cast<std::uint32_t>(kind->size() + 3);
        const std::uint32_t before = layering.spans.front().begin;
        const Span head_window{before - std::min(before, window), before};
        const Span tail_window{last, static_cast<std::uint32_t>(std::min<std::size_t>(sequence_.size(), last + window))};
        head_part = std::max(head_part, static_cast<double>(pattern.length(part(head_window))));
        tail_part = std::max(tail_part, static_cast<double>(pattern.length(part(tail_window))));
    }
    return head - head_part + tail - tail_part;
}

namespace {

/// Per kind the one that is always behind it, if that never is behind another; else itself.
std::vector<std::uint32_t> partner_behind(const Layering& layering) {
    constexpr std::int64_t none = -1;
    constexpr std::int64_t several = -2;
    const std::size_t kinds = layering.kinds.size();
    std::vector<std::int64_t> behind(kinds, none);
    std::vector<std::int64_t> before(kinds, none);
    const auto note = [](std::int64_t& seen, std::uint32_t kind) {
        seen = seen == none || seen == std::int64_t{kind} ? std::int64_t{kind} : several;
    };
    for (std::size_t i = 0; i + 1 < layering.kind.size(); ++i) {
        note(behind[layering.kind[i]], layering.kind[i + 1]);
        note(before[layering.kind[i + 1]], layering.kind[i]);
    }
    std::vector<std::uint32_t> partner(kinds);
    for (std::uint32_t k = 0; k < kinds; ++k) {
        const std::int64_t other = behind[k];
        partner[k] = other >= 0 && before[static_cast<std::size_t>(other)] == k ? static_cast<std::uint32_t>(other) : k;
    }
    return partner;
}

}  // namespace

std::optional<Layering> Measure::with_joined_halves(const Layering& layering) const {
    const std::vector<bool> complete = complete_kinds(layering);
    const std::vector<std::uint32_t> partner = partner_behind(layering);
    const auto belong_together = [&](std::size_t first, std::size_t second) {
        const std::uint32_t a = layering.kind[first];
        const std::uint32_t b = layering.kind[second];
        if (partner[a] != a && partner[a] == b && !(complete[a] && complete[b])) return true;
        return only_mixes(layering.spans[first]) && only_feeds_forward(layering.spans[second]);
    };
    bool is_joined = false;  // what is last of the new layers
    std::vector<Span> spans;
    std::vector<std::uint32_t> stack;
    for (std::size_t i = 0; i < layering.spans.size(); ++i) {
        const Span span = layering.spans[i];
        const std::uint32_t of_stack = layering.stack.empty() ? 0 : layering.stack[i];
        const bool follows = !spans.empty() && spans.back().end == span.begin && stack.back() == of_stack;
        if (follows && !is_joined && belong_together(i - 1, i)) {
            spans.back().end = span.end;
            is_joined = true;
            continue;
        }
        is_joined = false;
        spans.push_back(span);
        stack.push_back(of_stack);
    }
    if (spans.size() == layering.spans.size()) return {};
    // What was left of halves at the ends: an embedding, a final norm and the head.
    const auto works = [&](Span span) { return has_mixer(span) || has_forward(span); };
    const auto first = std::find_if(spans.begin(), spans.end(), works);
    const auto last = std::find_if(spans.rbegin(), spans.rend(), works);
    if (last.base() - first < 2) return {};
    stack.erase(stack.begin() + (last.base() - spans.begin()), stack.end());
    stack.erase(stack.begin(), stack.begin() + (first - spans.begin()));
    spans = std::vector<Span>(first, last.base());
    Layering joined = measure(std::move(spans), true);
    joined.stack = std::move(stack);
    return joined;
}

namespace {

/// Which kinds of work tell one kind of layer from another, whatever else they have in common.
unsigned work_of(const SymbolTable& table, SymbolSpan symbols) {
    using adpipe::KernelCategory;
    unsigned work = 0;
    for (const Symbol symbol : symbols) {
        const KernelCategory category = table[symbol].category;
        if (category == KernelCategory::attention) work |= 1U;
        if (category == KernelCategory::state_space) work |= 2U;
        if (category == KernelCategory::moe) work |= 4U;
    }
    return work;
}

}  // namespace

void Measure::split_off_odd_layers(Layering& layering) const {
    const std::size_t found = layering.kinds.size();
    const auto is_whole = [&](Span span) {  // where layers are single blocks, each of them is
        return is_complete(span) || (layering.completeness == 1 && (has_mixer(span) || has_forward(span)));
    };
    const auto fits = [&](SymbolSpan symbols, std::size_t kind) {
        const Unit& unit = *layering.kinds[kind];
        return work_of(table_, symbols) == work_of(table_, unit.symbols()) &&
               unit.distance(symbols) <= regular_share * static_cast<double>(unit.size());
    };
    for (std::size_t i = 0; i < layering.spans.size(); ++i) {
        const SymbolSpan symbols = part(layering.spans[i]);
        if (!is_whole(layering.spans[i]) || layering.distance[i] == 0 || fits(symbols, layering.kind[i])) continue;
        std::size_t kind = found;
        while (kind < layering.kinds.size() && !fits(symbols, kind)) ++kind;
        if (kind == layering.kinds.size()) {
            if (kind == found + most_odd_kinds) continue;
            layering.kinds.push_back(std::make_shared<Unit>(table_, symbols));
        }
        layering.kind[i] = static_cast<std::uint32_t>(kind);
        layering.distance[i] = layering.kinds[kind]->distance(symbols);
    }
}

Layering Measure::measure(std::vector<Span> spans, bool ends_count) const {
    Layering layering;
    layering.spans = std::move(spans);
    find_kinds(layering);
    double gaps = 0;
    for (std::size_t i = 0; i + 1 < layering.spans.size(); ++i) gaps += layering.spans[i + 1].begin - layering.spans[i].end;
    layering.left_over = ends_left_over(layering, ends_count) + 0.9 * gaps;
    layering.description += layering.departures + layering.left_over + order_bits(layering.kind) / bits_per_kernel +
                            0.05 * static_cast<double>(layering.spans.size());
    correct(layering);
    return layering;
}

void Measure::correct(Layering& layering) const {
    const std::vector<bool> complete = complete_kinds(layering);
    std::vector<double> dice(layering.kinds.size() * layering.kinds.size(), -1);
    double weighted = 0;
    double weights = 0;
    for (std::size_t i = 0; i + 1 < layering.kind.size(); ++i) {
        const Unit& a = *layering.kinds[layering.kind[i]];
        const Unit& b = *layering.kinds[layering.kind[i + 1]];
        double& value = dice[layering.kind[i] * layering.kinds.size() + layering.kind[i + 1]];
        if (value < 0) {
            value = a.dice(b);
            if (complete[layering.kind[i]] && complete[layering.kind[i + 1]])
                value = std::max(value, nested_kinds * std::max(a.holds(b), b.holds(a)));
        }
        weighted += value * static_cast<double>(a.size() + b.size());
        weights += static_cast<double>(a.size() + b.size());
    }
    layering.resemblance = weights > 0 ? weighted / weights : 0;
    layering.completeness = completeness(layering);
    const bool alternating = layering.completeness < 1 && alternate_blocks(layering);
    if (alternating) layering.completeness = 1;
    layering.halves = are_halves(layering) && !alternating;
    const Span all{layering.spans.front().begin, layering.spans.back().end};
    const double networks = networks_before_[all.end] - networks_before_[all.begin];
    layering.blocks = std::max(blocks_per_layer(layering), networks / static_cast<double>(layering.spans.size()));
    for (std::size_t i = 0; i < layering.spans.size(); ++i) layering.regular += layering.is_regular(i) ? 1 : 0;
    const double regular = std::max<double>(1, layering.regular);
    layering.overfull = overfull(layering);
    const double penalty = 0.25 * std::clamp(layering.blocks - 1, 0.0, 3.0) + (1 - layering.completeness) + layering.overfull +
                           (layering.halves ? 1.0 : 0.0) + (1 - layering.resemblance) * (alternating ? 0.3 : 1.5);
    // Few repeats prove little.
    layering.total = layering.description * (1 + penalty) * (1 + 1 / (regular * regular));
}

/// Which kinds mix tokens and feed forward, as the layers do that are as their kind.
std::vector<bool> Measure::complete_kinds(const Layering& layering) const {
    std::vector<bool> complete(layering.kinds.size());
    for (std::size_t i = 0; i < layering.spans.size(); ++i) {
        if (layering.distance[i] == 0) complete[layering.kind[i]] = is_complete(layering.spans[i]);
    }
    return complete;
}

/// Which kinds are the rest of a complete kind that leaves something out. Those that are never without a certain other
/// one leave nothing out: the two are a layer.
std::vector<bool> Measure::kinds_with_gaps(const Layering& layering, const std::vector<bool>& complete) const {
    std::vector<bool> gaps(layering.kinds.size());
    const std::vector<std::uint32_t> partner = partner_behind(layering);
    std::vector<bool> in_pair(gaps.size());
    for (std::uint32_t k = 0; k < gaps.size(); ++k) {
        if (partner[k] != k) in_pair[k] = in_pair[partner[k]] = true;
    }
    for (std::size_t k = 0; k < gaps.size(); ++k) {
        if (in_pair[k]) continue;
        for (std::size_t other = 0; other < gaps.size() && !complete[k] && !gaps[k]; ++other)
            gaps[k] = complete[other] && layering.kinds[other]->holds(*layering.kinds[k]) >= almost_all;
    }
    return gaps;
}

double Measure::completeness(const Layering& layering) const {
    if (!knows_parts()) return 1;
    const std::vector<bool> complete = complete_kinds(layering);
    const std::vector<bool> gaps = kinds_with_gaps(layering, complete);
    double sum = 0;
    for (std::size_t i = 0; i < layering.spans.size(); ++i) {
        const Span span = layering.spans[i];
        const std::uint32_t k = layering.kind[i];
        if (is_complete(span)) {
            sum += 1;
        } else if (has_mixer(span) || has_forward(span)) {
            // What comes last, and once, is rather what follows the layers.
            const bool is_end = i + 1 == layering.spans.size() && std::count(layering.kind.begin(), layering.kind.end(), k) == 1;
            const bool lacks_block = gaps[k] || (complete[k] && layering.is_regular(i));
            sum += lacks_block && !is_end ? with_gap : 0.0;
        }
    }
    return sum / static_cast<double>(layering.spans.size());
}

/// Models whose layers hold one block each, a mixer or a feed-forward network, in no simple order (Nemotron-H). Where
/// mixer and feed-forward network take turns regularly, the two are one layer instead; and where mixers that follow
/// each other are always of one sort, layers were left without one of their halves (models pruned by architecture
/// search).
bool Measure::alternate_blocks(const Layering& layering) const {
    if (mixers_before_.back() < 2 || forwards_before_.back() < 2 || !unlike_mixers_meet(layering)) return false;
    double single = 0;
    std::vector<std::pair<int, int>> runs(1);  // mixers, then feed-forward networks
    for (const Span& span : layering.spans) {
        const bool mixes = has_mixer(span);
        if (mixes != has_forward(span)) single += 1;
        if (mixes && runs.back().second > 0) runs.emplace_back();
        ++(mixes ? runs.back().first : runs.back().second);
    }
    std::size_t changes = 0;
    for (std::size_t i = 0; i + 1 < runs.size(); ++i) changes += runs[i] != runs[i + 1] ? 1 : 0;
    return single > 0.9 * static_cast<double>(layering.spans.size()) &&
           static_cast<double>(changes) >= std::max(2.0, 0.3 * static_cast<double>(runs.size()));
}

/// True if a layer that only mixes by attention is beside one that only mixes by a state-space model.
bool Measure::unlike_mixers_meet(const Layering& layering) const {
    const auto is_state_space = [&](Span span) {
        const auto mixer = std::find(roles_.begin() + span.begin, roles_.begin() + span.end, Role::mixes);
        return table_[sequence_[static_cast<std::size_t>(mixer - roles_.begin())]].category == adpipe::KernelCategory::state_space;
    };
    for (std::size_t i = 0; i + 1 < layering.spans.size(); ++i) {
        const Span a = layering.spans[i];
        const Span b = layering.spans[i + 1];
        if (only_mixes(a) && only_mixes(b) && is_state_space(a) != is_state_space(b)) return true;
    }
    return false;
}

std::vector<bool> Measure::kinds_that_mix(const Layering& layering) const {
    std::vector<bool> mix(layering.kinds.size());
    for (std::size_t i = 0; i < layering.spans.size(); ++i) {
        if (layering.distance[i] == 0) mix[layering.kind[i]] = has_mixer(layering.spans[i]);
    }
    return mix;
}

bool Measure::are_halves(const Layering& layering) const {
    const std::size_t kinds = layering.kinds.size();
    if (kinds < 2) return false;
    // Kinds in two colours such that neighbours differ, if that is possible.
    std::vector<std::vector<std::uint32_t>> neighbours(kinds);
    for (std::size_t i = 0; i + 1 < layering.kind.size(); ++i) {
        neighbours[layering.kind[i]].push_back(layering.kind[i + 1]);
        neighbours[layering.kind[i + 1]].push_back(layering.kind[i]);
    }
    std::vector<int> colour(kinds, -1);
    std::vector<std::uint32_t> open{layering.kind.front()};
    colour[open.front()] = 0;
    while (!open.empty()) {
        const std::uint32_t k = open.back();
        open.pop_back();
        for (const std::uint32_t other : neighbours[k]) {
            if (colour[other] == colour[k]) return false;
            if (colour[other] >= 0) continue;
            colour[other] = 1 - colour[k];
            open.push_back(other);
        }
    }
    int mixing[2] = {0, 0};
    int of_colour[2] = {0, 0};
    const std::vector<bool> mix = kinds_that_mix(layering);
    for (std::size_t k = 0; k < kinds; ++k) {
        if (colour[k] < 0) continue;
        mixing[colour[k]] += mix[k] ? 1 : 0;
        ++of_colour[colour[k]];
    }
    return (mixing[0] == of_colour[0] && mixing[1] == 0) || (mixing[1] == of_colour[1] && mixing[0] == 0);
}

double Measure::overfull(const Layering& layering) const {
    std::map<std::uint32_t, std::size_t> layers_by_networks;
    for (const Span& span : layering.spans) ++layers_by_networks[networks_before_[span.end] - networks_before_[span.begin]];
    std::size_t commonest = 0;
    std::size_t layers_behind = 0;
    for (const auto& [networks, layers] : layers_by_networks) {
        layers_behind += layers;
        if (networks == 0 || layers <= commonest) continue;
        commonest = layers;
        layers_behind = 0;
    }
    return static_cast<double>(layers_behind) / static_cast<double>(layering.spans.size());
}

double Measure::blocks_per_layer(const Layering& layering) const {
    // Over all layers together, so that it is the same wherever layers begin.
    const auto begin = std::lower_bound(marked_.begin(), marked_.end(), layering.spans.front().begin) - marked_.begin();
    const auto end = std::lower_bound(marked_.begin(), marked_.end(), layering.spans.back().end) - marked_.begin();
    if (end - begin < 2) return 0;
    const std::uint32_t turns = turns_before_[static_cast<std::size_t>(end - 1)] - turns_before_[static_cast<std::size_t>(begin)];
    return turns / static_cast<double>(layering.spans.size());
}

}  // namespace segment
