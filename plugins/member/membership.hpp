#pragma once

#include "flow_graph.hpp"
#include "layer_solver.hpp"
#include "rules.hpp"

#include <adpipe/diagnostic.hpp>
#include <adpipe/model/graph_fwd.hpp>
#include <adpipe/model/layers.hpp>

#include <vector>

namespace adpipe::member {

/// Layers from weights, what depends on what, the model's repetition and, as `names` says, module paths in names. Adds notes on what the
/// user should know to `notes`.
Layers members_by_dataflow(const GraphModel& graph, const Rules& rules, NameUse names, std::vector<Diagnostic>& notes);

}  // namespace adpipe::member
