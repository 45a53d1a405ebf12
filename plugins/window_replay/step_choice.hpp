#pragma once

#include <adpipe/diagnostic.hpp>
#include <adpipe/model/step_times.hpp>
#include <adpipe/model/window.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace adpipe::window {

/// Which steps the user wants. -1: any.
struct Choice {
    std::string phase;  ///< "all", or as phase_text() says
    std::int64_t step, batch, graph, device, rank;
    bool incomplete;  ///< also those that were cut off or lost kernels
    bool all_ranks;   ///< of several processes and devices, side by side
};

/// Sets Step::chosen and Step::left_out.
void choose_steps(Window& window, const Choice& choice);
/// One line: how many were chosen, of what kinds, what was left out and why.
std::string describe_steps(const Window& window);
/// What to say where no step was chosen: what was asked for, and what there is.
Diagnostic nothing_chosen(const Window& window, const Choice& choice);
/// What to say where chosen steps took much longer than others of their kind; nothing where none did.
std::optional<Diagnostic> slow_steps(const Window& window, std::vector<Straggler> slow);
/// Takes those steps out of the chosen ones.
void leave_out(Window& window, const std::vector<Straggler>& slow);

}  // namespace adpipe::window
