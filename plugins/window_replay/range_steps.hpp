#pragma once

#include "step_finder.hpp"

#include <memory>
#include <string>

namespace adpipe::window {

/// The steps that ranges of the program mark: all GPU work that was launched inside of one is one step per device, however many graphs it replayed.
/// `pattern`: a part of the ranges' names, where '*' stands for any text; empty: the names that say a phase ("decode bs=8"), else those of
/// schedulers and profilers ("execute_model", "ProfilerStep#3"). Of ranges inside each other the outermost counts. Throws Error
/// (ADP-WINDOW-003) if no such range launched work.
std::shared_ptr<Window> find_range_steps(std::shared_ptr<const Trace> trace, const std::string& pattern);

}  // namespace adpipe::window
