#pragma once

#include <adpipe/model/graph_fwd.hpp>
#include <adpipe/model/trace.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace adpipe::align {

/// A kernel of one forward pass, placed on a vertex by its place in its stream.
struct PlacedKernel {
    VertexId vertex;
    Nanoseconds start;
    std::int64_t stream;
    bool by_order;  ///< the order of kernels alone says so; else stronger evidence does
};

/// Two placements of which one is wrong: `needs` reads what `made` gives, and ran before it.
struct Contradiction {
    VertexId made;
    VertexId needs;
    VertexId doubted;  ///< the one of the two to withdraw
    Nanoseconds time;  ///< when `needs` began, if `made` is doubted: its kernels after that; else when `made` began its last kernel
    bool holds_against(Nanoseconds start) const { return doubted == made ? start > time : start < time; }
};

/// Streams are aligned with the graph each for itself; where the trace lost kernels of one, its rest can slip to another layer. Time tells: a
/// kernel cannot start before any kernel of what it needs. For one run through the graph. Doubted is what stands on the stream with fewer kernels, which has less to
/// hold it in its place; of the two, never one that stronger evidence placed.
std::vector<Contradiction> contradictions(const GraphModel& graph, std::span<const PlacedKernel> kernels);

}  // namespace adpipe::align
