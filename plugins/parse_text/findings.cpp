#include "findings.hpp"

#include "characters.hpp"

#include <algorithm>

namespace adpipe::parse {

namespace {

/// A longer line is not shown whole, and not at all where the caret would stand behind this.
constexpr std::size_t longest_line = 1 << 16;

std::string_view cut_between_characters(std::string_view text, std::size_t size) {
    if (text.size() <= size) return text;
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80U) --size;
    return text.substr(0, size);
}

}  // namespace

void Findings::error(const char* code, std::string message, const char* at, std::string hint) {
    add(errors_, Severity::error, code, std::move(message), at, std::move(hint));
}

void Findings::warning(const char* code, std::string message, const char* at, std::string hint) {
    add(warnings_, Severity::warning, code, std::move(message), at, std::move(hint));
}

void Findings::note(const char* code, std::string message, const char* at, std::string hint) {
    add(warnings_, Severity::note, code, std::move(message), at, std::move(hint));
}

void Findings::add(Kept& kept, Severity severity, const char* code, std::string message, const char* at, std::string hint) {
    if (++kept.total > limit) return;
    kept.diagnostics.push_back(diagnose(severity, code, std::move(message), at, std::move(hint)));
}

Diagnostic Findings::diagnose(Severity severity, const char* code, std::string message, const char* at, std::string hint) const {
    Diagnostic diagnostic{severity, code, std::move(message), {file_, 0, 0}, {}, {}, std::move(hint)};
    if (at == nullptr) return diagnostic;
    const auto offset = static_cast<std::size_t>(at - text_.data());
    const std::size_t before = offset == 0 ? std::string_view::npos : text_.rfind('\n', offset - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    diagnostic.where.line = line_of(at);
    diagnostic.where.column = static_cast<std::uint32_t>(offset - begin + 1);
    if (offset - begin >= longest_line) return diagnostic;
    const std::size_t shown = std::min(text_.size(), offset + longest_line);
    const std::string_view rest = text_.substr(begin, shown - begin);
    std::string_view line = rest.substr(0, rest.find('\n'));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    diagnostic.source_line = std::string{line};
    return diagnostic;
}

void Findings::throw_if_errors() const {
    if (errors_.total == 0) return;
    std::vector<Diagnostic> all = errors_.diagnostics;
    if (errors_.total > limit) {
        all.back().notes.push_back("and " + std::to_string(errors_.total - limit) + " more errors in this file");
    }
    const auto others = warnings();
    all.insert(all.end(), others.begin(), others.end());
    throw Error(std::move(all));
}

std::vector<Diagnostic> Findings::warnings() const {
    std::vector<Diagnostic> all = warnings_.diagnostics;
    if (warnings_.total > limit) {
        all.back().notes.push_back("and " + std::to_string(warnings_.total - limit) + " more warnings in this file");
    }
    return all;
}

std::uint32_t Findings::line_of(const char* at) const {
    // Most questions come in the order of the text; counting from its beginning each time would be quadratic.
    const auto offset = static_cast<std::size_t>(at - text_.data());
    if (offset < counted_.offset) counted_ = {0, 0};
    counted_.lines += count_lines(text_.substr(counted_.offset, offset - counted_.offset));
    counted_.offset = offset;
    return static_cast<std::uint32_t>(counted_.lines + 1);
}

std::string_view text_at(std::string_view text, const char* at) {
    const auto offset = static_cast<std::size_t>(at - text.data());
    std::string_view rest = text.substr(offset, 60);
    rest = rest.substr(0, rest.find_first_of("\r\n"));
    return cut_between_characters(rest, 40);
}

}  // namespace adpipe::parse
