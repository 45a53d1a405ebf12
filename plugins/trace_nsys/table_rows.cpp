#include "table_rows.hpp"

namespace adpipe::nsys {

TableRows::TableRows(const Database& database, const char* table, std::vector<WantedColumn> wanted)
    : database_(database), table_(table), wanted_(std::move(wanted)), column_(wanted_.size(), -1) {
    if (!database_.has_table(table_)) return;
    const bool all_stored = find_columns();
    const std::string row_id = row_id_column();
    numbered_ = row_id.empty();
    select_ = "SELECT " + (numbered_ ? "0" : row_id);
    for (std::size_t w = 0; w < wanted_.size(); ++w) {
        select_.append(", ").append(has(w) ? wanted_[w].name : std::to_string(wanted_[w].missing));
    }
    select_.append(" FROM ").append(table_);
    if (all_stored && !numbered_) pages_ = open_pages();
}

bool TableRows::find_columns() {
    bool all_stored = true;
    enum Answer : int { place, name, primary_key = 5, hidden };
    Query columns = database_.query("PRAGMA table_xinfo('" + table_ + "')");
    while (columns.next()) {
        if (columns.integer(hidden) != 0) all_stored = false;  // computed: some such columns are in the rows, others are not
        for (std::size_t w = 0; w < wanted_.size(); ++w) {
            if (!equal_names(columns.text(name), wanted_[w].name)) continue;
            column_[w] = static_cast<int>(columns.integer(place));
            if (columns.integer(primary_key) != 0) all_stored = false;  // may be another word for the row id
        }
    }
    return all_stored;
}

/// The first word for the row id that is no column's name; none for a view, for which SQLite may give NULL, and for a table without row ids.
std::string TableRows::row_id_column() const {
    Query kind = database_.query("SELECT type FROM sqlite_master WHERE name = '" + table_ + "' COLLATE NOCASE");
    if (!kind.next() || kind.text(0) == "view") return {};
    const Names columns = database_.columns(table_);
    for (const char* word : {"rowid", "_rowid_", "oid"}) {
        if (columns.count(word) != 0) continue;
        const std::string query = std::string("SELECT ") + word + " FROM " + table_ + " LIMIT 0";
        return database_.understands(query) ? word : std::string{};
    }
    return {};
}

std::optional<TablePages> TableRows::open_pages() const {
    Query tree = database_.query("SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = '" + table_ + "' COLLATE NOCASE");
    if (!tree.next()) return std::nullopt;
    std::uint64_t wanted = 0;
    for (const int column : column_) {
        if (column >= static_cast<int>(PageRow::most_columns)) return std::nullopt;
        if (column >= 0) wanted |= std::uint64_t{1} << column;
    }
    return TablePages::open(database_.file(), tree.integer(0), wanted);
}

std::size_t TableRows::count_by_sqlite() const {
    Query count = database_.query("SELECT count(*) FROM " + table_);
    return count.next() ? static_cast<std::size_t>(count.integer(0)) : 0;
}

}  // namespace adpipe::nsys
