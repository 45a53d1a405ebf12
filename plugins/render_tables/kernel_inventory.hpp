#pragma once

#include "kernel_count.hpp"

#include <adpipe/stage.hpp>

#include <string>

namespace adpipe::render_tables {

/// "name,count,total_us,avg_us,pct", the most time first.
std::string inventory_csv(const KernelCount& count);
std::string category_csv(const KernelCount& count);
std::string inventory_markdown(const KernelCount& count, const Window& window);
/// `most`: kernels that are shown, 0 for all; the rest is one line.
std::string inventory_terminal(const KernelCount& count, const Window& window, std::size_t most, const Terminal& terminal);

}  // namespace adpipe::render_tables
