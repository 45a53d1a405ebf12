#include "config/source_text.hpp"

#include <algorithm>

namespace adpipe {

SourceText::SourceText(std::string name, std::string text) : name_{std::move(name)}, text_{std::move(text)}, line_begin_{0} {
    for (std::size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1)) line_begin_.push_back(at + 1);
}

std::string_view SourceText::line(std::uint32_t number) const noexcept {
    if (number == 0 || number > line_begin_.size()) return {};
    const std::size_t begin = line_begin_[number - 1];
    std::size_t end = number < line_begin_.size() ? line_begin_[number] - 1 : text_.size();
    if (end > begin && text_[end - 1] == '\r') --end;
    return std::string_view{text_}.substr(begin, end - begin);
}

Mark SourceText::mark_at(std::size_t offset) const noexcept {
    const auto next = std::upper_bound(line_begin_.begin(), line_begin_.end(), offset);
    const auto line = static_cast<std::uint32_t>(next - line_begin_.begin());
    return {line, static_cast<std::uint32_t>(offset - line_begin_[line - 1]) + 1};
}

std::size_t SourceText::offset_of(Mark mark) const noexcept {
    if (mark.line == 0 || mark.column == 0 || mark.line > line_begin_.size()) return text_.size();
    return std::min(line_begin_[mark.line - 1] + mark.column - 1, text_.size());
}

Diagnostic error_at(const Origin& origin, std::string code, std::string message) {
    Diagnostic diagnostic;
    diagnostic.code = std::move(code);
    diagnostic.message = std::move(message);
    if (origin.source) {
        diagnostic.where = {origin.source->name(), origin.mark.line, origin.mark.column};
        diagnostic.source_line = origin.source->line(origin.mark.line);
    }
    return diagnostic;
}

}  // namespace adpipe
