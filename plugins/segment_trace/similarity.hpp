#pragma once

// How alike two runs of kernels are, and where they correspond.

#include "symbols.hpp"

#include <cstdint>
#include <vector>

namespace segment {

/// A run of symbols prepared for comparisons with many others (bit-parallel longest common subsequence).
class CommonSubsequence {
public:
    /// `symbols`: more than any symbol that occurs.
    CommonSubsequence(SymbolSpan pattern, std::size_t symbols);
    /// Length of the longest common subsequence of the pattern and `text`.
    std::size_t length(SymbolSpan text) const;
    std::size_t size() const noexcept { return pattern_size_; }

private:
    std::size_t pattern_size_;
    std::size_t words_;
    std::vector<std::uint32_t> slots_;  ///< by symbol; 0: not in the pattern
    std::vector<std::uint64_t> masks_;  ///< by slot, `words_` each
    mutable std::vector<std::uint64_t> row_;
};

/// One run, comparable by exact names and by names without their numbers.
class Unit {
public:
    Unit(const SymbolTable& table, SymbolSpan symbols);
    const Symbols& symbols() const noexcept { return symbols_; }
    std::size_t size() const noexcept { return symbols_.size(); }
    /// What it takes to describe `other`, given this unit, in kernels: 1 for one more, 0.4 for one less, 0.3 for
    /// another instance of the same template, and a little for saying where.
    double distance(SymbolSpan other) const { return described(other, 0.4); }
    /// The same for a run that is as regular as this one: what it lacks was left out on purpose, and is told in one
    /// word.
    double novelty(SymbolSpan other) const { return described(other, 0.1); }
    /// 2 × common / (both lengths), by names without numbers.
    double dice(const Unit& other) const;
    /// Share of the other's kernels that are in this unit, in the same order, by names without numbers.
    double holds(const Unit& other) const;

private:
    double described(SymbolSpan other, double missing_cost) const;
    Symbols alike_symbols(SymbolSpan symbols) const;
    bool lacks_one_run(const Symbols& other) const;
    const SymbolTable& table_;
    Symbols symbols_;
    Symbols alike_symbols_;
    CommonSubsequence exact_;
    CommonSubsequence alike_;
};

/// For each position of `a` its partner in `b`, or -1; an order-preserving pairing of greatest total likeness.
std::vector<std::int32_t> align(const SymbolTable& table, SymbolSpan a, SymbolSpan b);

/// How well the first r kernels of a unit stand at the beginning of a text, for every r.
struct PrefixMatch {
    std::vector<double> score;        ///< likeness of the pairs, less 0.3 for every kernel without a partner
    std::vector<std::size_t> length;  ///< of the text that they take
};
/// `backwards`: the last r kernels at the end of the text.
PrefixMatch match_prefixes(const SymbolTable& table, SymbolSpan unit, SymbolSpan text, bool backwards);

}  // namespace segment
