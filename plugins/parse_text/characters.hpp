#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace adpipe::parse {

enum CharacterClass : std::uint8_t {
    word_character = 1,    ///< part of a name, a number, a dotted path
    letter_character = 2,  ///< begins an identifier: letters and the underscore
    digit_character = 4,
    dot_character = 8,
    odd_character = 16,  ///< part of a word, never of an identifier: + - * / : ? and others
};

constexpr std::array<std::uint8_t, 256> make_character_classes() {
    std::array<std::uint8_t, 256> classes{};
    for (unsigned c = 0x21; c < 256; ++c) classes[c] = word_character | odd_character;
    for (const unsigned c : {0x7f, int{','}, int{'('}, int{')'}, int{'['}, int{']'}, int{'{'}, int{'}'}, int{'='}, int{'%'}, int{'"'},
                             int{'\''}, int{'<'}, int{'>'}, int{';'}}) {
        classes[c] = 0;
    }
    for (unsigned c = '0'; c <= '9'; ++c) classes[c] = word_character | digit_character;
    for (unsigned c = 'a'; c <= 'z'; ++c) classes[c] = word_character | letter_character;
    for (unsigned c = 'A'; c <= 'Z'; ++c) classes[c] = word_character | letter_character;
    classes['_'] = word_character | letter_character;
    classes['.'] = word_character | dot_character;
    return classes;
}

inline constexpr std::array<std::uint8_t, 256> character_classes = make_character_classes();

inline std::uint8_t class_of(char c) noexcept { return character_classes[static_cast<unsigned char>(c)]; }
inline bool is_class(char c, std::uint8_t wanted) noexcept { return (class_of(c) & wanted) != 0; }

/// A run of word characters, with the classes that occur in it.
struct Word {
    std::string_view text;
    std::uint8_t classes = 0;

    /// Letters, digits and underscores, maybe with dots between; not beginning with a digit.
    bool is_identifier() const noexcept {
        return !text.empty() && is_class(text.front(), letter_character) && (classes & odd_character) == 0 && text.back() != '.';
    }
};

/// Skips letters, digits and underscores, sixteen at a time where the processor can; maybe not all of them.
inline const char* skip_identifier_characters(const char* at, [[maybe_unused]] const char* end) noexcept {
#ifdef __SSE2__
    const auto within = [](__m128i c, char first, char last) {
        return _mm_and_si128(_mm_cmpgt_epi8(c, _mm_set1_epi8(static_cast<char>(first - 1))),
                             _mm_cmplt_epi8(c, _mm_set1_epi8(static_cast<char>(last + 1))));
    };
    for (; end - at >= 16; at += 16) {
        __m128i c;
        std::memcpy(&c, at, sizeof c);
        const __m128i letters = within(_mm_or_si128(c, _mm_set1_epi8(0x20)), 'a', 'z');
        const __m128i others = _mm_or_si128(within(c, '0', '9'), _mm_cmpeq_epi8(c, _mm_set1_epi8('_')));
        const auto mask = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(letters, others)));
        if (mask != 0xffffU) return at + __builtin_ctz(~mask);
    }
#endif
    return at;
}

/// The word that begins at `at`; empty if none does.
inline Word read_word(const char* at, const char* end) noexcept {
    const char* const begin = at;
    std::uint8_t classes = 0;
    at = skip_identifier_characters(at, end);
    for (; at != end; ++at) {
        const std::uint8_t here = class_of(*at);
        if ((here & word_character) == 0) break;
        classes |= here;
    }
    return {{begin, static_cast<std::size_t>(at - begin)}, classes};
}

inline bool starts_with(std::string_view text, std::string_view prefix) noexcept { return text.substr(0, prefix.size()) == prefix; }

inline bool ends_with(std::string_view text, std::string_view suffix) noexcept {
    return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

inline std::string_view trim(std::string_view text) noexcept {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

std::size_t count_lines(std::string_view text) noexcept;

/// "s44", "u3": how torch names a symbolic size. In a list it may also be a name that a line defines.
bool is_size_symbol(std::string_view word) noexcept;

/// A word in a list that Python prints for something that is no name: None, True, torch.float32, 4, -inf, 1e-05, s44*s70. Python prints
/// text in a list with quotes, so that an identifier there is a name, but for these constants.
bool is_literal_word(const Word& word) noexcept;

}  // namespace adpipe::parse
