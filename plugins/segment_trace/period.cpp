#include "period.hpp"

#include "boundary.hpp"
#include "shortened.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>

namespace segment {

namespace {

/// Cuts are compared on so many kernels at the beginning; the best one then cuts the whole sequence.
constexpr std::size_t sample_size = 1U << 15U;
/// Longer than any layer: aligning such pieces would take long, and they mean nothing.
constexpr std::uint32_t longest_layer = 1500;
constexpr std::size_t most_cuts = 64;  ///< that are measured
constexpr std::size_t most_agreed_sizes = 8;
constexpr std::size_t cuts_per_agreed_size = 3;
constexpr std::size_t cuts_per_group = 3;
constexpr std::size_t groups_to_place = 8;

struct Candidate {
    Anchor anchor;
    Layering cut;
};

using Anchors = std::vector<std::uint32_t>;

std::vector<Span> spans_between(const Anchors& anchors) {
    std::vector<Span> spans;
    for (std::size_t i = 0; i + 1 < anchors.size(); ++i) spans.push_back({anchors[i], anchors[i + 1]});
    return spans;
}

Anchors positions_of(const SymbolTable& table, SymbolSpan sequence, const Anchor& anchor) {
    Anchors positions;
    for (std::uint32_t i = 0; i < sequence.size(); ++i) {
        bool here = false;
        if (anchor.kind == Anchor::Kind::exact) here = sequence[i] == anchor.first;
        else if (anchor.kind == Anchor::Kind::alike) here = table[sequence[i]].alike == anchor.first;
        else here = i + 1 < sequence.size() && sequence[i] == anchor.first && sequence[i + 1] == anchor.second;
        if (here) positions.push_back(i);
    }
    return positions;
}

bool usable(const Anchors& anchors) {
    if (anchors.size() < 3) return false;
    for (std::size_t i = 0; i + 1 < anchors.size(); ++i) {
        if (anchors[i + 1] - anchors[i] > longest_layer) return false;
    }
    return true;
}

/// Every name, every name without its numbers and every pair of neighbours that occurs several times, once per set of
/// positions.
std::vector<std::pair<Anchor, Anchors>> possible_anchors(const SymbolTable& table, SymbolSpan sequence) {
    std::map<std::pair<int, std::pair<Symbol, Symbol>>, Anchors> found;
    for (std::uint32_t i = 0; i < sequence.size(); ++i) {
        found[{0, {sequence[i], 0}}].push_back(i);
        found[{1, {table[sequence[i]].alike, 0}}].push_back(i);
        if (i + 1 < sequence.size()) found[{2, {sequence[i], sequence[i + 1]}}].push_back(i);
    }
    std::vector<std::pair<Anchor, Anchors>> anchors;
    std::set<Anchors> seen;
    for (auto& [key, positions] : found) {
        if (!usable(positions) || !seen.insert(positions).second) continue;
        anchors.push_back({{static_cast<Anchor::Kind>(key.first), key.second.first, key.second.second}, std::move(positions)});
    }
    return anchors;
}

/// A way to cut, before it is measured.
struct FirstLook {
    std::size_t kernels;  ///< in pieces that differ from all before, and in none
    Anchor anchor;
    std::vector<Span> spans;
};

/// Those with fewest different kernels; and of the numbers of pieces that most anchors agree in some as well, since
/// long layers of many kinds have many different kernels.
std::vector<FirstLook> worth_measuring(std::vector<FirstLook> looks) {
    std::stable_sort(looks.begin(), looks.end(), [](const FirstLook& a, const FirstLook& b) { return a.kernels < b.kernels; });
    if (looks.size() <= most_cuts) return looks;
    std::map<std::size_t, std::size_t> agreeing;
    for (const FirstLook& look : looks) ++agreeing[look.spans.size()];
    std::vector<std::pair<std::size_t, std::size_t>> sizes;  // anchors that agree, pieces
    for (const auto& [pieces, anchors] : agreeing) sizes.emplace_back(anchors, pieces);
    std::stable_sort(sizes.begin(), sizes.end(), std::greater<>{});
    if (sizes.size() > most_agreed_sizes) sizes.resize(most_agreed_sizes);
    std::map<std::size_t, std::size_t> wanted;
    for (const auto& [anchors, pieces] : sizes) wanted[pieces] = cuts_per_agreed_size;
    std::vector<FirstLook> chosen;
    for (std::size_t i = 0; i < looks.size(); ++i) {
        const auto size = wanted.find(looks[i].spans.size());
        const bool agreed = size != wanted.end() && size->second > 0;
        if (agreed) --size->second;
        if (i < most_cuts || agreed) chosen.push_back(std::move(looks[i]));
    }
    return chosen;
}

std::vector<Candidate> ranked_cuts(const Measure& measure) {
    std::vector<FirstLook> looks;
    for (auto& [anchor, positions] : possible_anchors(measure.table(), measure.sequence())) {
        std::vector<Span> spans = spans_between(positions);
        const std::size_t kernels = measure.kernels_in_distinct(spans) + positions.front() + (measure.sequence().size() - positions.back());
        looks.push_back({kernels, anchor, std::move(spans)});
    }
    std::vector<Candidate> cuts;
    for (FirstLook& look : worth_measuring(std::move(looks))) cuts.push_back({look.anchor, measure.measure(std::move(look.spans), false)});
    std::stable_sort(cuts.begin(), cuts.end(), [](const Candidate& a, const Candidate& b) { return a.cut.total < b.cut.total; });
    return cuts;
}

struct Placed {
    Layering layering;
    double preference = 0;
    Symbol first = 0;
    Anchor anchor;
    bool joined = false;   ///< of halves
    bool shifted = false;  ///< after they were joined
};

std::optional<Placed> placed(const Measure& measure, const Layering& cut, const Anchor& anchor) {
    Boundaries boundaries = place_boundaries(measure, cut);
    if (boundaries.spans.size() < 2) return {};
    Placed result;
    result.layering = measure.measure(std::move(boundaries.spans), true);
    result.layering.stack = std::move(boundaries.stack);
    result.preference = boundaries.preference;
    result.first = boundaries.first;
    result.anchor = anchor;
    return result;
}

std::optional<Placed> with_joined_halves(const Measure& measure, const Placed& halves) {
    auto layering = measure.with_joined_halves(halves.layering);
    if (!layering) return {};
    Placed joined = halves;
    joined.layering = std::move(*layering);
    joined.joined = true;
    return joined;
}

bool is_one_run(const Layering& layering) {
    for (std::size_t i = 0; i + 1 < layering.spans.size(); ++i) {
        if (layering.spans[i].end != layering.spans[i + 1].begin) return false;
    }
    return true;
}

/// The best cuts with their boundaries, best first; some of every size of unit, so that a runner-up is among them.
std::vector<Placed> best_placed(const Measure& measure) {
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> per_group;
    std::vector<Placed> results;
    for (const Candidate& candidate : ranked_cuts(measure)) {
        const std::pair<std::size_t, std::size_t> group{candidate.cut.spans.size(), candidate.cut.kinds.front()->size()};
        if (per_group.count(group) == 0 && per_group.size() == groups_to_place) break;
        if (per_group[group]++ == cuts_per_group) continue;
        auto result = placed(measure, candidate.cut, candidate.anchor);
        if (!result) continue;
        if (auto joined = with_joined_halves(measure, *result)) {
            // The halves may begin elsewhere than layers do.
            if (auto shifted = is_one_run(joined->layering) ? placed(measure, joined->layering, joined->anchor) : std::optional<Placed>{}) {
                shifted->joined = shifted->shifted = true;
                results.push_back(std::move(*shifted));
            }
            results.push_back(std::move(*joined));
        }
        results.push_back(std::move(*result));
    }
    std::stable_sort(results.begin(), results.end(), [](const Placed& a, const Placed& b) { return a.layering.total < b.layering.total; });
    return results;
}

/// In kernels: the first norm of a model has no residual sum in it, which makes one layer depart from its kind.
constexpr double convention_cost = 3;

/// Among equally good ones the one that keeps to the convention, and of those the one that begins first.
std::size_t by_convention(const std::vector<Placed>& results) {
    const Layering& best = results.front().layering;
    std::size_t chosen = 0;
    for (std::size_t i = 1; i < results.size(); ++i) {
        const Layering& other = results[i].layering;
        if (other.total > best.total + convention_cost || other.spans.size() != best.spans.size()) continue;
        if (other.departures > best.departures + convention_cost) continue;
        const Placed& now = results[chosen];
        const bool earlier = other.spans.front().begin < now.layering.spans.front().begin;
        if (results[i].preference > now.preference || (results[i].preference == now.preference && earlier)) chosen = i;
    }
    return chosen;
}

/// Below this a repeat is taken for chance.
constexpr double least_confidence = 0.15;
/// Fewer kernels are a loop, not a layer: a layer takes at least a mixer, a feed-forward network and what lies between.
constexpr std::size_t smallest_layer = 3;

double confidence_of(const Measure& measure, const Layering& layering, const std::optional<RunnerUp>& runner_up) {
    const auto kernels = static_cast<double>(measure.sequence().size());
    const double explained = 1 - std::min(1.0, layering.departures / kernels);
    const double repeats = 1 - 1 / (1 + 0.5 * static_cast<double>(layering.regular));
    const double shorter = 1 - std::min(1.0, layering.total / kernels);
    const double margin = runner_up ? std::clamp((runner_up->total - layering.total) / layering.total / 0.25, 0.0, 1.0) : 1;
    const double plausible = layering.completeness * std::min(1.0, layering.resemblance / 0.5) *
                             (!measure.knows_parts()   ? 0.7
                              : measure.knows_mixers() ? 1.0
                                                       : 0.4);
    return explained * repeats * std::sqrt(shorter) * (0.6 + 0.4 * margin) * plausible;
}

Span example_of_commonest(const Layering& layering) {
    for (std::size_t i = 0; i < layering.spans.size(); ++i) {
        if (layering.kind[i] == 0 && layering.distance[i] == 0) return layering.spans[i];
    }
    return layering.spans.front();
}

std::optional<RunnerUp> runner_up_of(const std::vector<Placed>& results, std::size_t chosen) {
    for (const Placed& other : results) {
        if (other.layering.spans.size() == results[chosen].layering.spans.size()) continue;
        return RunnerUp{other.layering.spans.size(), example_of_commonest(other.layering), other.layering.total};
    }
    return {};
}

std::optional<Period> period_of_shortened(const SymbolTable& table, SymbolSpan sequence) {
    const SymbolSpan sample = sequence.first(std::min(sequence.size(), sample_size));
    const Measure sample_measure{table, sample};
    std::vector<Placed> results = best_placed(sample_measure);
    if (results.empty()) return {};
    const std::size_t chosen = by_convention(results);
    Period period;
    period.runner_up = runner_up_of(results, chosen);
    period.confidence = confidence_of(sample_measure, results[chosen].layering, period.runner_up);
    if (period.confidence < least_confidence || results[chosen].layering.kinds.front()->size() < smallest_layer) return {};
    period.first_kernel = table[results[chosen].first].short_name;
    if (sample.size() == sequence.size()) {
        period.layering = std::move(results[chosen].layering);
        sample_measure.split_off_odd_layers(period.layering);
        return period;
    }
    const Measure measure{table, sequence};
    const Anchors anchors = positions_of(table, sequence, results[chosen].anchor);
    if (!usable(anchors)) return {};
    auto whole = placed(measure, measure.measure(spans_between(anchors), false), results[chosen].anchor);
    if (!whole) return {};
    if (results[chosen].joined) {
        if (auto joined = with_joined_halves(measure, *whole)) whole = std::move(joined);
        if (auto shifted = results[chosen].shifted && is_one_run(whole->layering) ? placed(measure, whole->layering, whole->anchor)
                                                                                  : std::optional<Placed>{})
            whole = std::move(shifted);
    }
    period.layering = std::move(whole->layering);
    measure.split_off_odd_layers(period.layering);
    return period;
}

}  // namespace

std::optional<Period> find_period(const SymbolTable& table, SymbolSpan sequence) {
    const Shortened part = shortened(table, sequence);
    auto period = period_of_shortened(table, part.symbols);
    if (!period) return {};
    for (Span& span : period->layering.spans) span = part.whole(span);
    if (period->runner_up) period->runner_up->example = part.whole(period->runner_up->example);
    return period;
}

std::optional<Period> period_of_anchors(const SymbolTable& table, SymbolSpan sequence, const std::vector<std::uint32_t>& anchors,
                                        bool begin_at_anchor) {
    if (anchors.size() < 2) return {};
    const Measure measure{table, sequence};
    const Layering cut = measure.measure(spans_between(anchors), false);
    Period period;
    if (begin_at_anchor) {
        std::vector<Span> spans = cut.spans;
        // The last layer is as long as its kind.
        const std::uint32_t last = spans.back().end;
        const auto length = static_cast<std::uint32_t>(cut.kinds[cut.kind.back()]->size());
        spans.push_back({last, static_cast<std::uint32_t>(std::min<std::size_t>(sequence.size(), last + length))});
        period.layering = measure.measure(std::move(spans), true);
        period.first_kernel = table[sequence[anchors.front()]].short_name;
    } else {
        auto result = placed(measure, cut, {});
        if (!result) return {};
        period.layering = std::move(result->layering);
        period.first_kernel = table[result->first].short_name;
    }
    period.confidence = confidence_of(measure, period.layering, {});
    return period;
}

std::optional<Period> period_of_spans(const SymbolTable& table, SymbolSpan sequence, std::vector<Span> spans) {
    if (spans.size() < 2) return {};
    const Measure measure{table, sequence};
    Period period;
    period.first_kernel = table[sequence[spans.front().begin]].short_name;
    period.layering = measure.measure(std::move(spans), true);
    period.confidence = confidence_of(measure, period.layering, {});
    return period;
}

}  // namespace segment
