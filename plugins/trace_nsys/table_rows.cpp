#include "table_rows.hpp"

namespace adpipe::nsys {

TableRows::TableRows(const Database& database, const char* table, std::vector<WantedColumn> wanted)
    : database_(database), wanted_(std::move(wanted)), column_(wanted_.size(), -1) {
    const bool all_stored = find_columns(table);
    select_ = "SELECT rowid";
    for (std::size_t w = 0; w < wanted_.size(); ++w) {
        select_.append(", ").append(has(w) ? wanted_[w].name : std::to_string(wanted_[w].missing));
    }
    select_.append(" FROM ").append(table);
    if (all_stored) pages_ = open_pages(table);
}

bool TableRows::find_columns(const char* table) {
    if (!database_.has_table(table)) return false;
    bool all_stored = true;
    enum Answer : int { place, name, primary_key = 5, hidden };
    Query columns = database_.query(std::string("PRAGMA table_xinfo('") + table + "')");
    while (columns.next()) {
        if (columns.integer(hidden) != 0) all_stored = false;  // computed: some such columns are in the rows, others are not
        for (std::size_t w = 0; w < wanted_.size(); ++w) {
            if (columns.text(name) != wanted_[w].name) continue;
            column_[w] = static_cast<int>(columns.integer(place));
            if (columns.integer(primary_key) != 0) all_stored = false;  // may be another word for the row id
        }
    }
    return all_stored;
}

std::optional<TablePages> TableRows::open_pages(const char* table) const {
    Query tree = database_.query(std::string("SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = '") + table + "'");
    if (!tree.next()) return std::nullopt;
    std::uint64_t wanted = 0;
    for (const int column : column_) {
        if (column >= static_cast<int>(PageRow::most_columns)) return std::nullopt;
        if (column >= 0) wanted |= std::uint64_t{1} << column;
    }
    return TablePages::open(database_.file(), tree.integer(0), wanted);
}

}  // namespace adpipe::nsys
