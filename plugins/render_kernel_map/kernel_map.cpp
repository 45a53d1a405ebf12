#include "kernel_map.hpp"

#include "differences.hpp"

#include <algorithm>

namespace adpipe::kernel_map {

namespace {

/// How well two kernels stand for each other; 0: not at all.
double likeness(const Cell& a, const Cell& b) {
    double score = 0;
    if (a.full_name == b.full_name) score = 0.9;
    else if (same_kind(a, b)) score = 0.7;
    else if (a.category == b.category && a.category != KernelCategory::other) score = 0.5;
    else return 0;
    if (a.part == b.part) score += 0.2;
    return a.regular == b.regular ? score : 0.3 * score;  // what all layers run does not stand for what one of them runs
}

/// All ways to pair the kernels of two layers in order: the best totals of every beginning and of every rest.
class Alignment {
public:
    Alignment(const std::vector<Cell>& left, const std::vector<Cell>& right)
        : rows_{left.size()}, columns_{right.size()}, likeness_(rows_ * columns_), begin_((rows_ + 1) * (columns_ + 1)), rest_(begin_) {
        for (std::size_t i = 0; i < rows_; ++i) {
            for (std::size_t j = 0; j < columns_; ++j) likeness_[i * columns_ + j] = likeness(left[i], right[j]);
        }
        for (std::size_t i = 0; i <= rows_; ++i) {
            for (std::size_t j = 0; j <= columns_; ++j) {
                double& here = at(begin_, i, j);
                if (i > 0) here = std::max(here, at(begin_, i - 1, j));
                if (j > 0) here = std::max(here, at(begin_, i, j - 1));
                if (i > 0 && j > 0) here = std::max(here, at(begin_, i - 1, j - 1) + pair(i - 1, j - 1));
            }
        }
        for (std::size_t i = rows_ + 1; i-- > 0;) {
            for (std::size_t j = columns_ + 1; j-- > 0;) {
                double& here = at(rest_, i, j);
                if (i < rows_) here = std::max(here, at(rest_, i + 1, j));
                if (j < columns_) here = std::max(here, at(rest_, i, j + 1));
                if (i < rows_ && j < columns_) here = std::max(here, at(rest_, i + 1, j + 1) + pair(i, j));
            }
        }
    }

    std::vector<Row> rows() const {
        std::vector<Row> rows;
        std::size_t i = 0;
        std::size_t j = 0;
        while (i < rows_ || j < columns_) {
            Row row;
            const bool pairs = i < rows_ && j < columns_ && pair(i, j) > 0 &&
                               at(rest_, i, j) <= at(rest_, i + 1, j + 1) + pair(i, j) + epsilon;
            const bool left_alone = !pairs && i < rows_ && (j == columns_ || at(rest_, i, j) <= at(rest_, i + 1, j) + epsilon);
            if (pairs) row.certain = no_rival(i, j);
            if (pairs || left_alone) row.left = i++;
            if (pairs || !left_alone) row.right = j++;
            rows.push_back(std::move(row));
        }
        return rows;
    }

private:
    static constexpr double epsilon = 1e-9;
    /// Two alignments whose totals differ by less are as good as each other.
    static constexpr double margin = 0.05;

    double& at(std::vector<double>& table, std::size_t i, std::size_t j) const { return table[i * (columns_ + 1) + j]; }
    double at(const std::vector<double>& table, std::size_t i, std::size_t j) const { return table[i * (columns_ + 1) + j]; }
    double pair(std::size_t i, std::size_t j) const { return likeness_[i * columns_ + j]; }

    /// The best total of an alignment in which `i` pairs with another than `j`, or with none, is clearly worse.
    bool no_rival(std::size_t i, std::size_t j) const {
        double rival = 0;
        for (std::size_t other = 0; other <= columns_; ++other) {
            rival = std::max(rival, at(begin_, i, other) + at(rest_, i + 1, other));
            if (other < columns_ && other != j && pair(i, other) > 0) {
                rival = std::max(rival, at(begin_, i, other) + pair(i, other) + at(rest_, i + 1, other + 1));
            }
        }
        return rival < at(rest_, 0, 0) - margin;
    }

    std::size_t rows_;
    std::size_t columns_;
    std::vector<double> likeness_;
    std::vector<double> begin_;  ///< of the first i and the first j kernels
    std::vector<double> rest_;   ///< of all kernels from i and from j
};

}  // namespace

std::string_view verdict_text(Verdict verdict) noexcept {
    switch (verdict) {
        case Verdict::same: return "same";
        case Verdict::launch: return "other launch";
        case Verdict::parameters: return "other parameters";
        case Verdict::other_kernel: return "other kernel";
        case Verdict::only_left: return "only left";
        case Verdict::only_right: return "only right";
    }
    return {};
}

KernelMap make_map(Side left, Side right) {
    KernelMap map;
    map.rows = Alignment(left.cells, right.cells).rows();
    for (Row& row : map.rows) {
        if (row.left == no_cell) row.verdict = Verdict::only_right;
        else if (row.right == no_cell) row.verdict = Verdict::only_left;
        else {
            row.verdict = compare(left.cells[row.left], right.cells[row.right]);
            row.differences = differences(left.cells[row.left], right.cells[row.right]);
        }
    }
    map.left = std::move(left);
    map.right = std::move(right);
    return map;
}

}  // namespace adpipe::kernel_map
