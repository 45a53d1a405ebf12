#pragma once

#include <adpipe/export.hpp>
#include <adpipe/model/graph_fwd.hpp>

#include <memory>
#include <string_view>

namespace adpipe::testing {

/// Makes a graph for a test from a few lines:
///
///     # a comment
///     x = placeholder : 2x4 : torch.bfloat16
///     h = aten.add.Tensor(%x, %bias, 1) : 2x4 : torch.bfloat16
///     y = aten.cat.default([%h, %x], -1)
///     h -> z -> last
///     output(%y, %last)
///
/// `%name` is a vertex: one of an earlier line, or a weight if there was none, as in a graph dump. Its type may follow it:
/// `%bias : 4 : torch.float32`. An argument that names no vertex is a literal. `a -> b` makes ops that are called "op". `module NAME`
/// starts another module; the first is "(root)". Ops that write in place make memory edges, as in any graph.
/// Throws std::invalid_argument, with the line, if it cannot be read.
ADPIPE_EXPORT std::shared_ptr<const GraphModel> graph_from_text(std::string_view text);

}  // namespace adpipe::testing
