#pragma once

#include <adpipe/export.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

namespace adpipe {

enum class Severity : std::uint8_t { note, warning, error };

/// A place in a file. Line and column count from 1; 0 means "not known".
struct Location {
    std::string file;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
};

/// One message to the user: what happened, where, and what to do about it.
struct Diagnostic {
    Severity severity = Severity::error;
    /// Stable code, "ADP-<AREA>-<number>", listed in docs/errors.md.
    std::string code;
    std::string message;
    Location where;
    /// The text of the line at `where`, if there is one to show; printed with a caret under `where.column`.
    std::string source_line;
    std::vector<std::string> notes;
    std::string hint;
};

/// The form people read: `file:line:col: error: message [code]`, source line with caret, notes, hint. Ends with a newline.
/// Control characters and invalid UTF-8 in any field are shown as escapes; a long source line is cut around the caret.
ADPIPE_EXPORT std::string format_text(const Diagnostic& diagnostic, bool colour = false);

/// The same as one JSON object, without a newline.
ADPIPE_EXPORT std::string format_json(const Diagnostic& diagnostic);

/// What a stage throws when it cannot go on. Carries at least one diagnostic of severity `error`.
class ADPIPE_EXPORT Error : public std::exception {
public:
    explicit Error(Diagnostic diagnostic);
    explicit Error(std::vector<Diagnostic> diagnostics);
    Error(std::string code, std::string message, std::string hint = {});
    Error(const Error&);
    Error& operator=(const Error&);
    ~Error() override;

    const char* what() const noexcept override;
    const std::vector<Diagnostic>& diagnostics() const noexcept { return diagnostics_; }

private:
    std::vector<Diagnostic> diagnostics_;
    std::string what_;
};

}  // namespace adpipe
