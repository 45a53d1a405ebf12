#include "json_scan.hpp"

#include <charconv>
#include <limits>

namespace adpipe::kineto {

namespace {

/// One byte at a time, for blocks with backslashes and for the end of the text. Returns the byte behind the last closing bracket.
const char* skip_bytewise(const char* p, const char* end, SkipState& state) {
    for (; p < end; ++p) {
        if (state.escaped) {
            state.escaped = false;
        } else if (state.in_string) {
            if (*p == '\\') state.escaped = true;
            if (*p == '"') state.in_string = false;
        } else if (*p == '"') {
            state.in_string = true;
        } else if (*p == '{' || *p == '[') {
            ++state.depth;
        } else if ((*p == '}' || *p == ']') && --state.depth == 0) {
            return p + 1;
        }
    }
    return nullptr;
}

}  // namespace

Scan skip_brackets(Cursor& c, SkipState& state) {
    for (const char* p = c.at; p < c.end; p += 64) {
        const detail::BlockMasks masks = detail::classify64(p);
        if (masks.backslash != 0 || state.escaped || c.end - p < 64) {
            const char* const block_end = c.end - p < 64 ? c.end : p + 64;
            if (const char* behind = skip_bytewise(p, block_end, state)) {
                c.at = behind;
                return Scan::ok;
            }
            continue;
        }
        const std::uint64_t strings = detail::prefix_xor(masks.quote) ^ (state.in_string ? ~std::uint64_t{0} : 0);
        state.in_string = (strings >> 63) != 0;
        const std::uint64_t open = masks.open & ~strings;
        for (std::uint64_t brackets = open | (masks.close & ~strings); brackets != 0; brackets &= brackets - 1) {
            if ((open & brackets & (0 - brackets)) != 0) {
                ++state.depth;
            } else if (--state.depth == 0) {
                c.at = p + std::countr_zero(brackets) + 1;
                return Scan::ok;
            }
        }
    }
    c.at = c.end;
    return Scan::more;
}

namespace {

void append_utf8(std::string& out, std::uint32_t code) {
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xc0 | (code >> 6));
        out += static_cast<char>(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        out += static_cast<char>(0xe0 | (code >> 12));
        out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
        out += static_cast<char>(0x80 | (code & 0x3f));
    } else {
        out += static_cast<char>(0xf0 | (code >> 18));
        out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
        out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
        out += static_cast<char>(0x80 | (code & 0x3f));
    }
}

constexpr std::uint32_t replacement = 0xfffd;

bool hex4(std::string_view text, std::size_t at, std::uint32_t& value) {
    if (at + 4 > text.size()) return false;
    const char* const first = text.data() + at;
    const std::from_chars_result result = std::from_chars(first, first + 4, value, 16);
    return result.ec == std::errc{} && result.ptr == first + 4;
}

/// Appends the escape at text[at] == '\\'; returns the position behind it. What is no escape stays as it stands.
std::size_t append_escape(std::string& out, std::string_view text, std::size_t at) {
    if (at + 1 >= text.size()) {
        out += '\\';
        return at + 1;
    }
    switch (text[at + 1]) {
        case '"': out += '"'; return at + 2;
        case '\\': out += '\\'; return at + 2;
        case '/': out += '/'; return at + 2;
        case 'b': out += '\b'; return at + 2;
        case 'f': out += '\f'; return at + 2;
        case 'n': out += '\n'; return at + 2;
        case 'r': out += '\r'; return at + 2;
        case 't': out += '\t'; return at + 2;
        default: break;
    }
    std::uint32_t code = 0;
    if (text[at + 1] != 'u' || !hex4(text, at + 2, code)) {
        out += '\\';
        return at + 1;
    }
    std::size_t behind = at + 6;
    if (code >= 0xd800 && code < 0xe000) {
        std::uint32_t low = 0;
        const bool pair = code < 0xdc00 && text.substr(behind, 2) == "\\u" && hex4(text, behind + 2, low) && low >= 0xdc00 && low < 0xe000;
        if (pair) behind += 6;
        code = pair ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : replacement;
    }
    append_utf8(out, code);
    return behind;
}

/// Bytes of the valid UTF-8 sequence that begins at text[at]; 0 if none does.
std::size_t utf8_length(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || at + length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return 0;
    }
    const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
    const bool no_character = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
    return overlong || no_character ? 0 : length;
}

/// A decimal number taken apart: the value is digits * 10^exponent.
struct Decimal {
    bool negative = false;
    std::string digits;
    std::int64_t exponent = 0;
};

bool split_decimal(std::string_view text, Decimal& number) {
    std::size_t i = 0;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) number.negative = text[i++] == '-';
    bool point = false;
    for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
        if (text[i] == '.' && !point) {
            point = true;
        } else if (text[i] >= '0' && text[i] <= '9') {
            number.digits += text[i];
            if (point) --number.exponent;
        } else {
            return false;
        }
    }
    if (number.digits.empty()) return false;
    if (i == text.size()) return true;
    ++i;
    if (i < text.size() && text[i] == '+') ++i;
    std::int64_t exponent = 0;
    const std::from_chars_result result = std::from_chars(text.data() + i, text.data() + text.size(), exponent);
    if (result.ec != std::errc{} || result.ptr != text.data() + text.size() || exponent > 1000 || exponent < -1000) return false;
    number.exponent += exponent;
    return true;
}

/// The decimal as a whole number, rounded to the nearest, halves away from zero.
bool round_decimal(const Decimal& number, std::int64_t& value) {
    const std::int64_t whole = static_cast<std::int64_t>(number.digits.size()) + number.exponent;
    constexpr std::uint64_t limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < whole; ++i) {
        const auto index = static_cast<std::size_t>(i);
        const std::uint64_t digit = index < number.digits.size() ? static_cast<std::uint64_t>(number.digits[index] - '0') : 0;
        if (sum > (limit - digit) / 10) return false;
        sum = sum * 10 + digit;
    }
    if (whole >= 0 && static_cast<std::size_t>(whole) < number.digits.size()) {
        if (number.digits[static_cast<std::size_t>(whole)] >= '5') ++sum;
    }
    if (sum > limit) return false;
    value = number.negative ? -static_cast<std::int64_t>(sum) : static_cast<std::int64_t>(sum);
    return true;
}

}  // namespace

std::string decode_text(const RawText& text) {
    const std::string_view raw = text.view();
    std::string out;
    out.reserve(raw.size());
    for (std::size_t at = 0; at < raw.size();) {
        if (raw[at] == '\\') {
            at = append_escape(out, raw, at);
        } else if (const std::size_t length = utf8_length(raw, at)) {
            out.append(raw, at, length);
            at += length;
        } else {
            append_utf8(out, replacement);
            ++at;
        }
    }
    return out;
}

Scan scan_odd_integer(Cursor& c, std::int64_t& value) {
    if (*c.at == '{' || *c.at == '[') return skip_value(c);
    RawScalar scalar;
    const Scan result = scan_scalar(c, scalar);
    if (result == Scan::ok) parse_integer(scalar.view(), value);
    return result;
}

bool parse_integer(std::string_view text, std::int64_t& value) {
    std::int64_t whole = 0;  // not into `value`: from_chars writes even where something follows the number
    const std::from_chars_result result = std::from_chars(text.data(), text.data() + text.size(), whole);
    if (result.ec == std::errc{} && result.ptr == text.data() + text.size()) {
        value = whole;
        return true;
    }
    Decimal number;
    if (result.ec == std::errc::result_out_of_range || !split_decimal(text, number)) return false;
    const std::size_t fraction = number.exponent < 0 ? static_cast<std::size_t>(-number.exponent) : 0;
    for (std::size_t i = 0; i < fraction && i < number.digits.size(); ++i) {
        if (number.digits[number.digits.size() - 1 - i] != '0') return false;
    }
    return round_decimal(number, value);
}

bool parse_unsigned(std::string_view text, std::uint64_t& value) {
    std::uint64_t whole = 0;
    const std::from_chars_result result = std::from_chars(text.data(), text.data() + text.size(), whole);
    if (result.ec == std::errc{} && result.ptr == text.data() + text.size()) {
        value = whole;
        return true;
    }
    std::int64_t number = 0;
    if (!parse_integer(text, number) || number < 0) return false;
    value = static_cast<std::uint64_t>(number);
    return true;
}

bool parse_microseconds(std::string_view text, std::int64_t& nanoseconds) {
    Decimal number;
    if (!split_decimal(text, number)) return false;
    number.exponent += 3;
    return round_decimal(number, nanoseconds);
}

}  // namespace adpipe::kineto
