#pragma once

#include <string_view>

namespace adpipe::parse {

/// Steps through the statements of Python text as torch.fx writes it. A statement ends at ';' or at the end of its line, outside quotes
/// and brackets; a bracket that is open goes on in the next line. A comment is a statement of its own.
class FxStatements {
public:
    FxStatements(const char* begin, const char* end) : at_(begin), end_(end) {}

    struct Statement {
        std::string_view text;  ///< without blanks around
        bool is_comment = false;
        const char* unclosed = nullptr;  ///< a bracket or quote that is never closed
    };
    /// False at the end of the text.
    bool next(Statement& statement);
    const char* position() const { return at_; }
    void move_to(const char* at) { at_ = at; }

private:
    const char* statement_end(const char* at, const char*& unclosed) const;

    const char* at_;
    const char* end_;
};

/// The place of the bracket that closes the one at `at`, over lines, quotes and comments; nullptr if there is none.
const char* find_closing(const char* at, const char* end) noexcept;

}  // namespace adpipe::parse
