#include "fx_modules.hpp"

#include "characters.hpp"

#include <map>

namespace adpipe::parse {

namespace {

constexpr std::string_view base_class = "(torch.nn.Module):";

struct ClassHeader {
    std::string_view line;
    std::string_view name;
    std::size_t indent = 0;
};

std::size_t indent_of(std::string_view line) {
    const std::size_t indent = line.find_first_not_of(" \t");
    return indent == std::string_view::npos ? line.size() : indent;
}

/// "class GraphModule(torch.nn.Module):", "class <lambda>(torch.nn.Module):", after blanks, a log's prefix or a file's name.
bool is_class_header(std::string_view line, ClassHeader& header) {
    constexpr std::string_view keyword = "class ";
    const std::size_t base = line.find(base_class);
    if (base == std::string_view::npos) return false;
    const std::string_view text = without_log_prefix(line);
    const std::size_t begin = text.find(keyword);
    const std::size_t end = text.find(base_class);
    if (begin == std::string_view::npos || end == std::string_view::npos || begin + keyword.size() > end) return false;
    const std::string_view before = text.substr(0, begin);
    if (before.find('#') != std::string_view::npos || before.find('"') != std::string_view::npos) return false;
    header = {line, text.substr(begin + keyword.size(), end - begin - keyword.size()), indent_of(text)};
    return true;
}

std::vector<ClassHeader> class_headers(std::string_view text) {
    std::vector<ClassHeader> headers;
    for (std::size_t at = text.find(base_class); at != std::string_view::npos; at = text.find(base_class, at + 1)) {
        const std::size_t before = text.rfind('\n', at);
        const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
        std::string_view line = text.substr(begin, text.find('\n', at) - begin);
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        ClassHeader header;
        if ((headers.empty() || headers.back().line.data() != line.data()) && is_class_header(line, header)) headers.push_back(header);
    }
    return headers;
}

/// Names as a user would say them: a class in a class carries its owner's name; equal names are numbered.
std::vector<std::string> unique_names(const std::vector<ClassHeader>& headers) {
    std::size_t outermost = 0;
    for (const ClassHeader& header : headers) outermost += header.indent == headers.front().indent;
    std::vector<std::string> names;
    std::map<std::string, int> seen;
    std::vector<std::pair<std::size_t, std::string>> owners;  // indent and name of the classes around
    for (const ClassHeader& header : headers) {
        while (!owners.empty() && owners.back().first >= header.indent) owners.pop_back();
        std::string name{header.name};
        if (!owners.empty()) name = owners.back().second + "." + name;
        else if (outermost == 1) name = "(root)";
        const int number = ++seen[name];
        if (number > 1) name += "#" + std::to_string(number);
        owners.emplace_back(header.indent, name);
        names.push_back(std::move(name));
    }
    return names;
}

}  // namespace

std::string_view without_log_prefix(std::string_view line) noexcept {
    const auto digit = [&](std::size_t i) { return is_class(line[i], digit_character); };
    const bool has_prefix = line.size() > 6 && std::string_view{"VDIWE"}.find(line[0]) != std::string_view::npos && digit(1) && digit(2) &&
                            digit(3) && digit(4) && line[5] == ' ';
    if (!has_prefix) return line;
    std::size_t at = line.find("] ");
    if (at == std::string_view::npos) return line;
    at += 2;
    while (at < line.size() && line[at] == '[') {  // "[0/0] [__graph_code] "
        const std::size_t closed = line.find("] ", at);
        if (closed == std::string_view::npos) return line.back() == ']' ? line.substr(line.size()) : line;
        at = closed + 2;
    }
    return line.substr(at);
}

std::vector<ModuleText> fx_modules(std::string_view text, std::vector<std::string>& names) {
    const std::vector<ClassHeader> headers = class_headers(text);
    std::vector<ModuleText> modules;
    if (headers.empty()) return modules;
    names = unique_names(headers);
    for (std::size_t i = 0; i < headers.size(); ++i) {
        const char* const begin = headers[i].line.data() + headers[i].line.size();
        const char* const end = i + 1 < headers.size() ? headers[i + 1].line.data() : text.data() + text.size();
        modules.push_back({names[i], headers[i].line, {begin, static_cast<std::size_t>(end - begin)}});
    }
    return modules;
}

}  // namespace adpipe::parse
