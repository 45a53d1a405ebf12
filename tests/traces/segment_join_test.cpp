// Which parts of an eager recording make one forward pass.

#include "segment_join.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace adpipe;
using namespace adpipe::window;

namespace {

/// Segments as letters: equal letters launch the same kernels. Small letters are too small for a pass. '|' is a graph launch between two.
struct Recording : SegmentFacts {
    std::string letters;
    std::vector<Segment> segments;
    std::vector<std::pair<std::size_t, std::size_t>> ranges;  ///< first and last segment that a step's range holds
    Nanoseconds gap_after_b = 0;                              ///< behind a 'B'; 10 elsewhere

    explicit Recording(const std::string& text) {
        bool wait = false;
        for (const char letter : text) {
            if (letter == '|') {
                wait = false;
                continue;
            }
            Segment segment;
            segment.items.push_back({static_cast<std::uint32_t>(letters.size()), 0, 0});
            segment.after_wait = wait;
            segments.push_back(segment);
            letters += letter;
            wait = true;
        }
    }

    char letter(const Segment& segment) const { return letters[segment.items.front().kernel]; }
    bool is_pass(const Segment& segment) const override { return letter(segment) < 'a'; }
    std::uint64_t names(const Segment& segment, std::size_t) const override { return static_cast<unsigned char>(letter(segment)); }
    Nanoseconds gap(const Segment& left, const Segment&) const override { return letter(left) == 'B' ? gap_after_b : 10; }
    bool share_step_range(const Segment& left, const Segment& right) const override {
        return std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
            return range.first <= left.items.front().kernel && right.items.front().kernel <= range.second;
        });
    }

    std::string passes() const {
        std::string text;
        for (const auto& pass : join_segments(segments, *this)) {
            if (!text.empty()) text += ' ';
            for (const Item& item : pass) text += letters[item.kernel];
        }
        return text;
    }
};

}  // namespace

TEST_CASE("passes that nothing joins stay apart") {
    CHECK(Recording("A").passes() == "A");
    CHECK(Recording("AAA").passes() == "A A A");
    CHECK(Recording("AB").passes() == "A B");
    CHECK(Recording("A|B|A|B").passes() == "A B A B");
    CHECK(Recording("sAsAs").passes() == "A A");
    CHECK(Recording("").passes() == "");
}

TEST_CASE("parts that always follow each other are one pass") {
    Recording pairs("ABABAB");
    pairs.gap_after_b = 500;
    CHECK(pairs.passes() == "AB AB AB");
    Recording triples("ABCABC");
    CHECK(triples.passes() == "ABC ABC");
    Recording between_graphs("AB|AB|AB");
    CHECK(between_graphs.passes() == "AB AB AB");
}

TEST_CASE("where the recording begins inside a pass, the longer pause is the border") {
    Recording recording("BABABA");
    recording.gap_after_b = 500;
    CHECK(recording.passes() == "B AB AB A");
}

TEST_CASE("what sometimes comes alone is a pass of its own") { CHECK(Recording("PDPDDD").passes() == "P D P D D D"); }

TEST_CASE("a step's range joins its parts, but not the passes of a loop") {
    Recording once("AB");
    once.ranges = {{0, 1}};
    CHECK(once.passes() == "AB");
    Recording loop("ABCABC");
    loop.ranges = {{0, 5}};
    CHECK(loop.passes() == "ABC ABC");
    Recording small_parts("Aaab");
    small_parts.ranges = {{0, 3}};
    CHECK(small_parts.passes() == "Aaab");
    Recording many_waits("ALLLT");
    many_waits.ranges = {{0, 4}};
    CHECK(many_waits.passes() == "ALLLT");
}
