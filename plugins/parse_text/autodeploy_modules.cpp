#include "autodeploy_modules.hpp"

#include "characters.hpp"

#include <charconv>
#include <cstring>

namespace adpipe::parse {

namespace {

constexpr std::string_view module_header = "# GraphModule: ";

std::string_view line_at(std::string_view text, std::size_t begin) {
    const std::string_view rest = text.substr(begin);
    std::string_view line = rest.substr(0, rest.find('\n'));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
}

void check_count(std::string_view line, std::string_view number, const std::vector<ModuleText>& modules, const std::string& wanted,
                 Findings& findings) {
    std::size_t said = 0;
    const auto [end, failed] = std::from_chars(number.data(), number.data() + number.size(), said);
    if (failed != std::errc{} || end != number.data() + number.size()) {
        findings.error("ADP-AD-008", "the header's count of modules is no number: \"" + std::string{number} + "\"", number.data());
        return;
    }
    if (said == modules.size()) return;
    const std::string message = "the header says that " + std::to_string(said) + " GraphModules follow, but " +
                                std::to_string(modules.size()) + (modules.size() == 1 ? " does" : " do");
    const std::string hint = said > modules.size() ? "the file is cut off, or was edited" : "two dumps in one file, or it was edited";
    bool wanted_is_there = said < modules.size();
    for (const ModuleText& module : modules) {
        const bool is_whole_model = module.name == "monolithic.model" || ends_with(module.name, ".monolithic.model");
        wanted_is_there = wanted_is_there || module.name == wanted || (wanted == "auto" && is_whole_model);
    }
    if (wanted_is_there) findings.warning("ADP-AD-008", message, line.data(), hint);
    else findings.error("ADP-AD-008", message, line.data(), hint);
}

/// Without the blank lines and the rule that belong to the next module's header.
std::string_view without_next_header(std::string_view body) {
    const auto strip = [&](std::string_view characters) {
        const std::size_t last = body.find_last_not_of(characters);
        body = body.substr(0, last + 1);  // npos + 1 is 0
    };
    strip(" \r\n");
    strip("=");
    strip(" \r\n");
    return body;
}

}  // namespace

bool is_separator(std::string_view line) noexcept { return !line.empty() && line.find_first_not_of('=') == std::string_view::npos; }

std::vector<ModuleText> autodeploy_modules(std::string_view text) {
    std::vector<ModuleText> modules;
    for (std::size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
        const bool begins_line = at == 0 || text[at - 1] == '\n';
        if (!begins_line || !starts_with(text.substr(at), module_header)) continue;
        const std::string_view header = line_at(text, at);
        if (!modules.empty()) {
            const char* const begin = modules.back().body.data();
            modules.back().body = without_next_header({begin, static_cast<std::size_t>(text.data() + at - begin)});
        }
        at += header.size();
        modules.push_back({trim(header.substr(module_header.size())), header, text.substr(at)});
    }
    return modules;
}

void check_autodeploy_header(std::string_view text, const std::vector<ModuleText>& modules, const std::string& wanted, Findings& findings) {
    constexpr std::string_view count = "# GraphModules found:";
    const auto size = modules.empty() ? text.size() : static_cast<std::size_t>(modules.front().header.data() - text.data());
    for (std::size_t at = 0; at < size;) {
        const std::string_view line = line_at(text.substr(0, size), at);
        at = text.find('\n', at);
        at = at == std::string_view::npos ? size : at + 1;
        if (starts_with(line, count)) {
            check_count(line, trim(line.substr(count.size())), modules, wanted, findings);
        } else if (!trim(line).empty() && line.front() != '#' && !is_separator(line)) {
            findings.error("ADP-AD-001", "text before the first \"# GraphModule:\" line is not understood", line.data());
        }
    }
}

}  // namespace adpipe::parse
