#include "cli/trace_kind.hpp"

#include <adpipe/diagnostic.hpp>

#include <fmt/format.h>
#include <sqlite3.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

namespace adpipe::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

constexpr const char* known_traces =
    "a trace is an SQLite export of Nsight Systems (nsys export -t sqlite), JSON of the PyTorch profiler, also as .gz, or a database "
    "or kernel trace CSV of rocprofv3";

std::string message_of(int error) { return std::generic_category().message(error); }

/// The first bytes of a regular file: enough for a magic number, and for the first line of a table. Throws Error if it cannot be read.
std::string beginning_of(const fs::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status {};
    const bool opened = descriptor >= 0 && ::fstat(descriptor, &status) == 0;
    std::string bytes(8192, '\0');
    const ssize_t count = opened && S_ISREG(status.st_mode) ? ::read(descriptor, bytes.data(), bytes.size()) : 0;
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    if (!opened || count < 0) throw Error("ADP-IO-001", fmt::format("cannot open {}: {}", file.string(), message_of(error)));
    if (S_ISDIR(status.st_mode)) {
        throw Error("ADP-IO-002", fmt::format("cannot read {}: {}", file.string(), message_of(EISDIR)), "name a trace in this directory");
    }
    if (!S_ISREG(status.st_mode)) throw Error("ADP-IO-003", fmt::format("cannot read {}: not a regular file", file.string()));
    bytes.resize(static_cast<std::size_t>(count));
    return bytes;
}

bool begins_with(std::string_view text, std::string_view begin) { return text.substr(0, begin.size()) == begin; }

/// "immutable": SQLite takes no lock and makes no file beside the user's.
std::string immutable_uri(const fs::path& file) {
    std::string uri = "file:";
    for (const char c : fs::absolute(file).string()) {
        if (c == '?' || c == '#' || c == '%') uri += fmt::format("%{:02X}", static_cast<unsigned>(c));
        else uri += c;
    }
    return uri + "?mode=ro&immutable=1";
}

/// Tables and views of a database; nothing if it cannot be read.
std::optional<std::set<std::string>> tables_of(const fs::path& file) {
    sqlite3* handle = nullptr;
    const int opened = sqlite3_open_v2(immutable_uri(file).c_str(), &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
    const std::unique_ptr<sqlite3, int (*)(sqlite3*)> database{handle, &sqlite3_close};
    if (opened != SQLITE_OK) return std::nullopt;
    sqlite3_stmt* prepared = nullptr;
    sqlite3_prepare_v2(handle, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')", -1, &prepared, nullptr);
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement{prepared, &sqlite3_finalize};
    if (!statement) return std::nullopt;
    std::set<std::string> names;
    int result = SQLITE_DONE;
    while ((result = sqlite3_step(prepared)) == SQLITE_ROW) {
        names.emplace(reinterpret_cast<const char*>(sqlite3_column_text(prepared, 0)));
    }
    if (result != SQLITE_DONE) return std::nullopt;
    return names;
}

[[noreturn]] void fail_foreign_database(const fs::path& file, const std::set<std::string>& tables) {
    Diagnostic diagnostic;
    diagnostic.code = "ADP-USE-008";
    diagnostic.message = fmt::format("{} is an SQLite database, but no trace that adpipe knows", file.string());
    constexpr std::ptrdiff_t most_named = 8;
    const auto end = std::next(tables.begin(), std::min(most_named, static_cast<std::ptrdiff_t>(tables.size())));
    diagnostic.notes = {
        "looked for: StringIds or CUPTI_ACTIVITY_KIND_… (Nsight Systems), rocpd_… (rocprofiler)",
        tables.empty() ? "it holds no table"
                       : fmt::format("it holds {}{}", fmt::join(tables.begin(), end, ", "), end == tables.end() ? "" : ", …"),
    };
    diagnostic.hint = known_traces;
    throw Error(std::move(diagnostic));
}

std::string database_stage(const fs::path& file) {
    const auto tables = tables_of(file);
    if (!tables) return "trace.nsys";  // its reader says what is wrong with the database
    const auto has_prefix = [&](std::string_view prefix) {
        const auto at = tables->lower_bound(std::string{prefix});
        return at != tables->end() && begins_with(*at, prefix);
    };
    if (has_prefix("rocpd_")) return "trace.rocpd";
    if (has_prefix("CUPTI_ACTIVITY_KIND_") || has_prefix("StringIds") || has_prefix("META_DATA_EXPORT") || has_prefix("EXPORT_META_DATA")) {
        return "trace.nsys";
    }
    fail_foreign_database(file, *tables);
}

/// A table of rocprofv3, or of one of its kin: the reader says which of them it does not read.
bool is_rocprof_table(std::string_view text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const auto names = [&](std::string_view column) { return line.find(column) != std::string_view::npos; };
    return line.find(',') != std::string_view::npos &&
           (names("Kernel_Name") || names("KernelName") || (names("Start_Timestamp") && names("End_Timestamp")));
}

}  // namespace

std::string trace_stage(const fs::path& file) {
    const std::string begin = beginning_of(file);
    if (file.extension() == ".nsys-rep" || file.extension() == ".qdrep") return "trace.nsys";
    if (begins_with(begin, "SQLite format 3\0"sv)) return database_stage(file);
    if (begins_with(begin, "\x1f\x8b")) return "trace.kineto";
    const std::size_t first = begin.find_first_not_of(" \t\r\n\xef\xbb\xbf");
    if (first != std::string::npos && (begin[first] == '{' || begin[first] == '[')) return "trace.kineto";
    if (is_rocprof_table(begin)) return "trace.rocprof_csv";
    const bool empty = first == std::string::npos;
    throw Error("ADP-USE-008", fmt::format("{} {}", file.string(), empty ? "is empty" : "is no trace that adpipe knows"), known_traces);
}

}  // namespace adpipe::cli
