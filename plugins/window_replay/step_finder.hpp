#pragma once

#include <adpipe/model/trace_index.hpp>
#include <adpipe/model/window.hpp>

#include <memory>
#include <vector>

namespace adpipe::window {

/// The trace with its indexes, for the parts below.
struct TraceView {
    explicit TraceView(const Trace& t) : trace(t), ranges(t.annotations), launches(t), lineage(t.graph_nodes) {}
    const Trace& trace;
    RangeIndex ranges;
    LaunchIndex launches;
    Lineage lineage;
};

/// All steps of a trace, by start time; none is chosen yet.
std::shared_ptr<Window> find_steps(std::shared_ptr<const Trace> trace);

/// Sorts the steps by start, numbers them, and fills step_of_kernel.
void number_steps(Window& window);
/// Replays of captured graphs: appends steps, fills graphs and node_of_kernel.
void find_replays(const TraceView& view, Window& window);
/// Of replays whose nodes the trace does not tell, the first and the last of a device may be parts: names them.
void find_cut_replays(const Trace& trace, Window& window);
/// Forward passes whose kernels were launched one by one. Replays must be there already.
void find_eager_passes(const TraceView& view, Window& window);

}  // namespace adpipe::window
