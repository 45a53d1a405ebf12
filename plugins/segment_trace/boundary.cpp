#include "boundary.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

namespace segment {

namespace {

/// Where the positions of the commonest kind lie in another run: before position r of the kind lie the first `hi[r]`
/// kernels of the run.
using Positions = std::vector<std::uint32_t>;

constexpr double lacking_cost = 0.5;  ///< of a kernel that the first or the last layer would lack
constexpr double clearly_more = 1.5;  ///< kernels that match
constexpr double slack = 2;           ///< kernels: a convention may cost so much

class Placer {
public:
    Placer(const Measure& measure, const Layering& cut)
        : measure_{measure}, table_{measure.table()}, cut_{cut}, unit_{cut.kinds.front()->symbols()} {
        unit_has_norm_ = std::any_of(unit_.begin(), unit_.end(),
                                     [&](Symbol s) { return table_[s].category == adpipe::KernelCategory::norm; });
    }

    Boundaries place() {
        match_ends();
        choose();
        Boundaries result;
        result.preference = preference_;
        result.first = first_symbol(boundary_);
        collect(result);
        return result;
    }

private:
    std::size_t unit_size() const { return unit_.size(); }
    Symbol first_symbol(std::size_t r) const { return r < unit_.size() ? unit_[r] : unit_[0]; }

    const Positions& positions(Span span) {
        const auto [it, is_new] = positions_.emplace(measure_.hash(span), Positions{});
        if (is_new) it->second = positions_in(measure_.part(span));
        return it->second;
    }

    Positions positions_in(SymbolSpan run) const {
        Positions at(unit_.size() + 1, static_cast<std::uint32_t>(run.size()));
        if (std::equal(run.begin(), run.end(), unit_.begin(), unit_.end())) {
            for (std::uint32_t r = 0; r <= unit_.size(); ++r) at[r] = r;
            return at;
        }
        const std::vector<std::int32_t> partner = align(table_, unit_, run);
        for (std::size_t r = unit_.size(); r-- > 0;) at[r] = partner[r] >= 0 ? static_cast<std::uint32_t>(partner[r]) : at[r + 1];
        return at;
    }

    /// Best match at one end of the pass for every position of the kind.
    struct End {
        std::vector<double> score;
        std::vector<double> value;        ///< score, less for what the layer would lack
        std::vector<std::size_t> length;  ///< of the text that belongs to the layer
        std::vector<std::size_t> wanted;  ///< kernels of the layer's part
    };

    End empty_end() const {
        return {std::vector<double>(unit_size() + 1, -1e9), std::vector<double>(unit_size() + 1, -1e9),
                std::vector<std::size_t>(unit_size() + 1), std::vector<std::size_t>(unit_size() + 1)};
    }

    void match_end(SymbolSpan run, const Positions& at, SymbolSpan text, bool backwards, End& end) const {
        const PrefixMatch match = match_prefixes(table_, run, text, backwards);
        for (std::size_t r = 0; r <= unit_size(); ++r) {
            const std::size_t wanted = backwards ? run.size() - at[r] : at[r];
            const double lacks = std::max(0.0, static_cast<double>(wanted) - match.score[wanted]);
            const double value = match.score[wanted] - lacking_cost * lacks;
            if (value <= end.value[r] + 1e-9) continue;
            end.score[r] = match.score[wanted];
            end.value[r] = value;
            end.length[r] = match.length[wanted];
            end.wanted[r] = wanted;
        }
    }

    void match_ends() {
        head_ = empty_end();
        tail_ = empty_end();
        const SymbolSpan sequence = measure_.sequence();
        const SymbolSpan before = sequence.first(cut_.spans.front().begin);
        const SymbolSpan behind = sequence.subspan(cut_.spans.back().end);
        const auto match_both = [&](SymbolSpan run, const Positions& at) {
            match_end(run, at, before, true, head_);
            match_end(run, at, behind, false, tail_);
        };
        for (const auto& kind : cut_.kinds) match_both(kind->symbols(), positions_in(kind->symbols()));
        // The first and the last layer may be of a kind that occurs once.
        match_both(measure_.part(cut_.spans.front()), positions(cut_.spans.front()));
        match_both(measure_.part(cut_.spans.back()), positions(cut_.spans.back()));
    }

    bool head_found(std::size_t r) const { return head_.score[r] >= 0.35 * static_cast<double>(head_.wanted[r]); }
    bool tail_found(std::size_t r) const { return tail_.wanted[r] > 0 && tail_.score[r] >= 0.5 * static_cast<double>(tail_.wanted[r]); }

    /// Kernels of the first and the last layer that find their place if layers begin at position r.
    double gain(std::size_t r) const {
        const auto size = static_cast<double>(unit_size());
        const auto part = static_cast<double>(r);
        if (r == unit_size()) return size + (tail_found(r) ? tail_.value[r] : 0);
        return (head_found(r) ? head_.value[r] + part : 0) + (tail_found(r) ? tail_.value[r] + size - part : 0);
    }

    const SymbolInfo& info_at(std::size_t r) const { return table_[r < unit_.size() ? unit_[r] : unit_[r - unit_.size()]]; }
    /// Where no name of a norm is known, a kernel of which nothing is known is taken for one if it comes several times
    /// in the layer.
    bool may_be_norm(const SymbolInfo& info) const {
        if (unit_has_norm_ || info.category != adpipe::KernelCategory::other) return info.category == adpipe::KernelCategory::norm;
        return std::count_if(unit_.begin(), unit_.end(), [&](Symbol s) { return table_[s].alike == info.alike; }) >= 2;
    }
    bool is_addition(std::size_t r) const { return table_[unit_[r]].is_addition; }

    /// How well position r keeps to the rule that a layer begins with the norm that follows the residual sum.
    double convention(std::size_t r) const {
        const SymbolInfo& first = info_at(r);
        const bool norm = may_be_norm(first);
        if (norm && is_addition(r - 1)) return 5;
        if (norm && first.adds_and_norms) return 4.5;
        const bool scaled = r >= 2 && info_at(r - 1).category == adpipe::KernelCategory::elementwise && is_addition(r - 2);
        if (norm && scaled) return 4.2;  // the sum is scaled before it is handed on
        if (is_addition(r - 1)) return 4;
        return norm ? 3 : 0;
    }

    void choose() {
        double best = 0;
        for (std::size_t r = 1; r <= unit_size(); ++r) best = std::max(best, gain(r));
        preference_ = -1;
        for (std::size_t r = 1; r <= unit_size(); ++r) {
            if (gain(r) < best - slack || convention(r) < preference_) continue;
            const bool clearly_better = preference_ >= 0 && gain(r) > gain(boundary_) + slack / 2;
            if (convention(r) == preference_ && !clearly_better) continue;  // the earliest
            preference_ = convention(r);
            boundary_ = r;
        }
    }

    /// In a piece: where the layer before ends and the next one begins, from the beginning of the piece.
    struct Gap {
        std::uint32_t end;
        std::uint32_t begin;
    };

    Gap gap_in(Span piece) {
        if (boundary_ == unit_size()) return {piece.size(), piece.size()};
        const std::uint32_t at = positions(piece)[boundary_];
        const SymbolSpan run = measure_.part(piece);
        std::vector<std::size_t> edges;  // kernels that begin or end a pass
        for (std::size_t i = 0; i < run.size(); ++i) {
            if (table_[run[i]].opens_or_ends_pass() && common_.count(run[i]) == 0) edges.push_back(i);
        }
        if (edges.empty()) return {at, at};
        // One pass ends and another begins inside of the piece. An embedding may also be a part of the first layer, as
        // of a position bias: then what lies before it resembles a layer too.
        const Edge end = best_end(run.first(edges.front()), false);
        Edge begin = best_end(run.subspan(edges.back() + 1), true);
        for (std::size_t e = edges.size() - 1; e-- > 0;) {
            const Edge earlier = best_end(run.subspan(edges[e] + 1), true);
            if (earlier.value > begin.value + clearly_more) begin = earlier;
        }
        return {end.length, static_cast<std::uint32_t>(run.size()) - begin.length};
    }

    struct Edge {
        double value = -1e9;
        std::uint32_t length = 0;
    };

    /// How many kernels at the beginning (or end) of `text` belong to the layer whose other part lies outside.
    Edge best_end(SymbolSpan text, bool backwards) const {
        Edge best;
        for (const auto& kind : cut_.kinds) {
            const Positions at = positions_in(kind->symbols());
            const PrefixMatch match = match_prefixes(table_, kind->symbols(), text, backwards);
            const std::size_t wanted = backwards ? kind->size() - at[boundary_] : at[boundary_];
            const double value = match.score[wanted] - 0.3 * static_cast<double>(wanted);
            if (value > best.value) best = {value, static_cast<std::uint32_t>(match.length[wanted])};
        }
        return best;
    }

    void find_common() {
        std::vector<std::uint32_t> members(cut_.kinds.size());
        for (const std::uint32_t k : cut_.kind) ++members[k];
        for (std::size_t k = 0; k < cut_.kinds.size(); ++k) {
            if (k > 0 && members[k] < 3) continue;
            common_.insert(cut_.kinds[k]->symbols().begin(), cut_.kinds[k]->symbols().end());
        }
    }

    void collect(Boundaries& result) {
        find_common();
        std::uint32_t stack = 0;
        const auto add = [&](std::int64_t begin, std::uint32_t end) {
            if (begin < 0 || end <= begin) return;
            result.spans.push_back({static_cast<std::uint32_t>(begin), end});
            result.stack.push_back(stack);
        };
        const std::uint32_t first_anchor = cut_.spans.front().begin;
        std::int64_t begin = -1;
        if (boundary_ == unit_size()) begin = first_anchor;
        else if (head_found(boundary_)) begin = first_anchor - static_cast<std::int64_t>(head_.length[boundary_]);
        for (const Span& piece : cut_.spans) {
            const Gap gap = gap_in(piece);
            add(begin, piece.begin + gap.end);
            if (gap.begin > gap.end) ++stack;
            begin = piece.begin + std::max(gap.begin, gap.end);
        }
        if (tail_found(boundary_)) add(begin, cut_.spans.back().end + static_cast<std::uint32_t>(tail_.length[boundary_]));
    }

    const Measure& measure_;
    const SymbolTable& table_;
    const Layering& cut_;
    const Symbols& unit_;
    std::unordered_map<std::uint64_t, Positions> positions_;
    std::unordered_set<Symbol> common_;
    End head_;
    End tail_;
    bool unit_has_norm_ = false;
    std::size_t boundary_ = 1;
    double preference_ = 0;
};

}  // namespace

Boundaries place_boundaries(const Measure& measure, const Layering& cut) { return Placer{measure, cut}.place(); }

}  // namespace segment
