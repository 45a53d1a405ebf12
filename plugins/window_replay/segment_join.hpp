#pragma once

#include <adpipe/model/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace adpipe::window {

/// A GPU event that was launched on its own.
struct Item {
    std::uint32_t kernel;
    std::uint32_t launch;
    Nanoseconds time;  ///< of the launch on the host; of the start on the GPU where the launch is not recorded
};

/// What was launched between two boundaries. Never empty.
struct Segment {
    std::vector<Item> items;
    bool after_wait = false;  ///< nothing but waiting for the GPU separates it from the segment before
};

/// What joining needs to know of segments.
class SegmentFacts {
public:
    virtual bool is_pass(const Segment& segment) const = 0;  ///< large enough to be a forward pass
    /// A hash of the names of its kernels, in order; of the first `most` of them.
    virtual std::uint64_t names(const Segment& segment, std::size_t most) const = 0;
    virtual Nanoseconds gap(const Segment& left, const Segment& right) const = 0;  ///< on the GPU
    virtual bool share_step_range(const Segment& left, const Segment& right) const = 0;

protected:
    ~SegmentFacts() = default;
};

/// A host that waits in the middle of a forward pass cuts it in two. Joins what belongs together, where a range says so or where the
/// same parts follow each other time and again; what begins like the pass before it begins a new one. Returns the passes.
std::vector<std::vector<Item>> join_segments(std::vector<Segment> segments, const SegmentFacts& facts);

}  // namespace adpipe::window
