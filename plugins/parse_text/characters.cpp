#include "characters.hpp"

namespace adpipe::parse {

std::size_t count_lines(std::string_view text) noexcept {
    std::size_t lines = 0;
    for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) ++lines;
    return lines;
}

bool is_size_symbol(std::string_view word) noexcept {
    if (word.size() < 2 || (word.front() != 's' && word.front() != 'u')) return false;
    for (const char c : word.substr(1)) {
        if (!is_class(c, digit_character)) return false;
    }
    return true;
}

bool is_literal_word(const Word& word) noexcept {
    if (!word.is_identifier()) return true;
    if ((word.classes & dot_character) != 0 && starts_with(word.text, "torch.")) return true;
    static constexpr std::array<std::string_view, 7> constants{"None", "True", "False", "inf", "nan", "Ellipsis", "NotImplemented"};
    if (word.text.size() > constants.back().size()) return false;
    for (const std::string_view constant : constants) {
        if (word.text == constant) return true;
    }
    return false;
}

}  // namespace adpipe::parse
