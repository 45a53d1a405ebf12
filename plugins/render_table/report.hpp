#pragma once

#include <adpipe/render/folding.hpp>
#include <adpipe/stage.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace adpipe::render_table {

/// The report that people read in a terminal.
std::string terminal_report(const render::LayerView& view, render::Fold fold, std::string_view pipeline, const Terminal& terminal);

/// The same as a piece of a Markdown page.
std::string markdown_report(const render::LayerView& view, render::Fold fold, std::string_view pipeline);

/// One row a kernel of a node (a node, where there is no trace), durations in nanoseconds; with or without the line of column names.
std::string flat_table(const render::LayerView& view, char separator, bool with_header);

}  // namespace adpipe::render_table
