#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// Forgiving JSON tokens over the part of a text that is in memory. Traces in the wild hold raw control characters, NaN, trailing
// commas and duplicate keys, so this reads what can be understood rather than what the standard allows.

namespace adpipe::kineto {

enum class Scan : std::uint8_t {
    ok,
    more,  ///< the text in memory ends inside this token
    bad,   ///< not JSON, not even nearly
};

/// The unread part of the text in memory. `padding` zero bytes at `end` can be loaded.
struct Cursor {
    static constexpr std::size_t padding = 64;
    const char* at;
    const char* end;
};

/// The inside of a string literal, as it stands in the file.
struct RawText {
    const char* data = nullptr;
    std::size_t size = 0;
    bool escaped = false;  ///< holds a backslash
    std::string_view view() const noexcept { return {data, size}; }
};

/// A number, or what stood where a number was expected.
struct RawScalar {
    const char* data = nullptr;
    std::size_t size = 0;
    bool quoted = false;
    std::string_view view() const noexcept { return {data, size}; }
};

namespace detail {

constexpr std::array<bool, 256> make_ends_scalar() {
    std::array<bool, 256> ends{};
    for (std::size_t i = 0; i <= ' '; ++i) ends[i] = true;
    for (const char ch : {',', ':', '"', '{', '}', '[', ']'}) ends[static_cast<unsigned char>(ch)] = true;
    return ends;
}
/// Bytes that cannot belong to a number or to a word such as `null`.
inline constexpr std::array<bool, 256> ends_scalar = make_ends_scalar();

/// Reads the digits at p, at most eight of them; 8 bytes can be loaded there. How many there are varies from event to event, so a
/// loop over them would be mispredicted time and again.
inline int scan_digits8(const char* p, std::uint64_t& value) {
    if constexpr (std::endian::native == std::endian::little) {
        std::uint64_t word = 0;
        std::memcpy(&word, p, 8);
        const std::uint64_t digits = word - 0x3030303030303030U;
        const std::uint64_t others = ((word + 0x4646464646464646U) | digits) & 0x8080808080808080U;
        const int count = others == 0 ? 8 : std::countr_zero(others) / 8;
        if (count == 0) return 0;
        std::uint64_t v = digits << (64 - 8 * count);  // zeros in front
        v = v * 10 + (v >> 8);                         // pairs, in every other byte
        v = ((v & 0x000000ff000000ffU) * 0x000f424000000064U + ((v >> 16) & 0x000000ff000000ffU) * 0x0000271000000001U) >> 32;
        value = v;
        return count;
    } else {
        int count = 0;
        value = 0;
        for (; count < 8 && p[count] >= '0' && p[count] <= '9'; ++count) value = value * 10 + static_cast<std::uint64_t>(p[count] - '0');
        return count;
    }
}

inline constexpr std::array<std::uint64_t, 9> powers_of_ten{1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

/// Reads the digits at p, at most sixteen.
inline int scan_digits16(const char* p, std::uint64_t& value) {
    const int first = scan_digits8(p, value);
    if (first < 8) return first;
    std::uint64_t more = 0;
    const int second = scan_digits8(p + 8, more);
    if (second > 0) value = value * powers_of_ten[static_cast<std::size_t>(second)] + more;
    return 8 + second;
}

#if defined(__SSE2__)

inline std::uint32_t mask16(__m128i found) { return static_cast<std::uint32_t>(_mm_movemask_epi8(found)); }
inline __m128i load16(const char* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }

/// First quote or backslash in [p, end), else `end`.
inline const char* find_quote_or_backslash(const char* p, const char* end) {
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    for (; p < end; p += 16) {
        const __m128i bytes = load16(p);
        const std::uint32_t found = mask16(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
        if (found != 0) {
            p += std::countr_zero(found);
            return p < end ? p : end;
        }
    }
    return end;
}

/// Which of 64 bytes are quotes, backslashes, opening and closing brackets.
struct BlockMasks {
    std::uint64_t quote = 0, backslash = 0, open = 0, close = 0;
};

inline BlockMasks classify64(const char* p) {
    BlockMasks masks;
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    const __m128i open = _mm_set1_epi8('{');   // '[' | 0x20
    const __m128i close = _mm_set1_epi8('}');  // ']' | 0x20
    const __m128i lower = _mm_set1_epi8(0x20);
    for (int i = 0; i < 4; ++i) {
        const __m128i bytes = load16(p + 16 * i);
        const __m128i lowered = _mm_or_si128(bytes, lower);
        masks.quote |= std::uint64_t{mask16(_mm_cmpeq_epi8(bytes, quote))} << (16 * i);
        masks.backslash |= std::uint64_t{mask16(_mm_cmpeq_epi8(bytes, backslash))} << (16 * i);
        masks.open |= std::uint64_t{mask16(_mm_cmpeq_epi8(lowered, open))} << (16 * i);
        masks.close |= std::uint64_t{mask16(_mm_cmpeq_epi8(lowered, close))} << (16 * i);
    }
    return masks;
}

/// First byte that cannot belong to a number or a word. The zero bytes behind the text are such.
inline const char* find_scalar_end(const char* p) {
    const __m128i blank = _mm_set1_epi8(' ');
    for (;; p += 16) {
        const __m128i bytes = load16(p);
        const __m128i lowered = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
        __m128i ends = _mm_cmpeq_epi8(_mm_min_epu8(bytes, blank), bytes);
        ends = _mm_or_si128(ends, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(',')));
        ends = _mm_or_si128(ends, _mm_cmpeq_epi8(lowered, _mm_set1_epi8('}')));
        ends = _mm_or_si128(ends, _mm_cmpeq_epi8(lowered, _mm_set1_epi8('{')));
        ends = _mm_or_si128(ends, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
        ends = _mm_or_si128(ends, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(':')));
        if (const std::uint32_t found = mask16(ends)) return p + std::countr_zero(found);
    }
}

#else

inline const char* find_scalar_end(const char* p) {
    while (!ends_scalar[static_cast<unsigned char>(*p)]) ++p;
    return p;
}

inline const char* find_quote_or_backslash(const char* p, const char* end) {
    while (p < end && *p != '"' && *p != '\\') ++p;
    return p;
}

struct BlockMasks {
    std::uint64_t quote = 0, backslash = 0, open = 0, close = 0;
};

inline BlockMasks classify64(const char* p) {
    BlockMasks masks;
    for (int i = 0; i < 64; ++i) {
        masks.quote |= std::uint64_t{p[i] == '"'} << i;
        masks.backslash |= std::uint64_t{p[i] == '\\'} << i;
        masks.open |= std::uint64_t{p[i] == '{' || p[i] == '['} << i;
        masks.close |= std::uint64_t{p[i] == '}' || p[i] == ']'} << i;
    }
    return masks;
}

#endif

/// Bit i of the result: are there an odd number of ones among bits 0 to i?
inline std::uint64_t prefix_xor(std::uint64_t bits) {
    for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
    return bits;
}

}  // namespace detail

/// Skips white space. True if a byte of the text follows.
inline bool skip_space(Cursor& c) {
    // Bytes up to the blank count as white space; the zero padding ends the loop only beyond the end.
    while (static_cast<unsigned char>(*c.at) <= ' ') {
        if (c.at >= c.end) return false;
        ++c.at;
    }
    return true;
}

/// Reads a string; the cursor stands on its opening quote.
inline Scan scan_text(Cursor& c, RawText& text) {
    const char* const begin = c.at + 1;
    text.escaped = false;
    for (const char* p = begin;;) {
        p = detail::find_quote_or_backslash(p, c.end);
        if (p >= c.end) return Scan::more;
        if (*p == '"') {
            text.data = begin;
            text.size = static_cast<std::size_t>(p - begin);
            c.at = p + 1;
            return Scan::ok;
        }
        text.escaped = true;
        p += 2;
    }
}

/// Skips to behind the closing quote of a string whose beginning was read already. `escaped` carries over a backslash at the end of
/// the text in memory, all of which is consumed if the string goes on.
inline Scan skip_text_rest(Cursor& c, bool& escaped) {
    const char* p = c.at + (escaped && c.at < c.end ? 1 : 0);
    escaped = escaped && p == c.at;
    for (;;) {
        p = detail::find_quote_or_backslash(p, c.end);
        if (p >= c.end) break;
        if (*p == '"') {
            c.at = p + 1;
            return Scan::ok;
        }
        p += 2;
        escaped = p > c.end;
    }
    c.at = c.end;
    return Scan::more;
}

/// Reads a number, `null`, `true`, `NaN`, …, or the inside of a string.
inline Scan scan_scalar(Cursor& c, RawScalar& scalar) {
    if (*c.at == '"') {
        RawText text;
        const Scan result = scan_text(c, text);
        scalar = {text.data, text.size, true};
        return result;
    }
    const char* const p = detail::find_scalar_end(c.at);
    if (p >= c.end) return Scan::more;
    scalar = {c.at, static_cast<std::size_t>(p - c.at), false};
    c.at = p;
    return scalar.size == 0 ? Scan::bad : Scan::ok;
}

/// Where skipping stands at the end of the text in memory: how many brackets are open, inside a string, behind a backslash.
struct SkipState {
    std::uint64_t depth = 1;
    bool in_string = false;
    bool escaped = false;
};

/// Skips to behind the bracket that closes the open ones; brackets of both kinds count alike. If the text in memory ends before,
/// all of it is consumed, and a call with the same state goes on in the text that follows.
Scan skip_brackets(Cursor& c, SkipState& state);

inline Scan skip_brackets(Cursor& c) {
    SkipState state;
    return skip_brackets(c, state);
}

/// Skips one value of any kind.
inline Scan skip_value(Cursor& c) {
    if (*c.at == '{' || *c.at == '[') {
        ++c.at;
        return skip_brackets(c);
    }
    RawScalar ignored;
    return scan_scalar(c, ignored);
}

/// Any value as it stands, quotes and brackets included.
inline Scan scan_raw(Cursor& c, RawText& text) {
    const char* const begin = c.at;
    const Scan result = skip_value(c);
    text = {begin, static_cast<std::size_t>(c.at - begin), false};
    return result;
}

/// Moves to the next key of an object and past its colon, onto the value. `done` is set at the closing brace, which is consumed.
/// Commas are taken where they come: missing, doubled and trailing ones do no harm.
inline Scan next_key(Cursor& c, RawText& key, bool& done) {
    done = false;
    do {
        if (!skip_space(c)) return Scan::more;
    } while (*c.at == ',' && (++c.at, true));
    if (*c.at == '}') {
        ++c.at;
        done = true;
        return Scan::ok;
    }
    if (*c.at != '"') return Scan::bad;
    if (const Scan result = scan_text(c, key); result != Scan::ok) return result;
    if (!skip_space(c)) return Scan::more;
    if (*c.at != ':') return Scan::bad;
    ++c.at;
    return skip_space(c) ? Scan::ok : Scan::more;
}

/// Moves to the next element of an array. `done` is set at the closing bracket, which is consumed.
inline Scan next_element(Cursor& c, bool& done) {
    done = false;
    do {
        if (!skip_space(c)) return Scan::more;
    } while (*c.at == ',' && (++c.at, true));
    if (*c.at == ']') {
        ++c.at;
        done = true;
    }
    return Scan::ok;
}

/// The text with its escapes resolved and invalid UTF-8 replaced, so that it can be shown and written anywhere.
std::string decode_text(const RawText& text);

/// The same as scan_integer for all that is not a row of at most sixteen digits.
Scan scan_odd_integer(Cursor& c, std::int64_t& value);

/// Reads a whole number. `value` stays as it is where something else stands there.
inline Scan scan_integer(Cursor& c, std::int64_t& value) {
    std::uint64_t number = 0;
    const int digits = detail::scan_digits16(c.at, number);
    const char* const p = c.at + digits;
    if (digits > 0 && p < c.end && detail::ends_scalar[static_cast<unsigned char>(*p)]) {
        value = static_cast<std::int64_t>(number);
        c.at = p;
        return Scan::ok;
    }
    return scan_odd_integer(c, value);
}

/// Whole numbers; false if it is none or does not fit. A fraction of zeros ("7.0") is accepted.
bool parse_integer(std::string_view text, std::int64_t& value);
bool parse_unsigned(std::string_view text, std::uint64_t& value);

/// Decimal microseconds to nanoseconds, rounded to the nearest, from the digits alone: a double has too few of them for times
/// since 1970. Exponents are accepted. False if it is no number or does not fit.
bool parse_microseconds(std::string_view text, std::int64_t& nanoseconds);

}  // namespace adpipe::kineto
