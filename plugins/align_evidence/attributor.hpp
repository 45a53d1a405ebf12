#pragma once

#include "launch_rules.hpp"

#include <adpipe/beside.hpp>
#include <adpipe/model/attribution.hpp>
#include <adpipe/model/graph_fwd.hpp>
#include <adpipe/model/layers.hpp>
#include <adpipe/model/window.hpp>

#include <cstddef>
#include <memory>

namespace adpipe::align {

/// What became of a companion recording.
struct CompanionUse {
    std::size_t passes = 0;    ///< of it that tell where their kernels belong, in known order
    std::size_t asked = 0;     ///< different passes of the recording in question that leave something open
    std::size_t answered = 0;  ///< of these, those that it fits
};

/// Puts the kernels of a window onto the ops of a graph. `companion`: the steps of another recording of the same model, or null;
/// `use` gets what became of it. `rules` may still be being read.
std::shared_ptr<const Attribution> attribute(const GraphModel& graph, const Layers& layers, std::shared_ptr<const Window> window,
                                             Beside<LaunchRules>& rules, std::shared_ptr<const Window> companion, CompanionUse& use);

}  // namespace adpipe::align
