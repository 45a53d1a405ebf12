#pragma once

#include <string_view>

namespace adpipe::render_html::assets {

struct Asset {
    std::string_view text;
    std::string_view sha256;  ///< in hexadecimal
};

extern const Asset d3;
extern const Asset dagre;
extern const Asset page_script;
extern const Asset page_style;
extern const Asset page_body;

}  // namespace adpipe::render_html::assets
