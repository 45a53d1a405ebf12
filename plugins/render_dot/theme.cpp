#include "theme.hpp"

#include <adpipe/render/palette.hpp>

#include <string_view>

namespace adpipe::render_dot {

std::string dark_dot(const std::string& dot) {
    // A colour stands between an attribute's quotes. Names cannot look like it: their quotes are escaped.
    constexpr std::string_view before = "=\"";
    constexpr std::size_t colour_size = 7;  // "#rrggbb"
    std::string dark;
    dark.reserve(dot.size());
    std::size_t done = 0;
    for (std::size_t at = dot.find("=\"#"); at != std::string::npos; at = dot.find("=\"#", at + 1)) {
        const std::size_t begin = at + before.size();
        const std::size_t end = begin + colour_size;
        if (end >= dot.size() || dot[end] != '"') continue;
        dark.append(dot, done, begin - done).append(render::in_the_dark(std::string_view{dot}.substr(begin, colour_size)));
        done = end;
    }
    return dark.append(dot, done);
}

std::string svg_for_both(const std::string& svg) {
    const std::size_t open = svg.find("<svg");
    const std::size_t end = open == std::string::npos ? open : svg.find('>', open);
    if (end == std::string::npos) return svg;
    std::string style = "\n<style>@media screen and (prefers-color-scheme: dark) {\n";
    for (const render::DarkColour& pair : render::dark_colours()) {
        for (const std::string_view property : {"fill", "stroke"}) {
            style.append("[")
                .append(property)
                .append("=\"")
                .append(pair.light)
                .append("\"] { ")
                .append(property)
                .append(": ")
                .append(pair.dark)
                .append(" }\n");
        }
    }
    return std::string{svg}.insert(end + 1, style + "}</style>");
}

}  // namespace adpipe::render_dot
