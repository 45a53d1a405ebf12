#include "segment_join.hpp"

#include <limits>
#include <map>
#include <utility>

namespace adpipe::window {

namespace {

/// Which segments follow which, over the whole recording. A segment is known by the names of its kernels.
class Succession {
public:
    Succession(const std::vector<Segment>& segments, const SegmentFacts& facts) {
        for (const Segment& segment : segments) names_.push_back(facts.names(segment, std::numeric_limits<std::size_t>::max()));
        for (std::size_t i = 1; i < segments.size(); ++i) {
            if (!segments[i].after_wait) continue;
            Pair& pair = pairs_[{names_[i - 1], names_[i]}];
            ++pair.count;
            pair.gap += facts.gap(segments[i - 1], segments[i]);
            ++followed_[names_[i - 1]];
            ++preceded_[names_[i]];
        }
    }

    /// True if the two always come together, several times.
    bool always_together(std::size_t left, std::size_t right) const {
        const Pair* const pair = find(names_[left], names_[right]);
        if (pair == nullptr) return false;
        // In a row A B A B either may be the beginning: the GPU waits longer between two passes than within one.
        const Pair* const reverse = find(names_[right], names_[left]);
        return reverse == nullptr || pair->gap / pair->count <= reverse->gap / reverse->count;
    }

private:
    struct Pair {
        Nanoseconds count = 0;
        Nanoseconds gap = 0;
    };

    const Pair* find(std::uint64_t left, std::uint64_t right) const {
        const auto found = pairs_.find({left, right});
        if (found == pairs_.end() || found->second.count < 2) return nullptr;
        const bool always = followed_.at(left) == found->second.count && preceded_.at(right) == found->second.count;
        return always ? &found->second : nullptr;
    }

    std::vector<std::uint64_t> names_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, Pair> pairs_;
    std::map<std::uint64_t, Nanoseconds> followed_, preceded_;
};

/// A segment of a pass, and whether a range says that it goes on from the one before.
struct Part {
    const Segment* segment;
    bool in_range;
};

/// Takes small segments off both ends that no range holds: host work around a pass, such as sampling.
void trim(std::vector<Part>& pass, const SegmentFacts& facts) {
    while (!pass.empty() && !pass.back().in_range && !facts.is_pass(*pass.back().segment)) pass.pop_back();
    std::size_t first = 0;
    const auto is_loose = [&](std::size_t i) { return i + 1 == pass.size() || !pass[i + 1].in_range; };
    while (first < pass.size() && is_loose(first) && !facts.is_pass(*pass[first].segment)) ++first;
    pass.erase(pass.begin(), pass.begin() + static_cast<std::ptrdiff_t>(first));
}

std::vector<Item> items_of(const std::vector<Part>& pass) {
    std::vector<Item> items;
    for (const Part& part : pass) items.insert(items.end(), part.segment->items.begin(), part.segment->items.end());
    return items;
}

}  // namespace

std::vector<std::vector<Item>> join_segments(std::vector<Segment> segments, const SegmentFacts& facts) {
    constexpr std::size_t names_of_a_beginning = 3;
    const Succession succession(segments, facts);
    std::vector<std::vector<Part>> passes;
    std::uint64_t beginning = 0;  // of the pass: the first names of its first large segment
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const std::uint64_t names = facts.names(segments[i], names_of_a_beginning);
        const bool may_join = segments[i].after_wait && names != beginning;
        const bool in_range = may_join && facts.share_step_range(segments[i - 1], segments[i]);
        if (!in_range && !(may_join && succession.always_together(i - 1, i))) {
            passes.emplace_back();
            beginning = 0;
        }
        if (beginning == 0 && facts.is_pass(segments[i])) beginning = names;
        passes.back().push_back({&segments[i], in_range});
    }
    std::vector<std::vector<Item>> joined;
    for (std::vector<Part>& pass : passes) {
        trim(pass, facts);
        if (!pass.empty()) joined.push_back(items_of(pass));
    }
    return joined;
}

}  // namespace adpipe::window
