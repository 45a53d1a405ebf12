#include "glob.hpp"

#include <cstring>

namespace adpipe::member {

bool matches_glob(std::string_view pattern, std::string_view text) noexcept {
    const std::size_t first_star = pattern.find('*');
    if (first_star == std::string_view::npos) return pattern == text;
    if (!text.starts_with(pattern.substr(0, first_star))) return false;
    text.remove_prefix(first_star);
    pattern.remove_prefix(first_star + 1);
    // Each piece between two stars at its first place: what is left for the rest is then the most.
    for (std::size_t star = pattern.find('*'); star != std::string_view::npos; star = pattern.find('*')) {
        const std::size_t at = text.find(pattern.substr(0, star));
        if (at == std::string_view::npos) return false;
        text.remove_prefix(at + star);
        pattern.remove_prefix(star + 1);
    }
    return text.ends_with(pattern);
}

std::uint64_t hash_text(std::string_view text, std::uint64_t seed) noexcept {
    std::uint64_t hash = combine(seed, text.size());
    std::size_t i = 0;
    for (; i + 8 <= text.size(); i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + i, 8);
        hash = combine(hash, word);
    }
    std::uint64_t tail = 0;
    if (i < text.size()) std::memcpy(&tail, text.data() + i, text.size() - i);
    return combine(hash, tail);
}

}  // namespace adpipe::member
