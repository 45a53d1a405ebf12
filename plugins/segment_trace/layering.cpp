#include "layering.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace segment {

namespace {

constexpr std::size_t most_kinds = 8;
constexpr double kind_cost = 2.0;    ///< of saying that there is one more kind
constexpr double member_cost = 0.3;  ///< of naming the kind of one layer
constexpr double bits_per_kernel = 5.0;
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
    // Where attention is written out as matrix products, the softmax between them is what tells it.
    const auto mixers =
        std::count_if(sequence.begin(), sequence.end(), [&](Symbol s) { return table[s].mixes_tokens(); });
    softmax_mixes_ = mixers < 2;
    for (std::size_t i = 0; i < n; ++i) {
        const SymbolInfo& info = table[sequence[i]];
        const bool mixes = mixes_tokens(sequence[i]);
        prefix_hash_[i + 1] = prefix_hash_[i] * hash_factor + scrambled(sequence[i]);
        powers_[i + 1] = powers_[i] * hash_factor;
        mixers_before_[i + 1] = mixers_before_[i] + (mixes ? 1 : 0);
        forwards_before_[i + 1] = forwards_before_[i] + (info.feeds_forward() ? 1 : 0);
        if (!mixes && !info.feeds_forward()) continue;
        const bool turn = !marked_.empty() && info.feeds_forward() && mixes_tokens(sequence[marked_.back()]);
        turns_before_.push_back((turns_before_.empty() ? 0 : turns_before_.back()) + (turn ? 1 : 0));
        marked_.push_back(static_cast<std::uint32_t>(i));
    }
}

std::uint64_t Measure::hash(Span span) const noexcept {
    return (prefix_hash_[span.end] - prefix_hash_[span.begin] * powers_[span.size()]) ^
           (std::uint64_t{span.size()} << 48U);
}

std::size_t Measure::kernels_in_distinct(const std::vector<Span>& spans) const {
    std::unordered_set<std::uint64_t> seen;
    std::size_t kernels = 0;
    for (const Span& span : spans) {
        if (seen.insert(hash(span)).second) kernels += span.size();
    }
    return kernels;
}

void Measure::find_kinds(Layering& layering) const {
    std::unordered_map<std::uint64_t, std::uint32_t> group_of_hash;
    std::vector<SpanGroup> groups;
    std::vector<std::uint32_t> group_of_span;
    for (std::uint32_t i = 0; i < layering.spans.size(); ++i) {
        const auto [it, is_new] =
            group_of_hash.emplace(hash(layering.spans[i]), static_cast<std::uint32_t>(groups.size()));
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
    for (const std::uint32_t g : order) {
        const SymbolSpan symbols = part(layering.spans[groups[g].first]);
        const auto count = static_cast<double>(groups[g].count);
        double nearest = 0;
        std::uint32_t kind = 0;
        for (std::uint32_t k = 0; k < layering.kinds.size(); ++k) {
            const double distance = layering.kinds[k]->distance(symbols);
            if (k == 0 || distance < nearest) {
                nearest = distance;
                kind = k;
            }
        }
        const double by_itself = static_cast<double>(symbols.size());
        const double told =
            layering.kinds.empty() ? by_itself : std::min(layering.kinds[kind]->novelty(symbols), by_itself);
        const double as_new_kind = told + kind_cost;
        const bool worth = groups[g].count >= 2 && count * nearest > as_new_kind + count * member_cost;
        if (layering.kinds.empty() || (layering.kinds.size() < most_kinds && worth)) {
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
        const Span tail_window{last,
                               static_cast<std::uint32_t>(std::min<std::size_t>(sequence_.size(), last + window))};
        head_part = std::max(head_part, static_cast<double>(pattern.length(part(head_window))));
        tail_part = std::max(tail_part, static_cast<double>(pattern.length(part(tail_window))));
    }
    return head - head_part + tail - tail_part;
}

Layering Measure::measure(std::vector<Span> spans, bool ends_count) const {
    Layering layering;
    layering.spans = std::move(spans);
    find_kinds(layering);
    double gaps = 0;
    for (std::size_t i = 0; i + 1 < layering.spans.size(); ++i)
        gaps += layering.spans[i + 1].begin - layering.spans[i].end;
    layering.left_over = ends_left_over(layering, ends_count) + 0.9 * gaps;
    layering.description += layering.departures + layering.left_over + order_bits(layering.kind) / bits_per_kernel +
                            0.05 * static_cast<double>(layering.spans.size());
    correct(layering);
    return layering;
}

void Measure::correct(Layering& layering) const {
    std::vector<double> dice(layering.kinds.size() * layering.kinds.size(), -1);
    double weighted = 0;
    double weights = 0;
    for (std::size_t i = 0; i + 1 < layering.kind.size(); ++i) {
        const Unit& a = *layering.kinds[layering.kind[i]];
        const Unit& b = *layering.kinds[layering.kind[i + 1]];
        double& value = dice[layering.kind[i] * layering.kinds.size() + layering.kind[i + 1]];
        if (value < 0) value = a.dice(b);
        weighted += value * static_cast<double>(a.size() + b.size());
        weights += static_cast<double>(a.size() + b.size());
    }
    layering.resemblance = weights > 0 ? weighted / weights : 0;
    layering.completeness = completeness(layering);
    const bool alternating = layering.completeness < 1 && alternate_blocks(layering);
    if (alternating) layering.completeness = 1;
    layering.halves = are_halves(layering) && !alternating;
    layering.blocks = blocks_per_layer(layering);
    for (std::size_t i = 0; i < layering.spans.size(); ++i) layering.regular += layering.is_regular(i) ? 1 : 0;
    const double regular = std::max<double>(1, layering.regular);
    const double penalty = 0.25 * std::clamp(layering.blocks - 1, 0.0, 3.0) + (1 - layering.completeness) +
                           (layering.halves ? 1.0 : 0.0) + (1 - layering.resemblance) * (alternating ? 0.3 : 1.5);
    // Few repeats prove little.
    layering.total = layering.description * (1 + penalty) * (1 + 1 / (regular * regular));
}

double Measure::completeness(const Layering& layering) const {
    const bool know_mixers = mixers_before_.back() >= 2;
    const bool know_forwards = forwards_before_.back() >= 2;
    if (!know_mixers && !know_forwards) return 1;
    double complete = 0;
    for (const Span& span : layering.spans) {
        if ((!know_mixers || has_mixer(span)) && (!know_forwards || has_forward(span))) complete += 1;
    }
    return complete / static_cast<double>(layering.spans.size());
}

/// Models whose layers hold one block each, a mixer or a feed-forward network, in no simple order (Nemotron-H). Where
/// mixer and feed-forward network take turns regularly, the two are one layer instead.
bool Measure::alternate_blocks(const Layering& layering) const {
    if (mixers_before_.back() < 2 || forwards_before_.back() < 2) return false;
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
    for (std::size_t k = 0; k < kinds; ++k) {
        if (colour[k] < 0) continue;
        const Symbols& symbols = layering.kinds[k]->symbols();
        const bool mixes = std::any_of(symbols.begin(), symbols.end(), [&](Symbol s) { return mixes_tokens(s); });
        mixing[colour[k]] += mixes ? 1 : 0;
        ++of_colour[colour[k]];
    }
    return (mixing[0] == of_colour[0] && mixing[1] == 0) || (mixing[1] == of_colour[1] && mixing[0] == 0);
}

double Measure::blocks_per_layer(const Layering& layering) const {
    // Over all layers together, so that it is the same wherever layers begin.
    const auto begin = std::lower_bound(marked_.begin(), marked_.end(), layering.spans.front().begin) - marked_.begin();
    const auto end = std::lower_bound(marked_.begin(), marked_.end(), layering.spans.back().end) - marked_.begin();
    if (end - begin < 2) return 0;
    const std::uint32_t turns =
        turns_before_[static_cast<std::size_t>(end - 1)] - turns_before_[static_cast<std::size_t>(begin)];
    return turns / static_cast<double>(layering.spans.size());
}

}  // namespace segment
