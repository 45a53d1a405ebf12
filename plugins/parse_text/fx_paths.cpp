#include "fx_paths.hpp"

#include "characters.hpp"

#include <algorithm>
#include <array>

namespace adpipe::parse {

namespace {

constexpr int deepest = 64;

/// `, "0")` after the inner path of a getattr; gives the attribute.
bool read_attribute(std::string_view text, std::size_t& at, std::string& path) {
    const std::string_view rest = text.substr(at);
    if (rest.size() < 5 || !starts_with(rest, ", ") || (rest[2] != '"' && rest[2] != '\'')) return false;
    const std::size_t closed = rest.find(rest[2], 3);
    if (closed == std::string_view::npos || closed + 1 >= rest.size() || rest[closed + 1] != ')') return false;
    if (!path.empty()) path += '.';
    path += rest.substr(3, closed - 3);
    at += closed + 2;
    return true;
}

bool read_path(std::string_view text, std::size_t& at, std::string& path, int depth) {
    constexpr std::string_view fetch = "getattr(";
    if (depth > deepest) return false;
    if (starts_with(text.substr(at), fetch)) {
        at += fetch.size();
        if (!read_path(text, at, path, depth + 1) || !read_attribute(text, at, path)) return false;
    } else if (starts_with(text.substr(at), "self")) {
        at += 4;
    } else {
        return false;
    }
    while (at < text.size() && text[at] == '.') {
        const std::size_t begin = ++at;
        while (at < text.size() && is_class(text[at], letter_character | digit_character)) ++at;
        if (at == begin) return false;
        if (!path.empty()) path += '.';
        path += text.substr(begin, at - begin);
    }
    return true;
}

/// Inside the quotes that begin at `at`; moves behind them.
bool read_quoted(std::string_view text, std::size_t& at, std::string_view& inside) {
    if (at >= text.size() || (text[at] != '\'' && text[at] != '"')) return false;
    const std::size_t closed = text.find(text[at], at + 1);
    if (closed == std::string_view::npos) return false;
    inside = text.substr(at + 1, closed - at - 1);
    at = closed + 1;
    return true;
}

}  // namespace

bool read_self_path(std::string_view text, std::string& path, std::size_t& end) {
    path.clear();
    end = 0;
    if (!read_path(text, end, path, 0)) return false;
    return end == text.size() || !is_class(text[end], letter_character | digit_character);
}

bool read_module_stack(std::string_view comment, std::string_view& path) {
    constexpr std::string_view mark = "nn_module_stack: {";
    const std::size_t begin = comment.find(mark);
    if (begin == std::string_view::npos) return false;
    // Entries are 'key': ('path', 'class'); the last one is the innermost module. A path may be quoted with " if it holds '.
    bool found = false;
    std::size_t at = begin + mark.size();
    std::string_view key;
    while (read_quoted(comment, at, key) && starts_with(comment.substr(at), ": (")) {
        at += 3;
        std::string_view entry;
        if (!read_quoted(comment, at, entry)) break;
        path = entry;
        found = true;
        const std::size_t closed = comment.find(')', at);
        if (closed == std::string_view::npos || comment.substr(closed, 3) != "), ") break;
        at = closed + 3;
    }
    // What torch puts where no module was recorded.
    if (starts_with(path, "_empty_nn_module_stack")) path = {};
    for (const std::string_view root : {"L['self'].", "self."}) {
        if (starts_with(path, root)) path.remove_prefix(root.size());
    }
    return found;
}

std::string lifted_weight_path(std::string_view name) {
    constexpr std::array<std::string_view, 2> kinds{"_parameters_", "_buffers_"};
    constexpr std::string_view step = "_modules_";
    if (!starts_with(name, "L_") && !starts_with(name, "l_")) return {};
    std::string_view rest = name;
    while (ends_with(rest, "_")) rest.remove_suffix(1);
    for (const std::string_view kind : kinds) {
        const std::size_t at = rest.rfind(kind);
        if (at == std::string_view::npos) continue;
        std::string path;
        // What stands before is how the compiled code calls the model: "L_self", "L_args_0", "L_model".
        std::string_view modules = rest.substr(0, at);
        modules.remove_prefix(std::min(modules.find(step), modules.size()));
        while (starts_with(modules, step)) {
            modules.remove_prefix(step.size());
            const std::size_t next = modules.find(step);
            path += std::string{modules.substr(0, next)} + ".";
            modules = next == std::string_view::npos ? std::string_view{} : modules.substr(next);
        }
        return path + std::string{rest.substr(at + kind.size())};
    }
    return {};
}

std::string_view commented_weight_path(std::string_view comment) {
    for (const std::string_view mark : {"ParamAOTInput(target=", "BufferAOTInput(target="}) {
        std::size_t at = comment.find(mark);
        if (at == std::string_view::npos) continue;
        at += mark.size();
        std::string_view path;
        if (read_quoted(comment, at, path)) return path;
    }
    return {};
}

}  // namespace adpipe::parse
