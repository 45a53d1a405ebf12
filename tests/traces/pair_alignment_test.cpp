// Two recordings of the same kernels laid side by side.

#include "pair_alignment.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace adpipe::align;

namespace {

/// A kernel per letter; capitals are other kernels of the class of the small letter ("g" and "G": two tile sizes).
std::vector<PairItem> pair_items(std::string_view letters, bool shapes = true) {
    std::vector<PairItem> items;
    for (const char c : letters) {
        PairItem item;
        item.name = static_cast<std::uint32_t>(c);
        item.shape = shapes ? 1 : 0;
        item.kernel_class = static_cast<std::uint32_t>(c | 0x20);
        items.push_back(item);
    }
    return items;
}

/// Per letter of `first` the index that it surely stands for, '.' if that is open; indices above 9 go on with letters.
std::string partners(std::string_view first, std::string_view second, PairEnds ends = {}) {
    std::string text;
    const auto all = align_pairs(pair_items(first), pair_items(second), ends);
    REQUIRE(all.size() == first.size());
    for (const auto& matches : all) {
        char found = '.';
        float total = 0;
        for (const PairMatch& match : matches) {
            total += match.probability;
            if (match.probability > 0.95F) found = static_cast<char>(match.other < 10 ? '0' + match.other : 'a' + match.other - 10);
        }
        CHECK(total < 1.001F);
        text += found;
    }
    return text;
}

}  // namespace

TEST_CASE("equal sequences stand for each other") { CHECK(partners("abcabcabd", "abcabcabd") == "012345678"); }

TEST_CASE("what only one of the two has stands for nothing") {
    CHECK(partners("abxcd", "abcd") == "01.23");
    CHECK(partners("abcd", "abxcd") == "0134");
}

TEST_CASE("another kernel of the class may stand in a kernel's place, one of another class may not") {
    CHECK(partners("agbgc", "aGbGc") == "01234");
    CHECK(partners("axbyc", "apbqc") == "0.2.4");
}

TEST_CASE("which of equal neighbours is missing stays open") {
    CHECK(partners("baac", "baaac") == "0..4");
    // Whole layers that repeat: one is missing, nobody can say which.
    CHECK(partners("sxyzxyze", "sxyzxyzxyze") == "0......a");
}

TEST_CASE("a part of a pass is laid where it was cut off") {
    CHECK(partners("xyzxyze", "sxyzxyzxyze", {.begin = true, .end = false}) == "456789a");
    CHECK(partners("sxyzxyz", "sxyzxyzxyze", {.begin = false, .end = true}) == "0123456");
}

TEST_CASE("sequences that have nothing in common have no matches") {
    for (const auto& matches : align_pairs(pair_items("aaa"), pair_items("bbb"))) CHECK(matches.empty());
    CHECK(align_pairs({}, pair_items("abc")).empty());
    CHECK(align_pairs(pair_items("abc"), {}).empty());
}

TEST_CASE("long sequences with a hole in the middle, within the band") {
    std::string whole, holed;
    for (int layer = 0; layer < 300; ++layer) whole += static_cast<char>('a' + layer % 26), whole += "xyz";
    holed = whole.substr(0, 500) + whole.substr(540);
    const auto all = align_pairs(pair_items(holed), pair_items(whole));
    REQUIRE(all.size() == holed.size());
    std::size_t right = 0, wrong = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (const PairMatch& match : all[i]) {
            if (match.probability > 0.95F) ++(match.other == (i < 500 ? i : i + 40) ? right : wrong);
        }
    }
    CHECK(right > holed.size() - 30);  // beside the hole several readings are as good
    CHECK(wrong == 0);
}
