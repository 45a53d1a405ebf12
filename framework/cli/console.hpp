#pragma once

#include <adpipe/diagnostic.hpp>
#include <adpipe/stage.hpp>

#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe::cli {

/// Standard output, written in large pieces.
class Output {
public:
    /// How much is written at once.
    static constexpr std::size_t piece = 1U << 18U;

    static Output& standard();
    void write(std::string_view text);
    /// Writes what is buffered. False, once and for all, if something could not be written.
    bool flush();

private:
    std::string buffer_;
    int error_ = 0;
    friend int finish(int status);
};

/// The last thing a verb does: writes what is buffered. Returns `status`, or exit_failed with a diagnostic if writing failed.
int finish(int status);

/// Text for people, on standard error.
void tell(std::string_view text);
/// Diagnostics on standard error; of more than twenty errors, the first twenty.
void show(const std::vector<Diagnostic>& diagnostics);
/// Colour on standard error: on a terminal, unless NO_COLOR is set.
bool error_has_colour();
/// True where progress makes sense: standard error is a terminal.
bool error_is_terminal();
/// Columns of the terminal that standard error is; nothing where it is none, or does not say.
std::optional<int> error_columns();
/// Standard output, for stages that print.
Terminal output_terminal();

/// A text as a JSON string, quotes included; what is no UTF-8 is replaced.
std::string json_text(std::string_view text);
/// `text` with tabs, line ends and other control characters as blanks: a field of a TSV line.
std::string tsv_text(std::string_view text);
/// The same in place.
void blank_controls(std::span<char> text);

/// Columns of what is printed for people to read.
inline constexpr int text_columns = 100;
/// `text` broken at spaces so that it ends before text_columns; the first line is one that already holds `indent` columns, the others begin with as many
/// spaces. Of its own line breaks those stay that end a paragraph, or stand before a line that begins with a space or a sign.
std::string broken(std::string_view text, std::size_t indent);

/// Rows as columns that line up, two blanks apart; the last column is not padded.
std::string aligned(const std::vector<std::vector<std::string>>& rows, std::string_view indent = "");

}  // namespace adpipe::cli
