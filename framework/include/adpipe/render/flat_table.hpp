#pragma once

#include <adpipe/export.hpp>
#include <adpipe/render/layer_view.hpp>

#include <string>

namespace adpipe::render {

/// One row a kernel of a node (a node, where there is no trace), durations in whole nanoseconds, with or without the line of column names;
/// docs/formats.md lists the columns. `separator` is ',' or '\t'. Pure, any thread.
ADPIPE_EXPORT std::string flat_table(const LayerView& view, char separator, bool with_header);

}  // namespace adpipe::render
