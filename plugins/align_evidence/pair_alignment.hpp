#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace adpipe::align {

/// A kernel as two recordings can be compared by it. Numbers are equal for equal things in both; 0: not known.
struct PairItem {
    std::uint32_t name = 0;
    std::uint32_t shape = 0;
    std::uint32_t kernel_class = 0;  ///< of the rules
    std::uint32_t family = 0;
    bool common = false;  ///< of a family in which kernels with other names do other work: element-wise ones, copies
    friend bool operator==(const PairItem&, const PairItem&) = default;
};

struct PairMatch {
    std::uint32_t other = 0;  ///< index into the second sequence
    float probability = 0;
};

/// What `first` may lack of `second` at no cost: it is cut off there.
struct PairEnds {
    bool begin = false;
    bool end = false;
};

/// Per item of `first`, which items of `second` it may stand for, in order, summed over all alignments of the two (forward and backward); what is
/// missing to 1 is "none". Empty where the sequences are too long or too different in length. Time and memory grow with the length times the band,
/// which is as wide as the sequences differ in length, and some hundred more.
std::vector<std::vector<PairMatch>> align_pairs(std::span<const PairItem> first, std::span<const PairItem> second, PairEnds ends = {});

}  // namespace adpipe::align
