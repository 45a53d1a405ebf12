#include "fx_statement.hpp"

#include "arguments.hpp"
#include "fx_modules.hpp"

#include <cstring>
#include <vector>

namespace adpipe::parse {

namespace {

const char* line_end(const char* at, const char* end) {
    const void* newline = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
    return newline == nullptr ? end : static_cast<const char*>(newline);
}

/// Python's printed text never goes over the end of a line.
const char* quote_end(const char* at, const char* end) { return skip_quoted(at, line_end(at, end)); }

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

const char* find_closing(const char* at, const char* end) noexcept {
    std::size_t depth = 0;
    while (at != end) {
        switch (*at) {
            case '(':
            case '[':
            case '{': ++depth; break;
            case ')':
            case ']':
            case '}':
                if (--depth == 0) return at;
                break;
            case '#': at = line_end(at, end); continue;
            case '\'':
            case '"':
                at = quote_end(at, end);
                if (at == nullptr) return nullptr;
                continue;
            default: break;
        }
        ++at;
    }
    return nullptr;
}

bool FxStatements::next(Statement& statement) {
    while (at_ != end_ && (is_blank(*at_) || *at_ == ';')) {
        const bool begins_line = *at_ == '\n';
        ++at_;
        if (!begins_line || at_ == end_) continue;
        const std::string_view line{at_, static_cast<std::size_t>(line_end(at_, end_) - at_)};
        at_ += line.size() - without_log_prefix(line).size();
    }
    if (at_ == end_) return false;
    statement = {};
    const char* const begin = at_;
    if (*begin == '#') {
        at_ = line_end(begin, end_);
        statement.is_comment = true;
    } else {
        at_ = statement_end(begin, statement.unclosed);
    }
    statement.text = trim({begin, static_cast<std::size_t>(at_ - begin)});
    return true;
}

const char* FxStatements::statement_end(const char* at, const char*& unclosed) const {
    for (; at != end_; ++at) {
        switch (*at) {
            case ';':
            case '\n':
            case '#': return at;
            case '\'':
            case '"': {
                const char* const closed = quote_end(at, end_);
                if (closed == nullptr) {
                    unclosed = at;
                    return line_end(at, end_);
                }
                at = closed - 1;
                break;
            }
            case '(':
            case '[':
            case '{': {
                const char* const closed = find_closing(at, end_);
                if (closed == nullptr) {
                    unclosed = at;
                    return line_end(at, end_);
                }
                at = closed;
                break;
            }
            default: break;
        }
    }
    return at;
}

}  // namespace adpipe::parse
