#pragma once

#include "fx_body.hpp"

#include <string_view>

namespace adpipe::parse {

/// The part of str(ExportedProgram) that follows the graph, from the line "Graph signature:" on. Empty if it is not there.
std::string_view find_signature(std::string_view text) noexcept;

/// The weights among the inputs that a signature lists, in its new form, "p_w: PARAMETER target='a.w'", and its old one,
/// "InputSpec(kind=<InputKind.PARAMETER: 2>, arg=TensorArgument(name='p_w'), target='a.w', persistent=None)".
WeightPaths read_signature(std::string_view signature);

}  // namespace adpipe::parse
