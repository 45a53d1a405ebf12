#pragma once

#include "database.hpp"
#include "table_pages.hpp"

#include <cstdint>
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
    using Part = TablePages::Part;

    TableRows(const Database& database, const char* table, std::vector<WantedColumn> wanted);

    /// Whether the table has that wanted column.
    bool has(std::size_t wanted) const noexcept { return column_[wanted] >= 0; }

    /// Calls `start()`, then `use(row)` with every row: `row.row_id()`; `row.integer(w)` for a wanted column, which is 0 for NULL; and `row.is_number(w)`. If
    /// the pages turn out not to be regular, it begins again with `start()`. Throws as Database does.
    template <class Start, class Use>
    void read(Start&& start, Use&& use) const {
        start();
        if (pages_ && pages_->read(0, pages_->leaf_count(), [&](const PageRow& row) { use(FromPage{row, *this}); })) return;
        start();
        read_by_sqlite(use);
    }

    /// Parts that threads may read side by side; none where only SQLite can tell the rows.
    std::vector<Part> parts(std::size_t most) const { return pages_ ? pages_->parts(most) : std::vector<Part>{}; }
    /// As read(), one part of them. False where the pages turn out not to be regular.
    template <class Use>
    bool read_part(const Part& part, Use&& use) const {
        return pages_->read(part.begin, part.end, [&](const PageRow& row) { use(FromPage{row, *this}); });
    }

    /// How many rows SQLite finds, and what it finds in them.
    std::size_t count_by_sqlite() const;
    template <class Use>
    void read_by_sqlite(Use&& use) const {
        Query rows = database_.query(select_);
        for (std::int64_t number = 1; rows.next(); ++number) use(FromQuery{rows, numbered_ ? number : rows.integer(0)});
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
        bool is_number(std::size_t wanted) const noexcept {
            const int column = table.column_[wanted];
            return column >= 0 && !row.is_null(static_cast<std::size_t>(column));
        }
    };
    struct FromQuery {
        const Query& query;
        std::int64_t id;
        std::int64_t row_id() const noexcept { return id; }
        std::int64_t integer(std::size_t wanted) const noexcept { return query.integer(static_cast<int>(wanted) + 1); }
        bool is_number(std::size_t wanted) const noexcept { return query.is_number(static_cast<int>(wanted) + 1); }
    };

    /// Finds the wanted columns; false where one is not stored in the rows as a plain column is.
    bool find_columns();
    std::string row_id_column() const;
    std::optional<TablePages> open_pages() const;

    const Database& database_;
    std::string table_;
    std::vector<WantedColumn> wanted_;
    std::vector<int> column_;  ///< per wanted column, its place in the table; -1: not there
    std::string select_;       ///< the query for all of them
    bool numbered_ = false;    ///< the rows have no ids (a view), so they are counted from 1
    std::optional<TablePages> pages_;
};

}  // namespace adpipe::nsys
