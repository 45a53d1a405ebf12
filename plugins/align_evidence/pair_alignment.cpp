#include "pair_alignment.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace adpipe::align {

namespace {

// Likelihoods relative to kernels that have nothing to do with each other.
constexpr double same_kernel = 600;  // name and launch shape
constexpr double same_name = 120;
constexpr double same_class = 4;  // another tile size of the same GEMM
constexpr double same_family = 0.5;
constexpr double gap = 0.05;  // a kernel that only one of the two has
constexpr std::size_t least_band = 256;
constexpr std::size_t most_cells = 24'000'000;
constexpr float least_probability = 1e-3F;

double likelihood(const PairItem& a, const PairItem& b) {
    if (a.name != 0 && a.name == b.name) return a.shape != 0 && a.shape == b.shape ? same_kernel : same_name;
    if (a.common || b.common) return 0;
    if (a.kernel_class != 0 && a.kernel_class == b.kernel_class) return same_class;
    return a.family != 0 && a.family == b.family ? same_family : 0;
}

/// Sums over all alignments, row by row in a band around the diagonal; each row scaled to a largest value of 1.
class PairSums {
public:
    PairSums(std::span<const PairItem> first, std::span<const PairItem> second, PairEnds ends) : a_(first), b_(second), ends_(ends) {
        const std::size_t difference = a_.size() > b_.size() ? a_.size() - b_.size() : b_.size() - a_.size();
        half_ = std::max(least_band, difference + least_band / 2);
        width_ = std::min(b_.size() + 1, 2 * half_ + 1);
    }

    bool fits() const { return !a_.empty() && !b_.empty() && (a_.size() + 1) <= most_cells / width_; }

    std::vector<std::vector<PairMatch>> run() {
        go_forward();
        return go_backward();
    }

private:
    /// First column of the band in a row; columns are numbers of items of `b_` that are behind it.
    std::size_t begin(std::size_t row) const {
        const std::size_t middle = row * b_.size() / a_.size();
        return std::min(middle > half_ ? middle - half_ : 0, b_.size() + 1 - width_);
    }
    float& cell(std::size_t row, std::size_t column) { return forward_[row * width_ + (column - begin(row))]; }
    double value(const std::vector<float>& cells, std::size_t row, std::size_t column, std::size_t offset) const {
        const std::size_t first = begin(row);
        return column < first || column >= first + width_ ? 0.0 : static_cast<double>(cells[offset + column - first]);
    }

    void go_forward() {
        forward_.assign((a_.size() + 1) * width_, 0.0F);
        std::vector<double> row(width_);
        for (std::size_t i = 0; i <= a_.size(); ++i) {
            const std::size_t first = begin(i);
            double largest = 0;
            for (std::size_t j = first; j < first + width_; ++j) {
                double sum = i == 0 && j == 0 ? 1.0 : 0.0;
                if (i > 0) sum += gap * value(forward_, i - 1, j, (i - 1) * width_);
                if (i > 0 && j > 0) sum += likelihood(a_[i - 1], b_[j - 1]) * value(forward_, i - 1, j - 1, (i - 1) * width_);
                if (j > first) sum += (i == 0 && ends_.begin ? 1.0 : gap) * row[j - 1 - first];
                row[j - first] = sum;
                largest = std::max(largest, sum);
            }
            if (largest == 0) return;  // no way through: everything behind stays 0
            for (std::size_t at = 0; at < width_; ++at) forward_[i * width_ + at] = static_cast<float>(row[at] / largest);
        }
    }

    std::vector<std::vector<PairMatch>> go_backward() {
        std::vector<std::vector<PairMatch>> matches(a_.size());
        std::vector<double> below(width_, 0.0), row(width_, 0.0);
        below[b_.size() - begin(a_.size())] = 1;
        fill_gaps(below, a_.size());
        for (std::size_t i = a_.size(); i-- > 0;) {
            const std::size_t first = begin(i), first_below = begin(i + 1);
            const auto under = [&](std::size_t column) {
                return column < first_below || column >= first_below + width_ ? 0.0 : below[column - first_below];
            };
            double total = 0, largest = 0;
            std::vector<PairMatch>& of_item = matches[i];
            for (std::size_t j = first + width_; j-- > first;) {
                const double skip = gap * under(j);
                const double take = j < b_.size() ? likelihood(a_[i], b_[j]) * under(j + 1) : 0;
                const double before = cell(i, j);
                if (take > 0 && before > 0) of_item.push_back({static_cast<std::uint32_t>(j), static_cast<float>(before * take)});
                total += before * (skip + take);
                row[j - first] = skip + take + (j + 1 < first + width_ ? gap * row[j + 1 - first] : 0);
                largest = std::max(largest, row[j - first]);
            }
            if (total <= 0 || largest <= 0) return std::vector<std::vector<PairMatch>>(a_.size());
            for (PairMatch& match : of_item) match.probability = static_cast<float>(static_cast<double>(match.probability) / total);
            std::erase_if(of_item, [](const PairMatch& match) { return match.probability < least_probability; });
            for (double& sum : row) sum /= largest;
            std::swap(below, row);
        }
        return matches;
    }

    /// In the last row only gaps lead to the end.
    void fill_gaps(std::vector<double>& row, std::size_t i) const {
        for (std::size_t j = b_.size() - begin(i); j-- > 0;) row[j] = (ends_.end ? 1.0 : gap) * row[j + 1];
    }

    std::span<const PairItem> a_, b_;
    PairEnds ends_;
    std::size_t half_ = 0, width_ = 0;
    std::vector<float> forward_;
};

}  // namespace

std::vector<std::vector<PairMatch>> align_pairs(std::span<const PairItem> first, std::span<const PairItem> second, PairEnds ends) {
    PairSums sums(first, second, ends);
    if (!sums.fits()) return {};
    return sums.run();
}

}  // namespace adpipe::align
