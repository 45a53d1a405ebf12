#include "similarity.hpp"

#include <algorithm>
#include <bit>

namespace segment {

CommonSubsequence::CommonSubsequence(SymbolSpan pattern, std::size_t symbols)
    : pattern_size_{pattern.size()}, words_{(pattern.size() + 63) / 64}, slots_(symbols, 0), masks_(words_), row_(words_) {
    std::uint32_t used = 0;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        std::uint32_t& slot = slots_[pattern[i]];
        if (slot == 0) {
            slot = ++used;
            masks_.resize((used + 1) * words_);
        }
        masks_[slot * words_ + i / 64] |= std::uint64_t{1} << (i % 64);
    }
}

// Row by row of the classic table, 64 columns a word: a zero bit is a step by one (Hyyrö 2004).
std::size_t CommonSubsequence::length(SymbolSpan text) const {
    if (words_ == 0) return 0;
    std::fill(row_.begin(), row_.end(), ~std::uint64_t{0});
    for (const Symbol symbol : text) {
        const std::uint32_t slot = slots_[symbol];
        if (slot == 0) continue;
        const std::uint64_t* mask = masks_.data() + slot * words_;
        std::uint64_t carry = 0;
        for (std::size_t w = 0; w < words_; ++w) {
            const std::uint64_t row = row_[w];
            const std::uint64_t matches = row & mask[w];
            const std::uint64_t sum = row + matches;
            const std::uint64_t with_carry = sum + carry;
            carry = static_cast<std::uint64_t>(sum < row) | static_cast<std::uint64_t>(with_carry < sum);
            row_[w] = with_carry | (row & ~mask[w]);
        }
    }
    std::size_t steps = 0;
    for (std::size_t w = 0; w < words_; ++w) {
        std::uint64_t zeros = ~row_[w];
        if (w + 1 == words_ && pattern_size_ % 64 != 0) zeros &= (std::uint64_t{1} << (pattern_size_ % 64)) - 1;
        steps += static_cast<std::size_t>(std::popcount(zeros));
    }
    return steps;
}

namespace {

Symbols alike_of(const SymbolTable& table, SymbolSpan symbols) {
    Symbols out;
    out.reserve(symbols.size());
    for (const Symbol symbol : symbols) out.push_back(table[symbol].alike);
    return out;
}

constexpr double gap_cost = 0.3;
constexpr double longer_gap_cost = 0.1;  ///< of each further kernel: what a layer does first of all is one run

}  // namespace

Unit::Unit(const SymbolTable& table, SymbolSpan symbols)
    : table_{table},
      symbols_(symbols.begin(), symbols.end()),
      alike_symbols_(alike_of(table, symbols)),
      exact_{symbols, table.size()},
      alike_{alike_symbols_, table.size()} {}

Symbols Unit::alike_symbols(SymbolSpan symbols) const { return alike_of(table_, symbols); }

/// True if `other` is this unit without one run of kernels from its middle.
bool Unit::lacks_one_run(const Symbols& other) const {
    if (other.size() >= size()) return false;
    std::size_t same = 0;
    while (same < other.size() && other[same] == alike_symbols_[same]) ++same;
    std::size_t behind = 0;
    while (same + behind < other.size() && other[other.size() - 1 - behind] == alike_symbols_[size() - 1 - behind]) ++behind;
    return same > 0 && behind > 0 && same + behind == other.size();
}

double Unit::described(SymbolSpan other, double missing_cost) const {
    if (std::equal(other.begin(), other.end(), symbols_.begin(), symbols_.end())) return 0;
    const std::size_t exact = exact_.length(other);
    const Symbols alike_other = alike_symbols(other);
    const std::size_t alike = std::max(exact, alike_.length(alike_other));
    const bool gaps = alike < std::max(other.size(), size());
    double missing = missing_cost * static_cast<double>(size() - alike);
    if (missing > 1 && lacks_one_run(alike_other)) missing = 1;  // a block that the layer does without
    return static_cast<double>(other.size() - alike) + missing + 0.3 * static_cast<double>(alike - exact) + (gaps ? 1.0 : 0.3);
}

double Unit::dice(const Unit& other) const {
    const std::size_t both = size() + other.size();
    if (both == 0) return 1;
    return 2.0 * static_cast<double>(alike_.length(other.alike_symbols_)) / static_cast<double>(both);
}

double Unit::holds(const Unit& other) const {
    if (other.size() == 0) return 1;
    return static_cast<double>(alike_.length(other.alike_symbols_)) / static_cast<double>(other.size());
}

std::vector<std::int32_t> align(const SymbolTable& table, SymbolSpan a, SymbolSpan b) {
    const std::size_t columns = b.size() + 1;
    std::vector<float> best((a.size() + 1) * columns, 0.0F);
    for (std::size_t i = a.size(); i-- > 0;) {
        for (std::size_t j = b.size(); j-- > 0;) {
            float value = std::max(best[(i + 1) * columns + j], best[i * columns + j + 1]);
            const auto likeness = static_cast<float>(table.likeness(a[i], b[j]));
            if (likeness > 0) value = std::max(value, best[(i + 1) * columns + j + 1] + likeness);
            best[i * columns + j] = value;
        }
    }
    std::vector<std::int32_t> partner(a.size(), -1);
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const auto likeness = static_cast<float>(table.likeness(a[i], b[j]));
        if (likeness > 0 && best[i * columns + j] == best[(i + 1) * columns + j + 1] + likeness) {
            partner[i++] = static_cast<std::int32_t>(j++);
        } else if (best[i * columns + j] == best[(i + 1) * columns + j]) {
            ++i;
        } else {
            ++j;
        }
    }
    return partner;
}

PrefixMatch match_prefixes(const SymbolTable& table, SymbolSpan unit, SymbolSpan text, bool backwards) {
    const std::size_t length = std::min(text.size(), 2 * unit.size() + 8);
    const auto unit_at = [&](std::size_t i) { return backwards ? unit[unit.size() - 1 - i] : unit[i]; };
    const auto text_at = [&](std::size_t j) { return backwards ? text[text.size() - 1 - j] : text[j]; };
    std::vector<double> above(length + 1);
    std::vector<double> row(length + 1);
    std::vector<double> inserted(length + 1);  // best score that ends with kernels of the text without a partner
    for (std::size_t j = 1; j <= length; ++j) above[j] = -gap_cost - longer_gap_cost * static_cast<double>(j - 1);
    PrefixMatch match{{0.0}, {0}};
    for (std::size_t i = 1; i <= unit.size(); ++i) {
        row[0] = above[0] - gap_cost;
        inserted[0] = -1e9;
        std::size_t best = 0;
        for (std::size_t j = 1; j <= length; ++j) {
            inserted[j] = std::max(row[j - 1] - gap_cost, inserted[j - 1] - longer_gap_cost);
            row[j] = std::max(above[j] - gap_cost, inserted[j]);
            const double likeness = table.likeness(unit_at(i - 1), text_at(j - 1));
            if (likeness > 0) row[j] = std::max(row[j], above[j - 1] + likeness);
            if (row[j] > row[best]) best = j;
        }
        match.score.push_back(row[best]);
        match.length.push_back(best);
        std::swap(above, row);
    }
    return match;
}

}  // namespace segment
