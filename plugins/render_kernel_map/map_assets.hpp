#pragma once

#include "../shared/web_asset.hpp"

namespace adpipe::kernel_map::assets {

using shared::Asset;

extern const Asset map_style;

}  // namespace adpipe::kernel_map::assets
