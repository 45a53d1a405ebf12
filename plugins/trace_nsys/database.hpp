#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe::nsys {

/// Upper and lower case are equal in SQLite's names.
bool equal_names(std::string_view a, std::string_view b) noexcept;
struct NameOrder {
    bool operator()(const std::string& a, const std::string& b) const noexcept;
};
using Names = std::set<std::string, NameOrder>;

/// A prepared query. Columns count from 0.
class Query {
public:
    Query(sqlite3* database, const std::string& sql, const std::filesystem::path& file);

    bool next();
    std::int64_t integer(int column) const noexcept { return sqlite3_column_int64(statement_.get(), column); }
    bool is_null(int column) const noexcept { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }
    /// An integer, a real, or a text that is all number.
    bool is_number(int column) const noexcept;
    /// Valid until the next call of next().
    std::string_view text(int column) const noexcept;
    void bind(int parameter, std::int64_t value);
    /// Starts again, for other parameters.
    void reset() noexcept { sqlite3_reset(statement_.get()); }

private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
    };
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    const std::filesystem::path& file_;
};

/// An export of Nsight Systems, opened so that nothing is ever written: neither into the file nor beside it.
class Database {
public:
    /// Throws Error where the file is no such database, is cut off, or is being written.
    explicit Database(const std::filesystem::path& file);

    Query query(const std::string& sql) const { return Query(handle_.get(), sql, file_); }
    bool has_table(const std::string& table) const { return tables_.count(table) != 0; }
    /// The columns of a table; empty if it is not there.
    Names columns(const std::string& table) const;
    /// Whether a query can be asked at all.
    bool understands(const std::string& sql) const noexcept;
    /// A query of those columns, in that order; `missing` (an SQL value) stands for those that the table lacks.
    std::string select(const std::string& table, std::initializer_list<const char*> wanted, const char* missing = "NULL") const;
    const std::filesystem::path& file() const noexcept { return file_; }

private:
    struct Close {
        void operator()(sqlite3* database) const noexcept { sqlite3_close(database); }
    };
    std::filesystem::path file_;
    std::unique_ptr<sqlite3, Close> handle_;
    Names tables_;
};

}  // namespace adpipe::nsys
