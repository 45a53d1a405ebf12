#include "config/environment.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace adpipe {
namespace {

bool is_variable_name(std::string_view name) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    return !name.empty() && is_letter(name.front()) &&
           std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

std::string expand_environment(std::string& text, const EnvironmentLookup& lookup) {
    std::string result;
    std::string_view rest = text;
    while (true) {
        const std::size_t at = std::min(rest.find("${"), rest.size());
        result += rest.substr(0, at);
        if (at == rest.size()) break;
        if (at > 0 && rest[at - 1] == '$') {  // the first '$' of "$${" is already in the result
            result += '{';
            rest.remove_prefix(at + 2);
            continue;
        }
        const std::size_t end = rest.find('}', at);
        if (end == std::string_view::npos) return "'${' without its '}'; write $${ for the characters themselves";
        const std::string_view inside = rest.substr(at + 2, end - at - 2);
        const std::size_t dash = inside.find(":-");
        const std::string name{inside.substr(0, dash)};
        if (!is_variable_name(name)) return fmt::format("'${{{}}}' does not name an environment variable", inside);
        const char* value = lookup(name.c_str());
        if (dash != std::string_view::npos && (value == nullptr || *value == '\0')) {
            result += inside.substr(dash + 2);
        } else if (value == nullptr) {
            return fmt::format("the environment variable {0} is not set; ${{{0}:-default}} gives it a default", name);
        } else {
            result += value;
        }
        rest.remove_prefix(end + 1);
    }
    text = std::move(result);
    return {};
}

}  // namespace adpipe
