#pragma once

#include <adpipe/export.hpp>
#include <adpipe/stage.hpp>

#include <string>
#include <string_view>

namespace adpipe {

/// Adds "5", "3-60", "3,7-9" or "all" to a selection. Returns what is wrong with the text; empty if it is right.
ADPIPE_EXPORT std::string add_layers(std::string_view text, LayerSelection& selection);

}  // namespace adpipe
