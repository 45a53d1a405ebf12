// Reading large tables of an Nsight Systems export: the pages read by adpipe against the rows that SQLite gives.

#include "table_pages.hpp"
#include "table_rows.hpp"
#include "temporary_file.hpp"

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

using namespace adpipe::nsys;

namespace {

using Row = std::vector<std::int64_t>;  // the row's id, then its columns
using Rows = std::vector<Row>;

/// A database that is made by SQL.
class MadeDatabase {
public:
    explicit MadeDatabase(const std::string& sql) : file_("") { run(sql); }

    void run(const std::string& sql) const {
        sqlite3* handle = nullptr;
        REQUIRE(sqlite3_open(file_.path().c_str(), &handle) == SQLITE_OK);
        char* wrong = nullptr;
        const int result = sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &wrong);
        INFO((wrong != nullptr ? wrong : ""), " in ", sql);
        CHECK(result == SQLITE_OK);
        sqlite3_free(wrong);
        sqlite3_close(handle);
    }

    const std::filesystem::path& path() const { return file_.path(); }

private:
    TemporaryFile file_;
};

/// What SQLite gives for `columns` of the table t.
Rows rows_of_sqlite(const std::filesystem::path& file, const std::string& columns, std::size_t count) {
    const Database database(file);
    Query query = database.query("SELECT rowid, " + columns + " FROM t ORDER BY rowid");
    Rows rows;
    while (query.next()) {
        rows.emplace_back();
        for (std::size_t c = 0; c <= count; ++c) rows.back().push_back(query.integer(static_cast<int>(c)));
    }
    return rows;
}

/// The pages of t, of which the first `count` columns are wanted.
std::optional<TablePages> pages_of(const std::filesystem::path& file, std::size_t count) {
    std::int64_t root = 0;
    {
        const Database database(file);
        Query query = database.query("SELECT rootpage FROM sqlite_master WHERE name = 't'");
        REQUIRE(query.next());
        root = query.integer(0);
    }
    return TablePages::open(file, root, (std::uint64_t{1} << count) - 1);
}

/// The first `count` columns of t from its pages; false where they are not regular.
bool rows_of_pages(const std::filesystem::path& file, std::size_t count, Rows& rows) {
    const auto pages = pages_of(file, count);
    return pages && pages->read(0, pages->leaf_count(), [&](const PageRow& row) {
        rows.push_back({row.row_id()});
        for (std::size_t c = 0; c < count; ++c) rows.back().push_back(row.integer(c));
    });
}

/// A statement that inserts rows of three integers of every length, every eighth of them NULL, and a text.
std::string insert_rows(int count, int step, unsigned seed) {
    std::mt19937_64 random(seed);
    std::ostringstream sql;
    sql << "BEGIN;";
    for (int i = 0; i < count; ++i) {
        sql << "INSERT INTO t (rowid, a, b, name, c) VALUES (" << i * step - 50;
        for (const char* column : {"a", "b", "name", "c"}) {
            if (*column == 'n') sql << ", '" << std::string(random() % 90, 'x') << "'";
            else if (random() % 8 == 0) sql << ", NULL";
            else sql << ", " << static_cast<std::int64_t>(random()) / (std::int64_t{1} << random() % 63U);
        }
        sql << ");";
    }
    sql << "COMMIT;";
    return sql.str();
}

std::string content_of(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

const char* const table = "CREATE TABLE t (a INTEGER, b INTEGER NOT NULL DEFAULT 7, c INTEGER);";

}  // namespace

TEST_CASE("nsys pages: integers of every length, as SQLite reads them, in pages of every size") {
    for (const int page_size : {512, 1024, 4096, 65536}) {
        CAPTURE(page_size);
        const MadeDatabase made("PRAGMA page_size = " + std::to_string(page_size) +
                                "; CREATE TABLE t (a INTEGER, b INTEGER, c INTEGER, name TEXT);" + insert_rows(3000, 3, 1) +
                                "DELETE FROM t WHERE a % 5 = 0;");
        Rows rows;
        REQUIRE(rows_of_pages(made.path(), 3, rows));
        CHECK(rows == rows_of_sqlite(made.path(), "a, b, c", 3));
        CHECK(rows.size() > 2000);
    }
}

TEST_CASE("nsys pages: parts hold all rows, each in its own range of ids") {
    const MadeDatabase made("PRAGMA page_size = 512; CREATE TABLE t (a INTEGER, b INTEGER, c INTEGER, name TEXT);" +
                            insert_rows(3000, 1, 2) + "DELETE FROM t WHERE a % 5 = 0;");
    const Rows all = rows_of_sqlite(made.path(), "a", 1);
    const auto pages = pages_of(made.path(), 1);
    REQUIRE(pages);
    for (const std::size_t most : {1U, 2U, 7U, 100'000U}) {
        CAPTURE(most);
        const std::vector<TablePages::Part> parts = pages->parts(most);
        CHECK(parts.size() == std::min(most, pages->leaf_count()));
        Rows rows;
        std::int64_t next = all.front()[0];
        for (const TablePages::Part& part : parts) {
            CHECK(part.first_row == next);
            next = part.last_row + 1;
            CHECK(pages->read(part.begin, part.end, [&](const PageRow& row) {
                rows.push_back({row.row_id(), row.integer(0)});
                CHECK((row.row_id() >= part.first_row && row.row_id() <= part.last_row));
            }));
        }
        CHECK(next == all.back()[0] + 1);
        CHECK(rows == all);
    }
}

TEST_CASE("nsys pages: no place is kept for row ids that far more rows would need") {
    const auto part_count = [](const std::string& rows) {
        const MadeDatabase made(std::string(table) + "INSERT INTO t (rowid, a) VALUES " + rows);
        const auto pages = pages_of(made.path(), 1);
        REQUIRE(pages);
        return pages->parts(1).size();
    };
    CHECK(part_count("(7, 1), (8, 1), (20, 1)") == 1);
    CHECK(part_count("(7, 1), (8, 1), (1000000000, 1)") == 0);
    CHECK(part_count("(7, 1), (9223372036854775807, 1)") == 0);
    CHECK(part_count("(-9223372036854775808, 1), (9223372036854775807, 1)") == 0);
    CHECK(pages_of(MadeDatabase(table).path(), 1)->parts(1).empty());
}

TEST_CASE("nsys pages: a row id that does not belong where it stands is not believed") {
    const MadeDatabase made("PRAGMA page_size = 512; CREATE TABLE t (a INTEGER, b INTEGER, c INTEGER, name TEXT);" +
                            insert_rows(400, 1, 5));
    const std::string whole = content_of(made.path());
    std::mt19937 random(6);
    std::size_t changed = 0;
    for (int round = 0; round < 300; ++round) {
        std::string damaged = whole;
        damaged[1024 + random() % (damaged.size() - 1024)] ^= static_cast<char>(1U << random() % 8U);
        const TemporaryFile file(damaged);
        Rows rows;
        const auto pages = TablePages::open(file.path(), 2, 7);
        if (!pages || !pages->read(0, pages->leaf_count(), [&](const PageRow& row) { rows.push_back({row.row_id()}); })) {
            ++changed;
            continue;
        }
        CHECK(rows.size() == 400);  // what is believed is complete
    }
    CHECK(changed > 20);
}

TEST_CASE("nsys pages: the smallest and the largest numbers, and the two that take no room") {
    const MadeDatabase made(std::string(table) +
                            "INSERT INTO t VALUES (-9223372036854775808, 9223372036854775807, -1), (0, 1, 127), (-128, 32767, -32768), "
                            "(8388607, -8388608, 2147483647), (140737488355327, -140737488355328, 128);"
                            "INSERT INTO t (rowid, a, b, c) VALUES (9223372036854775807, 1, 2, 3), (-9223372036854775808, 4, 5, 6);");
    Rows rows;
    REQUIRE(rows_of_pages(made.path(), 3, rows));
    CHECK(rows == rows_of_sqlite(made.path(), "a, b, c", 3));
    CHECK(rows.size() == 7);
}

TEST_CASE("nsys pages: what is not regular is left to SQLite") {
    const auto is_regular = [](const std::string& sql, std::size_t count = 3) {
        Rows rows;
        return rows_of_pages(MadeDatabase(sql).path(), count, rows);
    };
    CHECK(is_regular(std::string(table) + "INSERT INTO t VALUES (1, 2, 3)"));
    CHECK(is_regular(table));
    CHECK_FALSE(is_regular(std::string(table) + "INSERT INTO t VALUES (1, 2, 'three')"));
    CHECK(is_regular(std::string(table) + "INSERT INTO t VALUES (1, 2, 'three')", 2));
    CHECK_FALSE(is_regular(std::string(table) + "INSERT INTO t VALUES (1, 2, 3.5)"));
    CHECK_FALSE(is_regular(std::string(table) + "INSERT INTO t VALUES (1, zeroblob(100000), 3)", 1));  // goes on in other pages
    CHECK_FALSE(is_regular("CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN b INTEGER DEFAULT 9", 2));
    CHECK_FALSE(is_regular("CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER, c INTEGER) WITHOUT ROWID; INSERT INTO t VALUES (1, 2, 3)"));
    CHECK_FALSE(is_regular("CREATE TABLE u (a INTEGER); CREATE VIEW t AS SELECT * FROM u", 1));
}

TEST_CASE("nsys tables: the same rows, whoever reads them") {
    const auto read = [](const MadeDatabase& made) {
        const Database database(made.path());
        const TableRows table_rows(database, "t", {{"c"}, {"absent", -1}, {"a"}});
        CHECK(table_rows.has(0));
        CHECK_FALSE(table_rows.has(1));
        Rows rows;
        table_rows.read([&] { rows.clear(); },
                        [&](const auto& row) {
                            rows.push_back({row.row_id(), row.integer(0), row.integer(1), row.integer(2)});
                        });
        return rows;
    };
    const std::string some = "INSERT INTO t (rowid, a, b, c) VALUES (5, 1, 2, 3), (9, NULL, 5, 6);";
    const Rows wanted{{5, 3, -1, 1}, {9, 6, -1, 0}};
    CHECK(read(MadeDatabase(table + some)) == wanted);
    // By SQLite: a number written as text, a column that is another word for the row id, columns that are computed or were added later.
    CHECK(read(MadeDatabase(std::string("CREATE TABLE t (a, b, c);") +
                            "INSERT INTO t (rowid, a, b, c) VALUES (5, '1', 2, 3), (9, NULL, 5, '6');")) == wanted);
    CHECK(read(MadeDatabase("CREATE TABLE t (a INTEGER, b INTEGER, c INTEGER, k INTEGER PRIMARY KEY);" + some)) == wanted);
    CHECK(read(MadeDatabase("CREATE TABLE t (a INTEGER, x AS (a + 1), b INTEGER, c INTEGER);" + some)) == wanted);
    CHECK(read(MadeDatabase("CREATE TABLE t (a INTEGER, b INTEGER); INSERT INTO t (rowid, a, b) VALUES (5, 1, 2); ALTER TABLE t ADD COLUMN "
                            "c INTEGER DEFAULT 3;"
                            "INSERT INTO t (rowid, a, b, c) VALUES (9, NULL, 5, 6)")) == wanted);
    const MadeDatabase key("CREATE TABLE t (c INTEGER, a INTEGER PRIMARY KEY); INSERT INTO t VALUES (3, 1), (6, 2)");
    CHECK(read(key) == Rows{{1, 3, -1, 1}, {2, 6, -1, 2}});
    // Names in other letters, a column called rowid, and rows that have no ids.
    CHECK(read(MadeDatabase("CREATE TABLE T (A INTEGER, B INTEGER, C INTEGER);" + some)) == wanted);
    CHECK(read(MadeDatabase("CREATE TABLE t (rowid INTEGER, a INTEGER, c INTEGER); INSERT INTO t (_rowid_, rowid, a, c) VALUES (5, 8, 1, "
                            "3), (9, 8, NULL, 6)")) == wanted);
    const Rows counted{{1, 3, -1, 1}, {2, 6, -1, 0}};
    CHECK(read(MadeDatabase("CREATE TABLE u (a, b, c); INSERT INTO u VALUES (1, 2, 3), (NULL, 5, 6); CREATE VIEW t AS SELECT * FROM u")) ==
          counted);
    CHECK(
        read(MadeDatabase(
            "CREATE TABLE t (k INTEGER PRIMARY KEY, a INTEGER, c INTEGER) WITHOUT ROWID; INSERT INTO t VALUES (4, 1, 3), (6, NULL, 6)")) ==
        counted);
}

TEST_CASE("nsys pages: no damage does harm, and what is read in spite of it is in order") {
    const MadeDatabase made("PRAGMA page_size = 512; CREATE TABLE t (a INTEGER, b INTEGER, c INTEGER, name TEXT);" +
                            insert_rows(400, 1, 3));
    const std::string whole = content_of(made.path());
    std::mt19937 random(4);
    for (int round = 0; round < 500; ++round) {
        std::string damaged = whole;
        for (unsigned i = 0; i <= random() % 4; ++i) damaged[1024 + random() % (damaged.size() - 1024)] = static_cast<char>(random());
        if (round % 8 == 0) damaged.resize(512 * (1 + random() % (damaged.size() / 512)));
        const TemporaryFile file(damaged);
        const auto pages = TablePages::open(file.path(), 2, 7);
        if (!pages) continue;
        std::int64_t before = std::numeric_limits<std::int64_t>::min();
        bool in_order = true;
        std::int64_t sum = 0;
        pages->read(0, pages->leaf_count(), [&](const PageRow& row) {
            in_order = in_order && row.row_id() > before;
            before = row.row_id();
            sum ^= row.integer(0) ^ row.integer(2);
        });
        CHECK(in_order);
    }
}
