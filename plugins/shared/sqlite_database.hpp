#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace adpipe::sqlite {

/// What a plugin expects of a database, for messages.
struct Expectation {
    const char* what;        ///< "a rocprofiler database"
    const char* again_hint;  ///< how to make a whole one
};

/// A prepared query. Columns count from 0.
class Query {
public:
    Query(sqlite3* database, const std::string& sql, const std::filesystem::path& file, const Expectation& expected);

    /// Moves to the next row; false behind the last. Throws Error (ADP-SQL-…) if the file is damaged or locked.
    bool next();
    std::int64_t integer(int column) const noexcept { return sqlite3_column_int64(statement_.get(), column); }
    bool is_null(int column) const noexcept { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }
    /// Valid until the next call of next(). Empty for NULL.
    std::string_view text(int column) const noexcept;
    void bind(int parameter, std::int64_t value) { sqlite3_bind_int64(statement_.get(), parameter, value); }
    /// The text is copied.
    void bind(int parameter, std::string_view text) {
        sqlite3_bind_text(statement_.get(), parameter, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
    }
    void reset() noexcept { sqlite3_reset(statement_.get()); }

private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
    };
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    const std::filesystem::path& file_;
    const Expectation& expected_;
};

/// A user's database, opened so that nothing is ever written: neither into the file nor beside it.
class Database {
public:
    /// Throws Error (ADP-SQL-…, ADP-IO-…) where the file is no database, is cut off, or is being written.
    Database(const std::filesystem::path& file, const Expectation& expected);

    Query query(const std::string& sql) const { return Query(handle_.get(), sql, file_, expected_); }
    /// Tables and views.
    bool has_table(const std::string& table) const { return tables_.count(table) != 0; }
    const std::set<std::string>& tables() const noexcept { return tables_; }
    /// The columns of a table or view; empty if it is not there.
    std::set<std::string> columns(const std::string& table) const;
    const std::filesystem::path& file() const noexcept { return file_; }

private:
    struct Close {
        void operator()(sqlite3* database) const noexcept { sqlite3_close(database); }
    };
    std::filesystem::path file_;
    Expectation expected_;
    std::unique_ptr<sqlite3, Close> handle_;
    std::set<std::string> tables_;
};

}  // namespace adpipe::sqlite
