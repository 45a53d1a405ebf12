#pragma once

#include <adpipe/render/folding.hpp>
#include <adpipe/stage.hpp>

#include <string>
#include <string_view>

namespace adpipe::render_table {

/// The report that people read in a terminal.
std::string terminal_report(const render::LayerView& view, render::Fold fold, std::string_view pipeline, const Terminal& terminal);

}  // namespace adpipe::render_table
