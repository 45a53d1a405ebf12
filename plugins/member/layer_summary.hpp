#pragma once

#include <adpipe/diagnostic.hpp>
#include <adpipe/model/graph_fwd.hpp>
#include <adpipe/model/layers.hpp>

#include <set>
#include <string>
#include <vector>

namespace adpipe::member {

/// Fills Layers::layers (numbers, kinds, vertex counts, boundaries) from Layers::of.
void summarize_layers(const GraphModel& graph, Layers& layers);

/// What must hold whoever decided: no value goes back to an earlier layer, numbers have no holes, layers of one kind look alike.
/// What does not hold becomes a note. `repeated_stacks`: those whose last layer leads to the first again.
void check_invariants(const GraphModel& graph, const Layers& layers, const std::set<TextId>& repeated_stacks,
                      std::vector<Diagnostic>& notes);

/// One line for the summary of a run: "61 layers, 14,108 ops; 3 that the text does not decide".
std::string describe(const GraphModel& graph, const Layers& layers);

}  // namespace adpipe::member
