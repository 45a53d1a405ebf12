#pragma once

// A way to cut a sequence of kernels into layers, and how good it is.
//
// The measure is a description length in kernels: every kind of layer is written down once (a kind that resembles
// another only by its differences), a layer that departs from its kind by what it departs, and whatever is in no layer
// by itself. Of all ways to cut, the true one is short; so is one that cuts layers in halves or glues several together,
// hence the corrections: neighbouring layers resemble each other, a layer mixes tokens and feeds forward, and does so
// once.

#include "roles.hpp"
#include "similarity.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace segment {

/// Kernels [begin, end) of a sequence.
struct Span {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t size() const noexcept { return end - begin; }
    friend bool operator==(const Span& a, const Span& b) noexcept { return a.begin == b.begin && a.end == b.end; }
};

/// A layer is as its kind if it departs by no more than this share of it.
inline constexpr double regular_share = 0.25;

struct Layering {
    std::vector<Span> spans;
    std::vector<std::uint32_t> stack;                ///< per span: number of the run of layers that it belongs to; empty: all one
    std::vector<std::shared_ptr<const Unit>> kinds;  ///< the commonest first
    std::vector<std::uint32_t> kind;                 ///< per span
    std::vector<double> distance;                    ///< per span: from its kind

    double description = 0;     ///< length of the description, in kernels
    double departures = 0;      ///< part of it: layers that differ from their kind
    double left_over = 0;       ///< part of it: kernels in no layer
    double resemblance = 0;     ///< of neighbouring layers, 0 to 1
    double completeness = 1;    ///< share of the layers that mix tokens and feed forward, or leave one of these out
    bool halves = false;        ///< alternately layers that mix and layers that do not: halves of layers
    double overfull = 0;        ///< share of the layers that feed forward more often than most
    double blocks = 1;          ///< how often a layer feeds forward
    std::uint32_t regular = 0;  ///< layers that are close to their kind
    double total = 0;           ///< description with all corrections: the smaller the better

    bool is_regular(std::size_t i) const noexcept { return distance[i] <= regular_share * static_cast<double>(kinds[kind[i]]->size()); }
};

/// Measures layerings of one sequence.
class Measure {
public:
    Measure(const SymbolTable& table, SymbolSpan sequence);

    /// Finds kinds for the spans and fills every other member in. `ends_count`: kernels before the first and behind the
    /// last span are left over; else only those of them that do not look like parts of layers.
    Layering measure(std::vector<Span> spans, bool ends_count) const;

    /// The same layers, but those that only mix tokens joined with those behind them that only feed forward, and those
    /// that are never without each other; nothing if there are none.
    std::optional<Layering> with_joined_halves(const Layering& layering) const;

    /// Gives whole layers that are not as their kind one of their own, though they are single: the first of a model
    /// that has its experts from the second layer on. Measures nothing anew.
    void split_off_odd_layers(Layering& layering) const;

    /// Kernels in spans that differ from all others before them: a cheap first look at how much repeats.
    std::size_t kernels_in_distinct(const std::vector<Span>& spans) const;

    /// False: no kernel is known to mix tokens or to feed forward, so a layer cannot be told from another repeat.
    bool knows_parts() const noexcept { return mixers_before_.back() >= 2 || forwards_before_.back() >= 2; }

    /// False where other parts are known: no language model, or its attention is a kernel of its own.
    bool knows_mixers() const noexcept { return mixers_before_.back() >= 2; }

    const SymbolTable& table() const noexcept { return table_; }
    SymbolSpan sequence() const noexcept { return sequence_; }
    SymbolSpan part(Span span) const noexcept { return sequence_.subspan(span.begin, span.size()); }
    std::uint64_t hash(Span span) const noexcept;

private:
    void find_kinds(Layering& layering) const;
    double saved_by_kind(const Layering& layering, SymbolSpan symbols, const std::vector<SymbolSpan>& others) const;
    double ends_left_over(const Layering& layering, bool all) const;
    void correct(Layering& layering) const;
    bool has_mixer(Span span) const noexcept { return mixers_before_[span.end] > mixers_before_[span.begin]; }
    bool has_forward(Span span) const noexcept { return forwards_before_[span.end] > forwards_before_[span.begin]; }
    bool only_mixes(Span span) const noexcept { return has_mixer(span) && !has_forward(span); }
    bool only_feeds_forward(Span span) const noexcept { return has_forward(span) && !has_mixer(span); }
    bool is_complete(Span span) const noexcept {
        return (mixers_before_.back() < 2 || has_mixer(span)) && (forwards_before_.back() < 2 || has_forward(span));
    }
    std::vector<bool> complete_kinds(const Layering& layering) const;
    std::vector<bool> kinds_with_gaps(const Layering& layering, const std::vector<bool>& complete) const;
    double completeness(const Layering& layering) const;
    bool unlike_mixers_meet(const Layering& layering) const;
    bool alternate_blocks(const Layering& layering) const;
    std::vector<bool> kinds_that_mix(const Layering& layering) const;
    bool are_halves(const Layering& layering) const;
    double overfull(const Layering& layering) const;
    double blocks_per_layer(const Layering& layering) const;

    const SymbolTable& table_;
    SymbolSpan sequence_;
    std::vector<std::uint64_t> prefix_hash_;
    std::vector<std::uint64_t> powers_;
    std::vector<Role> roles_;
    std::vector<std::uint32_t> mixers_before_;
    std::vector<std::uint32_t> forwards_before_;
    std::vector<std::uint32_t> networks_before_;  ///< feed-forward networks that began before each position
    std::vector<std::uint32_t> marked_;           ///< positions of kernels that mix or feed forward
    std::vector<std::uint32_t> turns_before_;     ///< per marked position: mixers followed by a feed-forward kernel up to there
};

}  // namespace segment
