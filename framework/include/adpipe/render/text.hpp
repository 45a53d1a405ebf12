#pragma once

// Text as renderers need it: measured in terminal columns, cut, padded, and escaped for the languages that outputs are written in.
// Every function is pure and may be called from any thread.

#include <adpipe/export.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace adpipe::render {

/// Control characters and invalid UTF-8 as visible escapes (\n, \x1b), the rest as it is: safe on a terminal and inside one line.
ADPIPE_EXPORT std::string visible_text(std::string_view text);

/// Columns that `text` (UTF-8, one line) takes on a terminal: 2 for wide characters, 0 for combining marks.
ADPIPE_EXPORT int display_width(std::string_view text) noexcept;

/// `text` cut to at most `columns` columns, with "…" at the end if something was cut.
ADPIPE_EXPORT std::string fit(std::string_view text, int columns);
/// `text` cut in its middle, for names whose end tells them apart.
ADPIPE_EXPORT std::string fit_middle(std::string_view text, int columns);
/// `text` cut as by fit(), but of "name (what tells it apart)" both parts are cut only as far as needed, the name more.
ADPIPE_EXPORT std::string fit_name(std::string_view text, int columns);
/// `text` with spaces on its right (or left) up to `columns` columns.
ADPIPE_EXPORT std::string pad_right(std::string_view text, int columns);
ADPIPE_EXPORT std::string pad_left(std::string_view text, int columns);
/// `text` as lines of at most `columns` columns, broken at spaces; a longer word is cut. At least one line.
ADPIPE_EXPORT std::vector<std::string> wrapped(std::string_view text, int columns);
/// A bar for `share` (0 to 1, what lies outside is cut off) of `columns` columns, in eighths of a column; a share above 0 shows at least one eighth.
ADPIPE_EXPORT std::string bar_text(double share, int columns);

/// visible_text with & < > " ' as entities: text or attribute value in XML, HTML and Graphviz' HTML-like labels.
ADPIPE_EXPORT std::string xml_text(std::string_view text);
/// A quoted string of the DOT language, quotes included. Backslashes are doubled, so no escape sequence of Graphviz comes about.
ADPIPE_EXPORT std::string dot_string(std::string_view text);
/// One field of a comma-separated file (RFC 4180): quoted where it must be.
ADPIPE_EXPORT std::string csv_field(std::string_view text);
/// One field of a tab-separated file: tabs and line breaks as visible escapes.
ADPIPE_EXPORT std::string tsv_field(std::string_view text);
/// One cell of a Markdown table: what would end the cell or start markup is escaped.
ADPIPE_EXPORT std::string markdown_cell(std::string_view text);
/// A part of a file name: letters, digits, '.', '-', '_' as they are, the rest as '_'; never empty, never starting with '.'.
ADPIPE_EXPORT std::string file_name_part(std::string_view text);

}  // namespace adpipe::render
