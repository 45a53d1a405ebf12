#include "model/display_text.hpp"

#include <cstdint>

namespace adpipe {

namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

void append_escape(std::string& out, unsigned char c) {
    static constexpr char digits[] = "0123456789abcdef";
    switch (c) {
        case '\n': out += "\\n"; return;
        case '\r': out += "\\r"; return;
        case '\t': out += "\\t"; return;
        case '\0': out += "\\0"; return;
        default:
            out += "\\x";
            out += digits[c >> 4U];
            out += digits[c & 15U];
    }
}

}  // namespace

std::size_t utf8_length(std::string_view text) noexcept {
    if (text.empty()) return 0;
    const auto lead = static_cast<unsigned char>(text[0]);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
    std::uint32_t code = lead & (0xffU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if (!is_continuation(text[i])) return 0;
        code = code << 6U | (static_cast<unsigned char>(text[i]) & 0x3fU);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return overlong || surrogate || code > 0x10ffff ? 0 : length;
}

std::string display_text(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const auto c = static_cast<unsigned char>(text[0]);
        const std::size_t length = utf8_length(text);
        // C1 controls (U+0080 to U+009F) can steer a terminal as well.
        const bool c1_control = length == 2 && c == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;
        if (length == 0 || c < 0x20 || c == 0x7f || c1_control) {
            append_escape(out, c);
            text.remove_prefix(1);
        } else {
            out += text.substr(0, length);
            text.remove_prefix(length);
        }
    }
    return out;
}

}  // namespace adpipe
