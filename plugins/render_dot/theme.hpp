#pragma once

#include <string>

namespace adpipe::render_dot {

/// The DOT text with the colours of a dark picture.
std::string dark_dot(const std::string& dot);

/// An SVG picture that is dark where the viewer asks for dark pages (CSS prefers-color-scheme), with the style sheet in it. Printed, it is light.
std::string svg_for_both(const std::string& svg);

}  // namespace adpipe::render_dot
