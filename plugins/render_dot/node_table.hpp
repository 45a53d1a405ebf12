#pragma once

#include <adpipe/render/outline.hpp>

#include <string>
#include <string_view>

namespace adpipe::render_dot {

/// Border style that stands for the strength of the evidence: "SOLID", "DASHED", "DOTTED".
std::string_view evidence_style(Evidence evidence) noexcept;

/// `<FONT …>text</FONT>` with the text escaped.
std::string font(std::string_view text, int size, std::string_view colour, bool bold = false);

/// The HTML-like label of a node: head with name and time, type, one row a kernel.
std::string node_table(const render::LayerView& view, const render::Outline& outline, VertexId v);

/// The HTML-like label of the box that holds the time which is on no node; empty if there is none.
std::string unattributed_table(const render::LayerView& view);

}  // namespace adpipe::render_dot
