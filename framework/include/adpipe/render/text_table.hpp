#pragma once

#include <adpipe/export.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace adpipe::render {

/// How a piece of terminal text is set off. Shown only where colour is wanted; nothing is said by it alone.
enum class Emphasis : unsigned char { none, strong, quiet, warm, hot };
/// `text` in the escape sequences of `emphasis`; as it is if `colour` is false.
ADPIPE_EXPORT std::string emphasised(std::string_view text, Emphasis emphasis, bool colour);

/// A table for terminals: columns line up whatever characters are in them, and the whole fits a width.
class ADPIPE_EXPORT TextTable {
public:
    struct Column {
        std::string head;
        bool right = false;   ///< numbers stand on the right
        int least = 0;        ///< least width of a column that may be cut; 0: it is never cut
        int most = 1000;      ///< no wider than this
        int gap = 2;          ///< spaces before it; the first column has none
        bool may_go = false;  ///< left out where the table would be too wide with it
    };
    struct Cell {
        std::string text;  ///< raw; shown through visible_text
        Emphasis emphasis = Emphasis::none;
    };

    explicit TextTable(std::vector<Column> columns);
    void add_row(std::vector<Cell> cells);
    /// A row whose first cell runs over the empty cells behind it.
    void add_heading(std::vector<Cell> cells);
    /// A line across the table.
    void add_rule();

    /// Lines, each ending with a line break, none wider than `width` as far as the columns allow.
    std::string text(int width, bool colour) const;

private:
    enum class Kind : unsigned char { row, heading, rule };
    struct Row {
        Kind kind;
        std::vector<Cell> cells;
    };
    std::vector<int> widths(int width) const;
    bool fits(const std::vector<int>& widths, int width) const;
    int total_width(const std::vector<int>& widths) const;
    std::string line(const Row& row, const std::vector<int>& widths, bool colour) const;

    std::vector<Column> columns_;
    std::vector<Row> rows_;
};

/// The cell of a column of bars, for a column without head and with a gap of 1: `part` as a bar of up to 8 columns, the largest of them full.
ADPIPE_EXPORT TextTable::Cell bar_cell(double part, double largest);

}  // namespace adpipe::render
