#include <adpipe/diagnostic.hpp>

#include "model/display_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string_view>

namespace adpipe {

namespace {

std::string_view severity_text(Severity severity) {
    switch (severity) {
        case Severity::note: return "note";
        case Severity::warning: return "warning";
        case Severity::error: return "error";
    }
    return "error";
}

std::string_view severity_colour(Severity severity) {
    switch (severity) {
        case Severity::note: return "\033[1;36m";
        case Severity::warning: return "\033[1;35m";
        case Severity::error: return "\033[1;31m";
    }
    return "";
}

std::string position(const Location& where) {
    if (where.file.empty()) return {};
    std::string text = display_text(where.file);
    if (where.line != 0) text += fmt::format(":{}", where.line);
    if (where.line != 0 && where.column != 0) text += fmt::format(":{}", where.column);
    return text + ": ";
}

std::size_t previous_boundary(std::string_view text, std::size_t at) {
    while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U) --at;
    return at;
}

/// Code points, which is what the caret has to be moved by; wide characters put it a little off.
std::size_t code_points(std::string_view text) {
    std::size_t count = 0;
    for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
    return count;
}

/// The source line with a caret under `column`; of a long line, the part around it.
std::string source_excerpt(const Diagnostic& diagnostic) {
    constexpr std::size_t before = 60;
    constexpr std::size_t after = 40;
    std::string_view line = diagnostic.source_line;
    const std::size_t column = diagnostic.where.column == 0 ? 0 : diagnostic.where.column - 1;
    const std::size_t caret = previous_boundary(line, std::min<std::size_t>(column, line.size()));
    const bool is_long = line.size() > before + after;
    const std::size_t begin = is_long && caret > before ? previous_boundary(line, caret - before) : 0;
    const std::size_t end = is_long ? previous_boundary(line, std::min(line.size(), caret + after)) : line.size();
    const std::string lead = (begin > 0 ? "…" : "") + display_text(line.substr(begin, caret - begin));
    const std::string rest = display_text(line.substr(caret, end - caret)) + (end < line.size() ? "…" : "");
    const std::string number = diagnostic.where.line == 0 ? "" : std::to_string(diagnostic.where.line);
    std::string text = fmt::format(" {:>4} | {}{}\n", number, lead, rest);
    if (diagnostic.where.column != 0) text += fmt::format("      | {:>{}}\n", "^", code_points(lead) + 1);
    return text;
}

}  // namespace

std::string format_text(const Diagnostic& diagnostic, bool colour) {
    const std::string_view on = colour ? severity_colour(diagnostic.severity) : "";
    const std::string_view off = colour ? "\033[0m" : "";
    std::string text = fmt::format("{}{}{}:{} {}", position(diagnostic.where), on, severity_text(diagnostic.severity), off,
                                   display_text(diagnostic.message));
    text += diagnostic.code.empty() ? "\n" : fmt::format(" [{}]\n", diagnostic.code);
    if (!diagnostic.source_line.empty()) text += source_excerpt(diagnostic);
    for (const std::string& note : diagnostic.notes) text += fmt::format("  note: {}\n", display_text(note));
    if (!diagnostic.hint.empty()) text += fmt::format("  hint: {}\n", display_text(diagnostic.hint));
    return text;
}

std::string format_json(const Diagnostic& diagnostic) {
    nlohmann::ordered_json json;
    json["severity"] = severity_text(diagnostic.severity);
    json["code"] = diagnostic.code;
    json["message"] = diagnostic.message;
    if (!diagnostic.where.file.empty()) json["file"] = diagnostic.where.file;
    if (diagnostic.where.line != 0) json["line"] = diagnostic.where.line;
    if (diagnostic.where.column != 0) json["column"] = diagnostic.where.column;
    if (!diagnostic.source_line.empty()) json["source_line"] = diagnostic.source_line;
    if (!diagnostic.notes.empty()) json["notes"] = diagnostic.notes;
    if (!diagnostic.hint.empty()) json["hint"] = diagnostic.hint;
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Error::Error(Diagnostic diagnostic) : Error(std::vector<Diagnostic>{std::move(diagnostic)}) {}

Error::Error(std::vector<Diagnostic> diagnostics)
    : diagnostics_(std::move(diagnostics)), what_(diagnostics_.empty() ? "error" : diagnostics_.front().message) {}

Error::Error(std::string code, std::string message, std::string hint)
    : Error(Diagnostic{Severity::error, std::move(code), std::move(message), {}, {}, {}, std::move(hint)}) {}

Error::Error(const Error&) = default;
Error& Error::operator=(const Error&) = default;
Error::~Error() = default;

const char* Error::what() const noexcept { return what_.c_str(); }

}  // namespace adpipe
