#include "characters.hpp"

namespace adpipe::parse {

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
    constexpr std::string_view longest = "NotImplemented";
    if (word.text.size() > longest.size()) return false;
    for (const std::string_view constant : {"None", "True", "False", "inf", "nan", "Ellipsis", longest.data()}) {
        if (word.text == constant) return true;
    }
    return false;
}

}  // namespace adpipe::parse
