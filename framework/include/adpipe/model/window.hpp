#pragma once

#include <adpipe/artifact.hpp>
#include <adpipe/export.hpp>
#include <adpipe/model/trace.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe {

enum class Phase : std::uint8_t { unknown, prefill, decode, mixed, capture, other };
ADPIPE_EXPORT std::string_view phase_text(Phase phase) noexcept;

inline constexpr std::uint32_t no_captured_graph = 0xffffffffU;

/// An executable graph that was replayed with its kernels recorded. What is known of a node holds for all its replays.
struct CapturedGraph {
    static constexpr std::uint32_t no_node = 0xffffffffU;
    std::uint64_t graph = no_id;
    std::uint16_t process = 0;
    std::int64_t batch_size = -1;
    /// Nodes that ran in any replay: in capture order where `capture_order`, else in order of start.
    std::vector<std::uint64_t> nodes;
    bool capture_order = false;
    std::string order_reason;            ///< how the order is known, or why it is not
    std::vector<Nanoseconds> made;       ///< per node, when it was captured on the host; -1: not recorded
    std::vector<std::uint64_t> made_by;  ///< per node, the thread that captured it; no_id: not recorded
    std::vector<std::uint32_t> example;  ///< per node, a kernel that ran it, index into Trace::kernels
};

/// One forward pass on one device of one process: a replay of a captured graph, or an eager pass.
struct Step {
    std::uint32_t number = 0;  ///< from 0, by start time
    Phase phase = Phase::unknown;
    bool replay = false;          ///< of a captured graph
    bool complete = true;         ///< false: cut off by the start or end of the recording, or events were dropped
    bool chosen = false;          ///< in the window that the user asked for
    bool launch_order = false;    ///< `kernels` is in the order of the launches (at capture, for a replay); false: in the order of start
    std::uint64_t graph = no_id;  ///< executable graph of a replay
    std::uint32_t captured = no_captured_graph;  ///< index into Window::graphs
    std::uint16_t process = 0;
    std::int32_t device = -1;
    std::int64_t batch_size = -1;  ///< -1: not known
    Nanoseconds start = 0;         ///< of its first kernel
    Nanoseconds end = 0;           ///< of its last kernel
    std::string reason;            ///< for phase and batch size
    std::string missing;           ///< what it lacks, and why; empty if it is complete
    std::string left_out;          ///< why it is not chosen; empty if it is
    /// Kernels of the step: indices into Trace::kernels.
    std::vector<std::uint32_t> kernels;
};

/// Step::left_out of steps of another process or device than the chosen ones, where only one is looked at.
inline constexpr std::string_view left_out_other_rank = "on another device or rank";

/// The steps of a trace and which of them are looked at.
struct Window {
    std::shared_ptr<const Trace> trace;
    std::vector<Step> steps;
    std::vector<CapturedGraph> graphs;
    /// Per kernel of the trace: index into the nodes of its step's captured graph, or CapturedGraph::no_node. Empty without such graphs.
    std::vector<std::uint32_t> node_of_kernel;
    /// Per kernel of the trace: index into `steps`, or no_step.
    std::vector<std::uint32_t> step_of_kernel;
    /// e.g. "6 of 9 steps: 6 decode graph 5 batch 8; left out: 2 prefill (not asked for), 1 decode cut off at the end of the recording"
    std::string description;
    static constexpr std::uint32_t no_step = 0xffffffffU;
};

template <>
struct ArtifactTraits<Window> {
    static constexpr const char* id = "window/1";
};

}  // namespace adpipe
