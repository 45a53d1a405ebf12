#pragma once

#include "../shared/web_asset.hpp"

namespace adpipe::walkthrough::assets {

using shared::Asset;

extern const Asset document_style;

}  // namespace adpipe::walkthrough::assets
