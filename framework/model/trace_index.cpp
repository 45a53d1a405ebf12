#include <adpipe/model/trace_index.hpp>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace adpipe {

namespace {

std::vector<std::uint32_t> numbered(std::size_t count) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    return order;
}

}  // namespace

RangeIndex::RangeIndex(const Annotations& ranges) : ranges_(ranges), parent_(ranges.size(), none) {
    order_ = numbered(ranges.size());
    const auto on_gpu = [&](std::uint32_t r) { return ranges.source[r] == Annotations::Source::gpu_user; };
    order_.erase(std::remove_if(order_.begin(), order_.end(), on_gpu), order_.end());
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::tuple(ranges.thread[a], ranges.start[a], -ranges.end[a], a) <
               std::tuple(ranges.thread[b], ranges.start[b], -ranges.end[b], b);
    });
    std::vector<std::uint32_t> open;
    for (std::size_t i = 0; i < order_.size(); ++i) {
        const std::uint32_t r = order_[i];
        if (i > 0 && ranges.thread[order_[i - 1]] != ranges.thread[r]) open.clear();
        // A range that begins where another ends, and goes on, is not inside of it.
        const auto is_over = [&](std::uint32_t other) {
            return ranges.end[other] < ranges.start[r] || (ranges.end[other] == ranges.start[r] && ranges.end[r] > ranges.end[other]);
        };
        while (!open.empty() && is_over(open.back())) open.pop_back();
        if (!open.empty()) parent_[r] = open.back();
        open.push_back(r);
    }
}

std::uint32_t RangeIndex::innermost(std::uint64_t thread, Nanoseconds time) const noexcept {
    const auto after = std::upper_bound(order_.begin(), order_.end(), std::pair(thread, time), [&](const auto& key, std::uint32_t r) {
        return key < std::pair(ranges_.thread[r], ranges_.start[r]);
    });
    if (after == order_.begin()) return none;
    std::uint32_t r = *(after - 1);
    if (ranges_.thread[r] != thread) return none;
    while (r != none && ranges_.end[r] < time) r = parent_[r];
    return r;
}

LaunchIndex::LaunchIndex(const Trace& trace) : launches_(trace.launches) {
    order_ = numbered(launches_.size());
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::tuple(launches_.process[a], launches_.correlation[a], launches_.start[a]) <
               std::tuple(launches_.process[b], launches_.correlation[b], launches_.start[b]);
    });
}

std::uint32_t LaunchIndex::find(std::uint16_t process, std::uint64_t correlation, Nanoseconds start) const noexcept {
    const auto key = std::tuple(process, correlation, start);
    const auto after = std::upper_bound(order_.begin(), order_.end(), key, [&](const auto& wanted, std::uint32_t l) {
        return wanted < std::tuple(launches_.process[l], launches_.correlation[l], launches_.start[l]);
    });
    if (after == order_.begin()) return none;
    const std::uint32_t l = *(after - 1);
    return launches_.process[l] == process && launches_.correlation[l] == correlation ? l : none;
}

Lineage::Lineage(const GraphNodes& nodes) : nodes_(nodes), order_(numbered(nodes.size())) {
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::tuple(nodes.process[a], nodes.node[a], nodes.time[a]) < std::tuple(nodes.process[b], nodes.node[b], nodes.time[b]);
    });
}

Lineage::Rows Lineage::rows_of(std::uint16_t process, std::uint64_t node) const noexcept {
    const auto key = std::pair(process, node);
    const auto less_row = [&](std::uint32_t row, const auto& wanted) { return std::pair(nodes_.process[row], nodes_.node[row]) < wanted; };
    const auto less_key = [&](const auto& wanted, std::uint32_t row) { return wanted < std::pair(nodes_.process[row], nodes_.node[row]); };
    const auto begin = std::lower_bound(order_.begin(), order_.end(), key, less_row);
    const auto end = std::upper_bound(begin, order_.end(), key, less_key);
    return {static_cast<std::size_t>(begin - order_.begin()), static_cast<std::size_t>(end - order_.begin())};
}

std::vector<std::uint64_t> Lineage::originals(std::uint16_t process, std::uint64_t node) const {
    std::vector<std::uint64_t> found;
    const Rows rows = rows_of(process, node);
    if (rows.begin == rows.end) return found;
    const Nanoseconds made = nodes_.time[order_[rows.begin]];
    for (std::size_t i = rows.begin; i < rows.end; ++i) {
        const std::uint64_t original = nodes_.original[order_[i]];
        if (original == no_id || std::find(found.begin(), found.end(), original) != found.end()) continue;
        const Rows of_original = rows_of(process, original);
        const bool made_later = of_original.begin != of_original.end && nodes_.time[order_[of_original.begin]] > made;
        if (!made_later) found.push_back(original);
    }
    return found;
}

NodeOrigin Lineage::root(std::uint16_t process, std::uint64_t node) const {
    NodeOrigin origin;
    origin.state = NodeOrigin::State::known;
    origin.node = node;
    const Rows rows = rows_of(process, node);
    if (rows.begin != rows.end) {
        origin.time = nodes_.time[order_[rows.begin]];
        origin.thread = nodes_.thread[order_[rows.begin]];
    }
    return origin;
}

NodeOrigin Lineage::origin(std::uint16_t process, std::uint64_t node) const { return follow(process, node, 0); }

NodeOrigin Lineage::follow(std::uint16_t process, std::uint64_t node, int depth) const {
    constexpr int deepest = 16;  // of clones with several originals, each of which has several originals
    NodeOrigin result;
    if (const Rows rows = rows_of(process, node); rows.begin == rows.end) return result;
    std::vector<std::uint64_t> path{node};
    for (;;) {
        std::vector<std::uint64_t> next = originals(process, path.back());
        if (next.empty()) return root(process, path.back());
        if (next.size() > 1) {
            result.state = NodeOrigin::State::ambiguous;
            for (const std::uint64_t candidate : next) {
                const NodeOrigin of_candidate = depth < deepest ? follow(process, candidate, depth + 1) : NodeOrigin{};
                if (of_candidate.state == NodeOrigin::State::known) result.candidates.push_back(of_candidate.node);
            }
            return result;
        }
        if (std::find(path.begin(), path.end(), next.front()) != path.end()) {
            result.state = NodeOrigin::State::ring;
            return result;
        }
        path.push_back(next.front());
    }
}

}  // namespace adpipe
