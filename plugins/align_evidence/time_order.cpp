#include "time_order.hpp"

#include <adpipe/model/graph_fwd.hpp>

#include <algorithm>
#include <unordered_map>

namespace adpipe::align {

TimeOrder::TimeOrder(const GraphModel& graph) : placed_(graph.size()), ready_(graph.size()) {
    input_begin_.push_back(0);
    for (VertexId v = 0; v < graph.size(); ++v) {
        for (const Edge& edge : graph.inputs(v)) {
            if (edge.kind == EdgeKind::data && edge.source < v) inputs_.push_back(edge.source);
        }
        input_begin_.push_back(inputs_.size());
    }
}

std::vector<Contradiction> TimeOrder::contradictions(std::span<const PlacedKernel> kernels) {
    std::vector<Contradiction> found;
    const std::vector<std::size_t> kernels_of_stream = place(kernels);
    if (kernels_of_stream.size() >= 2) find(kernels_of_stream, found);  // one stream is aligned in its order
    for (const PlacedKernel& kernel : kernels) placed_[kernel.vertex] = {};
    return found;
}

std::vector<std::size_t> TimeOrder::place(std::span<const PlacedKernel> kernels) {
    std::vector<std::size_t> kernels_of_stream;
    std::unordered_map<std::int64_t, std::uint32_t> numbers;
    std::int64_t last_stream = 0;
    std::uint32_t number = 0;
    for (const PlacedKernel& kernel : kernels) {
        if (numbers.empty() || kernel.stream != last_stream) {
            last_stream = kernel.stream;
            number = numbers.try_emplace(kernel.stream, static_cast<std::uint32_t>(numbers.size())).first->second;
            if (number == kernels_of_stream.size()) kernels_of_stream.push_back(0);
        }
        ++kernels_of_stream[number];
        Placed& at = placed_[kernel.vertex];
        at.first = at.is ? std::min(at.first, kernel.start) : kernel.start;
        at.last = at.is ? std::max(at.last, kernel.start) : kernel.start;
        at.stream = number;
        at.is = true;
        at.by_order = at.by_order && kernel.by_order;
    }
    return kernels_of_stream;
}

void TimeOrder::find(const std::vector<std::size_t>& kernels_of_stream, std::vector<Contradiction>& found) {
    for (VertexId v = 0; v < placed_.size(); ++v) {
        Ready latest;
        for (std::size_t i = input_begin_[v]; i < input_begin_[v + std::size_t{1}]; ++i) {
            const Placed& source = placed_[inputs_[i]];
            const Ready before = source.is ? Ready{source.last, inputs_[i]} : ready_[inputs_[i]];
            if (before.of != no_vertex && (latest.of == no_vertex || before.after > latest.after)) latest = before;
        }
        ready_[v] = latest;
        Placed& own = placed_[v];
        if (!own.is || latest.of == no_vertex || latest.after <= own.first) continue;
        const Placed& made = placed_[latest.of];
        const bool made_has_fewer = kernels_of_stream[made.stream] < kernels_of_stream[own.stream];
        const bool doubt_made = made.by_order && (made_has_fewer || !own.by_order);
        if (!doubt_made && !own.by_order) continue;
        const VertexId doubted = doubt_made ? latest.of : v;
        found.push_back({latest.of, v, doubted, doubt_made ? own.first : latest.after});
        // What is doubted says nothing of what comes after it.
        if (doubted == v) own.is = false;
    }
}

}  // namespace adpipe::align
