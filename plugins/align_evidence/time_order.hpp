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
/// kernel cannot start before any kernel of what it needs. Doubted is what stands on the stream with fewer kernels, which has less to hold it in its
/// place; of the two, never one that stronger evidence placed.
class TimeOrder {
public:
    explicit TimeOrder(const GraphModel& graph);
    /// `kernels`: of one run through the graph. Not from two threads at a time: the object keeps its memory from run to run.
    std::vector<Contradiction> contradictions(std::span<const PlacedKernel> kernels);

private:
    struct Placed {
        Nanoseconds first = 0;  ///< starts of kernels
        Nanoseconds last = 0;
        std::uint32_t stream = 0;  ///< its number among the streams of the run
        bool is = false;
        bool by_order = true;
    };
    /// The latest start of a kernel among what a vertex depends on, through vertices that launch nothing.
    struct Ready {
        Nanoseconds after = 0;
        VertexId of = no_vertex;
    };

    /// Returns the number of kernels of each stream.
    std::vector<std::size_t> place(std::span<const PlacedKernel> kernels);
    void find(const std::vector<std::size_t>& kernels_of_stream, std::vector<Contradiction>& found);

    std::vector<std::size_t> input_begin_;  ///< per vertex, into inputs_
    std::vector<VertexId> inputs_;          ///< where its data comes from, as far as that comes before it
    std::vector<Placed> placed_;            ///< per vertex; between runs none is
    std::vector<Ready> ready_;
};

}  // namespace adpipe::align
