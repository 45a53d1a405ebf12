#pragma once

#include "database.hpp"
#include "table_pages.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace adpipe::nsys {

/// An integer column that is wanted of every row of a table, and what stands for it where the table lacks it.
struct WantedColumn {
    const char* name;
    std::int64_t missing = 0;
};

/// Some integer columns of a large table, row by row. They come from the pages of the file where those are regular, which takes a fraction of the time
/// that SQLite takes, else from SQLite. Keeps a reference to the database.
class TableRows {
public:
    static constexpr std::int64_t first_row = std::numeric_limits<std::int64_t>::min();
    static constexpr std::int64_t last_row = std::numeric_limits<std::int64_t>::max();

    TableRows(const Database& database, const char* table, std::vector<WantedColumn> wanted);

    /// Whether the table has that wanted column.
    bool has(std::size_t wanted) const noexcept { return column_[wanted] >= 0; }

    /// Calls `start()`, then `use(row)` with the rows of ids from `first` to `last`, in order: `row.row_id()`, and `row.integer(w)` for a wanted column, which
    /// is 0 for NULL. If the pages turn out not to be regular, it begins again with `start()`. Several threads may read. Throws as Database does.
    template <class Start, class Use>
    void read(std::int64_t first, std::int64_t last, Start&& start, Use&& use) const {
        if (pages_) {
            start();
            if (pages_->read(first, last, [&](const PageRow& row) { use(FromPage{row, *this}); })) return;
        }
        start();
        const Database own(database_.file());  // a connection of its own: none is shared between threads
        const bool whole_table = first == first_row && last == last_row;
        Query rows = own.query(select_ + (whole_table ? "" : " WHERE rowid BETWEEN ? AND ?"));
        if (!whole_table) rows.bind(1, first), rows.bind(2, last);
        while (rows.next()) use(FromQuery{rows});
    }

private:
    struct FromPage {
        const PageRow& row;
        const TableRows& table;
        std::int64_t row_id() const noexcept { return row.row_id(); }
        [[gnu::always_inline]] std::int64_t integer(std::size_t wanted) const noexcept {
            const int column = table.column_[wanted];
            return column < 0 ? table.wanted_[wanted].missing : row.integer(static_cast<std::size_t>(column));
        }
    };
    struct FromQuery {
        const Query& query;
        std::int64_t row_id() const noexcept { return query.integer(0); }
        std::int64_t integer(std::size_t wanted) const noexcept { return query.integer(static_cast<int>(wanted) + 1); }
    };

    /// Finds the wanted columns; false where one is not stored in the rows as a plain column is.
    bool find_columns(const char* table);
    std::optional<TablePages> open_pages(const char* table) const;

    const Database& database_;
    std::vector<WantedColumn> wanted_;
    std::vector<int> column_;  ///< per wanted column, its place in the table; -1: not there
    std::string select_;       ///< the query for all of them
    std::optional<TablePages> pages_;
};

}  // namespace adpipe::nsys
