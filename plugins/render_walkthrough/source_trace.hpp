#pragma once

#include "call_tree.hpp"
#include "document.hpp"

#include <adpipe/kernel_names.hpp>

namespace adpipe::walkthrough {

/// From the program's source lines to its kernels, for a step of each phase and batch size. Throws Error ADP-RND-025
/// where no kernel of a chosen step has a call stack.
Document source_trace(const Window& window, const KernelNames& names, const LaunchSites& sites);

}  // namespace adpipe::walkthrough
