#include "time_order.hpp"

#include <adpipe/model/graph_fwd.hpp>

#include <algorithm>
#include <map>

namespace adpipe::align {

namespace {

struct Placed {
    Nanoseconds first = 0;  ///< starts of kernels
    Nanoseconds last = 0;
    std::int64_t stream = 0;
    bool is = false;
    bool by_order = true;
};

/// The latest start of a kernel among what a vertex depends on, through vertices that launch nothing.
struct Ready {
    Nanoseconds after = 0;
    VertexId of = no_vertex;
};

}  // namespace

std::vector<Contradiction> contradictions(const GraphModel& graph, std::span<const PlacedKernel> kernels) {
    std::map<std::int64_t, std::size_t> kernels_of_stream;
    std::vector<Placed> placed(graph.size());
    for (const PlacedKernel& kernel : kernels) {
        ++kernels_of_stream[kernel.stream];
        Placed& at = placed[kernel.vertex];
        at.first = at.is ? std::min(at.first, kernel.start) : kernel.start;
        at.last = at.is ? std::max(at.last, kernel.start) : kernel.start;
        at.stream = kernel.stream;
        at.is = true;
        at.by_order = at.by_order && kernel.by_order;
    }
    std::vector<Contradiction> found;
    if (kernels_of_stream.size() < 2) return found;  // one stream is aligned in its order
    std::vector<Ready> ready(graph.size());
    for (VertexId v = 0; v < graph.size(); ++v) {
        Ready latest;
        for (const Edge& edge : graph.inputs(v)) {
            if (edge.kind != EdgeKind::data || edge.source >= v) continue;
            const Placed& source = placed[edge.source];
            const Ready before = source.is ? Ready{source.last, edge.source} : ready[edge.source];
            if (before.of != no_vertex && (latest.of == no_vertex || before.after > latest.after)) latest = before;
        }
        ready[v] = latest;
        if (!placed[v].is || latest.of == no_vertex || latest.after <= placed[v].first) continue;
        const Placed& made = placed[latest.of];
        const bool made_has_fewer = kernels_of_stream[made.stream] < kernels_of_stream[placed[v].stream];
        const bool doubt_made = made.by_order && (made_has_fewer || !placed[v].by_order);
        if (!doubt_made && !placed[v].by_order) continue;
        const VertexId doubted = doubt_made ? latest.of : v;
        found.push_back({latest.of, v, doubted, doubt_made ? placed[v].first : latest.after});
        // What is doubted says nothing of what comes after it.
        if (doubted == v) placed[v].is = false;
    }
    return found;
}

}  // namespace adpipe::align
