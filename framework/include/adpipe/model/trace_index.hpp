#pragma once

// Questions that several stages ask of a trace: which ranges were open, which call launched a kernel, where a graph's node came from.

#include <adpipe/export.hpp>
#include <adpipe/model/trace.hpp>

#include <cstdint>
#include <vector>

namespace adpipe {

/// Host ranges by thread and time. Keeps a reference to the annotations. May be read from several threads.
class ADPIPE_EXPORT RangeIndex {
public:
    static constexpr std::uint32_t none = 0xffffffffU;

    explicit RangeIndex(const Annotations& ranges);
    /// The innermost range open on `thread` at `time` (both ends included), as index into the annotations; `none` if there is none.
    std::uint32_t innermost(std::uint64_t thread, Nanoseconds time) const noexcept;
    /// The range around `range` on its thread, or `none`.
    std::uint32_t parent(std::uint32_t range) const noexcept { return parent_[range]; }

private:
    const Annotations& ranges_;
    std::vector<std::uint32_t> order_;   ///< by thread, start, longest first
    std::vector<std::uint32_t> parent_;  ///< per range
};

/// API calls by process and correlation id. Keeps a reference to the trace.
class ADPIPE_EXPORT LaunchIndex {
public:
    static constexpr std::uint32_t none = 0xffffffffU;

    explicit LaunchIndex(const Trace& trace);
    /// The call that launched something which started at `start`, as index into Trace::launches, or `none`. Ids may be reused: it is the last
    /// call with that id that began before `start`.
    std::uint32_t find(std::uint16_t process, std::uint64_t correlation, Nanoseconds start) const noexcept;

private:
    const Launches& launches_;
    std::vector<std::uint32_t> order_;  ///< by process, correlation, start
};

/// Where a node of an executable graph came from.
struct NodeOrigin {
    enum class State : std::uint8_t {
        known,       ///< followed to the node made at capture
        unrecorded,  ///< no clone of it, and no creation, was recorded
        ambiguous,   ///< two originals claim it; `candidates` has both
        ring,        ///< the chain of originals runs in a circle
    };
    State state = State::unrecorded;
    std::uint64_t node = no_id;    ///< the node made at capture
    Nanoseconds time = -1;         ///< of its creation on the host; -1: not recorded
    std::uint64_t thread = no_id;  ///< that made it
    std::vector<std::uint64_t> candidates;
};

/// Creation and cloning of graph nodes, per process. Keeps a reference to the columns.
class ADPIPE_EXPORT Lineage {
public:
    explicit Lineage(const GraphNodes& nodes);
    bool empty() const noexcept { return order_.empty(); }
    /// Follows `node` of `process` through all its clones to the root. A link to an original that was made later than its clone is damage
    /// and not followed.
    NodeOrigin origin(std::uint16_t process, std::uint64_t node) const;
    /// The origin of a node that is known to be a root, for NodeOrigin::candidates.
    NodeOrigin root(std::uint16_t process, std::uint64_t node) const;

private:
    struct Rows {
        std::size_t begin;
        std::size_t end;
    };
    Rows rows_of(std::uint16_t process, std::uint64_t node) const noexcept;
    NodeOrigin follow(std::uint16_t process, std::uint64_t node, int depth) const;
    std::vector<std::uint64_t> originals(std::uint16_t process, std::uint64_t node) const;

    const GraphNodes& nodes_;
    std::vector<std::uint32_t> order_;  ///< by process, node, time
};

}  // namespace adpipe
