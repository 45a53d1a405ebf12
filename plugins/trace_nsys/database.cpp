#include "database.hpp"

#include "../shared/sqlite_journal.hpp"

#include <adpipe/diagnostic.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

namespace adpipe::nsys {

namespace {

[[noreturn]] void fail(const std::filesystem::path& file, std::string code, std::string message, std::string hint = {}) {
    Diagnostic diagnostic;
    diagnostic.code = std::move(code);
    diagnostic.message = std::move(message);
    diagnostic.where.file = file.string();
    diagnostic.hint = std::move(hint);
    throw Error(std::move(diagnostic));
}

const char* again_hint = "export the recording again: nsys export --type sqlite <recording>.nsys-rep";

std::uint64_t big_endian(const unsigned char* bytes, int count) {
    std::uint64_t value = 0;
    for (int i = 0; i < count; ++i) value = value << 8U | bytes[i];
    return value;
}

/// Looks at the file's first bytes, because SQLite says "file is not a database" to everything that is wrong with them.
void check_header(const std::filesystem::path& file) {
    std::error_code error;
    if (std::filesystem::is_directory(file, error)) {
        fail(file, "ADP-IO-002", "this is a directory, not a trace", "name the .sqlite file that nsys exported");
    }
    std::array<unsigned char, 100> header{};
    std::ifstream stream(file, std::ios::binary);
    if (!stream) fail(file, "ADP-IO-001", "cannot open the trace: " + std::generic_category().message(errno));
    stream.read(reinterpret_cast<char*>(header.data()), header.size());
    const auto read = static_cast<std::size_t>(stream.gcount());
    if (read == 0) fail(file, "ADP-NSYS-001", "the file is empty", again_hint);
    constexpr std::string_view magic = "SQLite format 3";
    if (read < magic.size() || std::memcmp(header.data(), magic.data(), magic.size()) != 0) {
        const bool is_json = header[0] == '{' || header[0] == '[' || (header[0] == 0x1f && header[1] == 0x8b);
        fail(file, "ADP-NSYS-001", "not an SQLite database, or an encrypted one",
             is_json ? "this looks like a JSON trace: use trace.kineto" : again_hint);
    }
    const std::uint64_t stored_page = big_endian(&header[16], 2);
    const std::uint64_t page_size = stored_page == 1 ? 65536 : stored_page;
    const std::uint64_t pages = big_endian(&header[28], 4);
    const std::uint64_t size = std::filesystem::file_size(file, error);
    if (read < header.size() || page_size * pages > size) {
        fail(file, "ADP-NSYS-002",
             "the file is cut off: its header promises " + std::to_string(page_size * pages) + " bytes, there are " + std::to_string(size),
             again_hint);
    }
}

/// A journal beside the file means that its pages are only half of the truth.
void check_not_in_use(const std::filesystem::path& file) {
    if (const std::string beside = sqlite::open_change_beside(file); !beside.empty()) {
        fail(file, "ADP-NSYS-003", "another program is writing this file: '" + beside + "' lies beside it",
             "wait until the export is done, or export again");
    }
}

std::string uri_of(const std::filesystem::path& file, const char* parameters) {
    std::string uri = "file:";
    for (const char c : file.string()) {
        if (c == '?' || c == '#' || c == '%') {
            constexpr char digits[] = "0123456789ABCDEF";
            uri += '%';
            uri += digits[static_cast<unsigned char>(c) >> 4U];
            uri += digits[static_cast<unsigned char>(c) & 15U];
        } else {
            uri += c;
        }
    }
    return uri + parameters;
}

}  // namespace

bool equal_names(std::string_view a, std::string_view b) noexcept {
    return a.size() == b.size() && sqlite3_strnicmp(a.data(), b.data(), static_cast<int>(a.size())) == 0;
}

bool NameOrder::operator()(const std::string& a, const std::string& b) const noexcept { return sqlite3_stricmp(a.c_str(), b.c_str()) < 0; }

bool Query::is_number(int column) const noexcept {
    const int type = sqlite3_column_type(statement_.get(), column);
    if (type != SQLITE_TEXT) return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
    return sqlite3_value_numeric_type(sqlite3_column_value(statement_.get(), column)) != SQLITE_TEXT;
}

Query::Query(sqlite3* database, const std::string& sql, const std::filesystem::path& file) : file_(file) {
    sqlite3_stmt* statement = nullptr;
    const int result = sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr);
    statement_.reset(statement);
    if (result == SQLITE_BUSY || result == SQLITE_LOCKED) {
        fail(file, "ADP-NSYS-003", "the database is locked by another program", "wait until the export is done");
    }
    if (result != SQLITE_OK) {
        fail(file, "ADP-NSYS-004", std::string("the database is damaged: ") + sqlite3_errmsg(database), again_hint);
    }
}

bool Query::next() {
    const int result = sqlite3_step(statement_.get());
    if (result == SQLITE_ROW) return true;
    if (result == SQLITE_DONE) return false;
    sqlite3* database = sqlite3_db_handle(statement_.get());
    if (result == SQLITE_BUSY || result == SQLITE_LOCKED) {
        fail(file_, "ADP-NSYS-003", "the database is locked by another program", "wait until the export is done");
    }
    fail(file_, "ADP-NSYS-004", std::string("the database is damaged: ") + sqlite3_errmsg(database), again_hint);
}

std::string_view Query::text(int column) const noexcept {
    const unsigned char* text = sqlite3_column_text(statement_.get(), column);
    if (text == nullptr) return {};
    return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

void Query::bind(int parameter, std::int64_t value) { sqlite3_bind_int64(statement_.get(), parameter, value); }

Database::Database(const std::filesystem::path& file) : file_(std::filesystem::absolute(file)) {
    check_header(file_);
    check_not_in_use(file_);
    // First with locks, to notice a writer; then "immutable", which takes none and makes no file beside the user's (not even for a
    // database left in write-ahead mode).
    for (const char* parameters : {"?mode=ro&immutable=0", "?mode=ro&immutable=1"}) {
        std::ifstream stream(file_, std::ios::binary);
        std::array<char, 20> header{};
        stream.read(header.data(), header.size());
        const bool write_ahead = header[18] == 2;
        if (write_ahead && std::string_view(parameters).back() == '0') continue;
        sqlite3* handle = nullptr;
        const int result = sqlite3_open_v2(uri_of(file_, parameters).c_str(), &handle,
                                           SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
        handle_.reset(handle);
        if (result != SQLITE_OK) {
            fail(file_, "ADP-IO-001", std::string("cannot open the trace: ") + (handle ? sqlite3_errmsg(handle) : "out of memory"));
        }
        Query probe = query("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')");
        tables_.clear();
        while (probe.next()) tables_.emplace(probe.text(0));
    }
}

bool Database::understands(const std::string& sql) const noexcept {
    sqlite3_stmt* statement = nullptr;
    const int result = sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &statement, nullptr);
    sqlite3_finalize(statement);
    return result == SQLITE_OK;
}

Names Database::columns(const std::string& table) const {
    Names names;
    if (!has_table(table)) return names;
    Query info = query("PRAGMA table_info(\"" + table + "\")");
    while (info.next()) names.emplace(info.text(1));
    return names;
}

std::string Database::select(const std::string& table, std::initializer_list<const char*> wanted, const char* missing) const {
    const Names have = columns(table);
    std::string text;
    for (const char* column : wanted) {
        text.append(text.empty() ? "SELECT " : ", ").append(have.count(column) != 0 ? column : missing);
    }
    return text.append(" FROM ").append(table);
}

}  // namespace adpipe::nsys
