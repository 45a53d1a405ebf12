#pragma once

#include "launch_rules.hpp"

#include <adpipe/model/attribution.hpp>
#include <adpipe/model/graph_fwd.hpp>
#include <adpipe/model/layers.hpp>
#include <adpipe/model/window.hpp>

#include <memory>

namespace adpipe::align {

/// Puts the kernels of a window onto the ops of a graph.
std::shared_ptr<const Attribution> attribute(const GraphModel& graph, const Layers& layers, std::shared_ptr<const Window> window,
                                             const LaunchRules& rules);

}  // namespace adpipe::align
