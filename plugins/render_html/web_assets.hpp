#pragma once

#include "../shared/web_asset.hpp"

namespace adpipe::render_html::assets {

using shared::Asset;

extern const Asset d3;
extern const Asset dagre;
extern const Asset page_script;
extern const Asset page_style;
extern const Asset page_body;

}  // namespace adpipe::render_html::assets
