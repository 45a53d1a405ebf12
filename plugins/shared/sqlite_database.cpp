#include "sqlite_database.hpp"

#include "sqlite_journal.hpp"

#include <adpipe/diagnostic.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace adpipe::sqlite {

namespace {

[[noreturn]] void fail(const char* code, const std::filesystem::path& file, std::string message, std::string hint) {
    Diagnostic diagnostic;
    diagnostic.code = code;
    diagnostic.message = std::move(message);
    diagnostic.where.file = file.string();
    diagnostic.hint = std::move(hint);
    throw Error(std::move(diagnostic));
}

[[noreturn]] void fail_query(sqlite3* database, int result, const std::filesystem::path& file, const Expectation& expected) {
    if (result == SQLITE_BUSY || result == SQLITE_LOCKED) {
        fail("ADP-SQL-003", file, "another program has locked the database", "wait until it is done");
    }
    fail("ADP-SQL-004", file, std::string("the database is damaged: ") + sqlite3_errmsg(database), expected.again_hint);
}

/// The beginning of a regular file, and its size.
struct Beginning {
    std::array<unsigned char, 100> bytes{};
    std::size_t read = 0;
    std::uint64_t size = 0;
};

Beginning read_beginning(const std::filesystem::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status {};
    const bool opened = descriptor >= 0 && ::fstat(descriptor, &status) == 0;
    Beginning beginning;
    ssize_t count = 0;
    if (opened && S_ISREG(status.st_mode)) count = ::read(descriptor, beginning.bytes.data(), beginning.bytes.size());
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    if (!opened || count < 0) {
        fail("ADP-IO-001", file, "cannot open " + file.string() + ": " + std::generic_category().message(error), {});
    }
    if (S_ISDIR(status.st_mode)) {
        fail("ADP-IO-002", file, "cannot read " + file.string() + ": " + std::generic_category().message(EISDIR),
             "name a file in this directory");
    }
    if (!S_ISREG(status.st_mode)) fail("ADP-IO-003", file, "cannot read " + file.string() + ": not a regular file", {});
    beginning.read = static_cast<std::size_t>(count);
    beginning.size = static_cast<std::uint64_t>(status.st_size);
    return beginning;
}

std::uint64_t big_endian(const unsigned char* bytes, int count) {
    std::uint64_t value = 0;
    for (int i = 0; i < count; ++i) value = value << 8U | bytes[i];
    return value;
}

/// Looks at the header itself: SQLite says "file is not a database" to everything that is wrong with it.
void check_header(const std::filesystem::path& file, const Expectation& expected) {
    const Beginning beginning = read_beginning(file);
    if (beginning.size == 0) fail("ADP-SQL-001", file, "the file is empty", expected.again_hint);
    constexpr std::string_view magic("SQLite format 3\0", 16);
    const std::string_view text(reinterpret_cast<const char*>(beginning.bytes.data()), beginning.read);
    if (text.substr(0, magic.size()) != magic) {
        fail("ADP-SQL-001", file, std::string("this is no SQLite database, and so not ") + expected.what, expected.again_hint);
    }
    const std::uint64_t stored_page = big_endian(&beginning.bytes[16], 2);
    const std::uint64_t promised = (stored_page == 1 ? 65536 : stored_page) * big_endian(&beginning.bytes[28], 4);
    if (beginning.read < beginning.bytes.size() || promised > beginning.size) {
        fail("ADP-SQL-002", file,
             "the database is cut off: its header promises " + std::to_string(promised) + " bytes, there are " +
                 std::to_string(beginning.size),
             expected.again_hint);
    }
}

/// A journal beside the file means that the file alone is only half of the truth.
void check_not_in_use(const std::filesystem::path& file) {
    if (const std::string beside = open_change_beside(file); !beside.empty()) {
        fail("ADP-SQL-003", file, "another program is writing the database: " + beside + " lies beside it", "wait until it is done");
    }
}

/// "immutable": SQLite takes no lock and makes no file beside the user's, not even for a database left in write-ahead mode.
std::string immutable_uri(const std::filesystem::path& file) {
    std::string uri = "file:";
    for (const char ch : std::filesystem::absolute(file).string()) {
        if (ch == '?' || ch == '#' || ch == '%') {
            constexpr char digits[] = "0123456789ABCDEF";
            uri += {'%', digits[static_cast<unsigned char>(ch) >> 4U], digits[static_cast<unsigned char>(ch) & 15U]};
        } else {
            uri += ch;
        }
    }
    return uri + "?mode=ro&immutable=1";
}

}  // namespace

Query::Query(sqlite3* database, const std::string& sql, const std::filesystem::path& file, const Expectation& expected)
    : file_(file), expected_(expected) {
    sqlite3_stmt* statement = nullptr;
    const int result = sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr);
    statement_.reset(statement);
    if (result != SQLITE_OK) fail_query(database, result, file, expected);
}

bool Query::next() {
    const int result = sqlite3_step(statement_.get());
    if (result != SQLITE_ROW && result != SQLITE_DONE) fail_query(sqlite3_db_handle(statement_.get()), result, file_, expected_);
    return result == SQLITE_ROW;
}

std::string_view Query::text(int column) const noexcept {
    const unsigned char* const text = sqlite3_column_text(statement_.get(), column);
    if (text == nullptr) return {};
    return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Database::Database(const std::filesystem::path& file, const Expectation& expected) : file_(file), expected_(expected) {
    check_header(file_, expected_);
    check_not_in_use(file_);
    sqlite3* handle = nullptr;
    const int result = sqlite3_open_v2(immutable_uri(file_).c_str(), &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
                                       nullptr);
    handle_.reset(handle);
    if (result != SQLITE_OK) {
        fail("ADP-IO-001", file_, "cannot open " + file_.string() + ": " + (handle ? sqlite3_errmsg(handle) : "out of memory"), {});
    }
    Query names = query("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')");
    while (names.next()) tables_.emplace(names.text(0));
}

std::set<std::string> Database::columns(const std::string& table) const {
    std::set<std::string> names;
    if (!has_table(table)) return names;
    Query info = query("PRAGMA table_info(\"" + table + "\")");
    while (info.next()) names.emplace(info.text(1));
    return names;
}

}  // namespace adpipe::sqlite
