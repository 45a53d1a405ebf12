#pragma once

#include <adpipe/diagnostic.hpp>
#include <adpipe/model/graph_fwd.hpp>
#include <adpipe/model/layers.hpp>

#include <memory>
#include <vector>

namespace adpipe::member {

/// Puts each vertex where most ballots put it; where they are even, where the first does. Reports differences in `notes`.
/// Throws Error if there is no ballot or one belongs to another graph.
Layers vote(const GraphModel& graph, const std::vector<std::shared_ptr<const Layers>>& ballots, std::vector<Diagnostic>& notes);

}  // namespace adpipe::member
