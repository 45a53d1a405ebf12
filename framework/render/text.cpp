#include <adpipe/render/text.hpp>

#include "model/display_text.hpp"

#include <algorithm>
#include <cctype>
#include <array>
#include <cmath>
#include <cstdint>

namespace adpipe::render {

namespace {

struct Range {
    std::uint32_t first;
    std::uint32_t last;
};

// Unicode East Asian Width W and F, and emoji, in blocks: exact enough for names of kernels and nodes.
constexpr std::array<Range, 13> wide_ranges{{{0x1100, 0x115f},
                                             {0x2e80, 0x303e},
                                             {0x3041, 0x33ff},
                                             {0x3400, 0x4dbf},
                                             {0x4e00, 0x9fff},
                                             {0xa000, 0xa4cf},
                                             {0xac00, 0xd7a3},
                                             {0xf900, 0xfaff},
                                             {0xfe30, 0xfe6f},
                                             {0xff00, 0xff60},
                                             {0xffe0, 0xffe6},
                                             {0x1f300, 0x1faff},
                                             {0x20000, 0x3fffd}}};
// Combining marks, zero-width spaces and joiners, variation selectors.
constexpr std::array<Range, 8> zero_width_ranges{{{0x0300, 0x036f},
                                                  {0x0483, 0x0489},
                                                  {0x0591, 0x05bd},
                                                  {0x200b, 0x200f},
                                                  {0x20d0, 0x20ff},
                                                  {0xfe00, 0xfe0f},
                                                  {0xfe20, 0xfe2f},
                                                  {0xfeff, 0xfeff}}};

template <std::size_t Size>
bool is_in(const std::array<Range, Size>& ranges, std::uint32_t code) {
    return std::any_of(ranges.begin(), ranges.end(), [code](const Range& range) { return code >= range.first && code <= range.last; });
}

std::uint32_t code_point(std::string_view character) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(character[i])); };
    switch (character.size()) {
        case 2: return (byte(0) & 0x1fU) << 6U | (byte(1) & 0x3fU);
        case 3: return (byte(0) & 0x0fU) << 12U | (byte(1) & 0x3fU) << 6U | (byte(2) & 0x3fU);
        case 4: return (byte(0) & 0x07U) << 18U | (byte(1) & 0x3fU) << 12U | (byte(2) & 0x3fU) << 6U | (byte(3) & 0x3fU);
        default: return byte(0);
    }
}

int character_width(std::string_view character) {
    const std::uint32_t code = code_point(character);
    if (code < 0x300) return 1;
    if (is_in(zero_width_ranges, code)) return 0;
    return is_in(wide_ranges, code) ? 2 : 1;
}

/// The first character of `text`; a byte that starts no valid UTF-8 counts as one.
std::string_view first_character(std::string_view text) { return text.substr(0, std::max<std::size_t>(1, utf8_length(text))); }

/// The longest start of `text` that takes at most `columns`.
std::string_view start_of(std::string_view text, int columns) {
    std::size_t bytes = 0;
    int width = 0;
    while (bytes < text.size()) {
        const std::string_view character = first_character(text.substr(bytes));
        width += character_width(character);
        if (width > columns) break;
        bytes += character.size();
    }
    return text.substr(0, bytes);
}

std::string replace_characters(std::string_view text, std::string_view (*replacement)(char)) {
    std::string out;
    out.reserve(text.size() + 8);
    for (const char c : text) {
        const std::string_view instead = replacement(c);
        if (instead.empty()) out += c;
        else out += instead;
    }
    return out;
}

}  // namespace

std::string visible_text(std::string_view text) { return display_text(text); }

int display_width(std::string_view text) noexcept {
    int width = 0;
    while (!text.empty()) {
        const std::string_view character = first_character(text);
        width += character_width(character);
        text.remove_prefix(character.size());
    }
    return width;
}

std::string fit(std::string_view text, int columns) {
    if (columns <= 0) return {};
    if (display_width(text) <= columns) return std::string{text};
    return std::string{start_of(text, columns - 1)} + "…";
}

namespace {

/// "elementwise add": the last word says the most, unless it is a size ("fp8_gemm_1d2d 64x128x128") or leaves too little of the others.
std::string fit_before_last_word(std::string_view name, int columns) {
    const std::size_t blank = name.rfind(' ');
    if (display_width(name) <= columns || blank == std::string_view::npos) return fit(name, columns);
    const std::string_view last = name.substr(blank);
    constexpr int least_of_others = 5;
    const int room = columns - display_width(last);
    const bool is_word = last.size() > 1 && std::isalpha(static_cast<unsigned char>(last[1])) != 0;
    return !is_word || room < least_of_others ? fit(name, columns) : fit(name.substr(0, blank), room).append(last);
}

/// Values stand at the end: "vector 4, OnSelf_add" → "…r 4, OnSelf_add".
std::string fit_end(std::string_view text, int columns) {
    if (display_width(text) <= columns) return std::string{text};
    while (!text.empty() && display_width(text) >= columns) {
        text.remove_prefix(1);
        while (!text.empty() && (static_cast<unsigned char>(text.front()) & 0xc0U) == 0x80U) text.remove_prefix(1);
    }
    return std::string{"…"}.append(text);
}

}  // namespace

std::string fit_name(std::string_view text, int columns) {
    constexpr int around = 3;  // " (" and ")"
    const std::size_t open = text.rfind(" (");
    if (display_width(text) <= columns || open == std::string_view::npos || text.back() != ')') return fit(text, columns);
    const std::string_view name = text.substr(0, open);
    const std::string_view apart = text.substr(open + 2, text.size() - open - 3);
    const int room = columns - around;
    if (room < 2 * around) return fit(text, columns);
    constexpr int short_text = 14;
    constexpr int shortest_name = 3;
    int for_apart = std::min(display_width(apart), std::max(room - display_width(name), room * 6 / 10));
    if (display_width(apart) <= short_text && room - display_width(apart) >= shortest_name) for_apart = display_width(apart);
    std::string out = fit_before_last_word(name, room - for_apart);
    return out.append(" (").append(fit_end(apart, for_apart)).append(")");
}

std::string fit_middle(std::string_view text, int columns) {
    const int width = display_width(text);
    if (width <= columns) return std::string{text};
    if (columns < 3) return fit(text, columns);
    const std::string_view head = start_of(text, (columns - 1) / 2);
    std::string_view tail = text.substr(head.size());
    while (display_width(tail) > columns - 1 - display_width(head)) tail.remove_prefix(first_character(tail).size());
    return std::string{head} + "…" + std::string{tail};
}

std::string pad_right(std::string_view text, int columns) {
    return std::string{text} + std::string(static_cast<std::size_t>(std::max(0, columns - display_width(text))), ' ');
}

std::string pad_left(std::string_view text, int columns) {
    return std::string(static_cast<std::size_t>(std::max(0, columns - display_width(text))), ' ') + std::string{text};
}

std::vector<std::string> wrapped(std::string_view text, int columns) {
    std::vector<std::string> lines{""};
    while (!text.empty()) {
        const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::string word = fit(text.substr(begin, end - begin), columns);
        text.remove_prefix(end);
        if (word.empty()) continue;
        std::string& line = lines.back();
        if (line.empty()) line = word;
        else if (display_width(line) + static_cast<int>(begin) + display_width(word) <= columns) line.append(begin, ' ').append(word);
        else lines.push_back(word);
    }
    return lines;
}

std::string bar_text(double share, int columns) {
    static constexpr std::array<std::string_view, 8> parts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    if (!(share > 0)) return {};
    const int eighths = std::max(1, static_cast<int>(std::lround(std::min(share, 1.0) * columns * 8)));
    std::string bar;
    for (int i = 0; i < eighths / 8; ++i) bar += "█";
    return bar.append(parts[static_cast<std::size_t>(eighths % 8)]);
}

std::string xml_text(std::string_view text) {
    return replace_characters(visible_text(text), [](char c) -> std::string_view {
        switch (c) {
            case '&': return "&amp;";
            case '<': return "&lt;";
            case '>': return "&gt;";
            case '"': return "&quot;";
            case '\'': return "&#39;";
            default: return {};
        }
    });
}

std::string dot_string(std::string_view text) {
    return '"' +
           replace_characters(visible_text(text),
                              [](char c) -> std::string_view {
                                  switch (c) {
                                      case '"': return "\\\"";
                                      case '\\': return "\\\\";
                                      default: return {};
                                  }
                              }) +
           '"';
}

std::string csv_field(std::string_view text) {
    const std::string clean = visible_text(text);
    if (clean.find_first_of(",\"") == std::string::npos) return clean;
    return '"' + replace_characters(clean, [](char c) -> std::string_view { return c == '"' ? "\"\"" : ""; }) + '"';
}

std::string tsv_field(std::string_view text) { return visible_text(text); }

std::string markdown_cell(std::string_view text) {
    return replace_characters(visible_text(text), [](char c) -> std::string_view {
        switch (c) {
            case '|': return "\\|";
            case '\\': return "\\\\";
            case '`': return "\\`";
            case '*': return "\\*";
            case '_': return "\\_";
            case '[': return "\\[";
            case ']': return "\\]";
            case '~': return "\\~";
            case '<': return "&lt;";
            case '>': return "&gt;";
            case '&': return "&amp;";
            default: return {};
        }
    });
}

std::string file_name_part(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
        out += plain ? c : '_';
    }
    if (out.empty() || out.front() == '.') out.insert(out.begin(), '_');
    return out;
}

}  // namespace adpipe::render
