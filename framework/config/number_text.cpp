#include "config/number_text.hpp"

#include <charconv>
#include <cmath>
#include <system_error>

namespace adpipe {
namespace {

template <class Number>
std::optional<Number> whole(std::string_view text) noexcept {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

bool has_leading_zero(std::string_view text) noexcept {
    if (!text.empty() && text.front() == '-') text.remove_prefix(1);
    return text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
    if (has_leading_zero(text) || text == "-0") return std::nullopt;
    return whole<std::int64_t>(text);
}

std::optional<double> parse_real(std::string_view text) noexcept {
    const bool begins_well = !text.empty() && ((text[0] >= '0' && text[0] <= '9') || text[0] == '-' || text[0] == '.');
    if (!begins_well || has_leading_zero(text)) return std::nullopt;  // from_chars takes "inf" and "nan"
    const auto number = whole<double>(text);
    return number && std::isfinite(*number) ? number : std::nullopt;
}

}  // namespace adpipe
