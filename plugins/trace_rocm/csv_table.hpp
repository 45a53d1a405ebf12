#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe::rocm {

/// A table of comma-separated values with a line of names, read row by row. Fields may be quoted, hold commas, line breaks and
/// doubled quotes. Keeps no row; `text` must outlive it.
class CsvTable {
public:
    explicit CsvTable(std::string_view text);

    const std::vector<std::string>& names() const noexcept { return names_; }
    /// Position of a column; -1 if there is none.
    int column(std::string_view name) const noexcept;

    /// Moves to the next row that is not empty; false behind the last.
    bool next();
    /// Field of the current row; empty for column -1 and for fields that the row lacks. Valid until the next call of next().
    std::string_view field(int column) const noexcept;
    std::size_t fields() const noexcept { return fields_.size(); }
    /// Whole number; `otherwise` if the field is none.
    std::int64_t integer(int column, std::int64_t otherwise) const noexcept;

    /// Line in the file on which the current row begins, from 1.
    std::uint32_t line() const noexcept { return row_line_; }
    /// The current row is the last, and the file ends in it without a line break.
    bool ends_open() const noexcept { return at_ == text_.size() && !closed_; }

private:
    bool read_row();
    std::string_view read_field();
    std::string_view read_quoted();

    std::string_view text_;
    std::size_t at_ = 0;
    std::uint32_t line_ = 1;
    std::uint32_t row_line_ = 1;
    bool closed_ = true;
    std::vector<std::string> names_;
    std::vector<std::string_view> fields_;
    std::vector<std::string> unescaped_;  ///< fields of the current row that held doubled quotes
};

}  // namespace adpipe::rocm
