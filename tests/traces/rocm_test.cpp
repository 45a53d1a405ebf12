// trace.rocpd and trace.rocprof_csv: forms of the formats, and damage.

#include "csv_table.hpp"
#include "rocpd.hpp"
#include "rocprof_csv.hpp"
#include "temporary_file.hpp"

#include <adpipe/diagnostic.hpp>

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

using namespace adpipe;

namespace {

const std::string csv_header =
    R"("Kind","Agent_Id","Queue_Id","Stream_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","LDS_Block_Size","VGPR_Count",)"
    R"("Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z")"
    "\n";
const std::string csv_row = R"~("KERNEL_DISPATCH","Agent 4",2,3,"void f<""x"", 1>(int)",77,1000,1500,512,32,256,2,1,1000,2,1)~"
                            "\n";

std::vector<std::string> rocm_codes(const Trace& trace) {
    std::vector<std::string> found;
    for (const Diagnostic& limit : trace.limits) found.push_back(limit.code);
    return found;
}
using Codes = std::vector<std::string>;

Trace read_csv(const std::string& content) {
    const TemporaryFile file(content);
    return rocm::read_rocprof_csv(file.path());
}

template <class Read>
std::string error_of(const Read& read) {
    try {
        read();
        return {};
    } catch (const Error& error) {
        return error.diagnostics().front().code;
    }
}

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

/// A rocpd database with the tables and columns that are read.
class RocpdFile {
public:
    explicit RocpdFile(const std::string& more_sql = "") : file_("") {
        std::filesystem::remove(file_.path());
        sqlite3* database = nullptr;
        REQUIRE(sqlite3_open(file_.path().c_str(), &database) == SQLITE_OK);
        char* error = nullptr;
        const int result = sqlite3_exec(database, (sql() + more_sql).c_str(), nullptr, nullptr, &error);
        CAPTURE(std::string(error ? error : ""));
        REQUIRE(result == SQLITE_OK);
        sqlite3_close(database);
    }
    const std::filesystem::path& path() const { return file_.path(); }

private:
    static std::string sql() {
        return R"sql(
            CREATE TABLE rocpd_metadata(id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
            INSERT INTO rocpd_metadata(tag, value) VALUES ('schema_version', '3');
            CREATE TABLE rocpd_string(id INTEGER, guid TEXT, string TEXT);
            CREATE TABLE rocpd_info_kernel_symbol(id INTEGER, guid TEXT, kernel_name TEXT, display_name TEXT, arch_vgpr_count INTEGER);
            CREATE TABLE rocpd_info_process(id INTEGER, guid TEXT, pid INTEGER, command TEXT);
            CREATE TABLE rocpd_info_thread(id INTEGER, guid TEXT, tid INTEGER);
            CREATE TABLE rocpd_info_agent(id INTEGER, guid TEXT, type TEXT, type_index INTEGER, name TEXT, product_name TEXT);
            CREATE TABLE rocpd_event(id INTEGER, guid TEXT, category_id INTEGER, stack_id INTEGER, correlation_id INTEGER, extdata TEXT);
            CREATE TABLE rocpd_region(id INTEGER, guid TEXT, pid INTEGER, tid INTEGER, start INTEGER, "end" INTEGER, name_id INTEGER, event_id INTEGER);
            CREATE TABLE dispatch_a(id INTEGER, guid TEXT, pid INTEGER, agent_id INTEGER, kernel_id INTEGER, queue_id INTEGER, stream_id INTEGER,
                start INTEGER, "end" INTEGER, group_segment_size INTEGER, workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER,
                grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, event_id INTEGER);
            CREATE TABLE dispatch_b AS SELECT * FROM dispatch_a;
            CREATE VIEW rocpd_kernel_dispatch AS SELECT * FROM dispatch_a UNION ALL SELECT * FROM dispatch_b;
            CREATE TABLE rocpd_memory_copy(id INTEGER, guid TEXT, pid INTEGER, start INTEGER, "end" INTEGER, name_id INTEGER, dst_agent_id INTEGER,
                src_agent_id INTEGER, size INTEGER, queue_id INTEGER, stream_id INTEGER, event_id INTEGER);
            INSERT INTO rocpd_string VALUES (1, 'a', 'HIP_RUNTIME_API_EXT'), (2, 'a', 'hipGraphLaunch'), (3, 'a', 'MARKER_CORE_API'),
                (4, 'a', 'roctxRangePushA'), (5, 'a', 'HOST_TO_DEVICE'), (1, 'b', 'KERNEL_DISPATCH');
            INSERT INTO rocpd_info_kernel_symbol VALUES (1, 'a', 'f.kd', 'f(int)', 64), (1, 'b', 'g.kd', NULL, 16);
            INSERT INTO rocpd_info_process VALUES (7, 'a', 4242, 'server'), (7, 'b', 4343, 'worker');
            INSERT INTO rocpd_info_thread VALUES (9, 'a', 4250);
            INSERT INTO rocpd_info_agent VALUES (1, 'a', 'CPU', 0, 'cpu', 'cpu'), (2, 'a', 'GPU', 0, 'gfx942', 'MI300X'), (2, 'b', 'GPU', 1, 'gfx942', 'MI300X');
            INSERT INTO rocpd_event VALUES (1, 'a', 1, 55, 0, '{}'), (2, 'a', 1, 55, 0, '{}'), (3, 'a', 3, 0, 0, '{"message": "layer 3"}'),
                (1, 'b', 1, 0, 99, '{}');
            INSERT INTO rocpd_region VALUES (1, 'a', 7, 9, 900, 950, 2, 1), (2, 'a', 7, 9, 800, 990, 4, 3);
            INSERT INTO dispatch_a VALUES (1, 'a', 7, 2, 1, 16, 3, 1000, 1500, 512, 256, 1, 1, 1000, 4, 1, 2);
            INSERT INTO dispatch_b VALUES (1, 'b', 7, 2, 1, 16, NULL, 2000, 2500, NULL, 64, 1, 1, 64, 1, 1, 1);
            INSERT INTO rocpd_memory_copy VALUES (1, 'a', 7, 3000, 3100, 5, 2, 1, 4096, 16, 3, NULL);
        )sql";
    }
    TemporaryFile file_;
};

}  // namespace

TEST_CASE("CSV fields may be quoted, hold commas, quotes and line breaks") {
    const std::string text =
        "\xef\xbb\xbf"
        "a,\"b\",c\r\n1,\"x, \"\"y\"\"\nz\",3\r\n\n4,5\n\"open";
    rocm::CsvTable table(text);
    CHECK(table.names() == std::vector<std::string>{"a", "b", "c"});
    CHECK(table.column("c") == 2);
    CHECK(table.column("d") == -1);
    REQUIRE(table.next());
    CHECK(table.line() == 2);
    CHECK(table.field(1) == "x, \"y\"\nz");
    CHECK(table.integer(2, -1) == 3);
    REQUIRE(table.next());
    CHECK(table.line() == 5);
    CHECK(table.fields() == 2);
    CHECK(table.integer(2, -1) == -1);
    CHECK_FALSE(table.ends_open());
    REQUIRE(table.next());
    CHECK(table.field(0) == "open");
    CHECK(table.ends_open());
    CHECK_FALSE(table.next());
}

TEST_CASE("a rocprofv3 row finds its columns, the grid is turned from work-items into blocks") {
    const Trace trace = read_csv(csv_header + csv_row);
    CHECK(rocm_codes(trace) == Codes{});
    const Kernels& k = trace.kernels;
    REQUIRE(k.size() == 1);
    CHECK(trace.string(k.name[0]) == "void f<\"x\", 1>(int)");
    CHECK(k.start[0] == 1000);
    CHECK(k.end[0] == 1500);
    CHECK(k.row[0] == 1);
    CHECK(k.device[0] == 4);
    CHECK(k.stream[0] == 3);
    CHECK(k.correlation[0] == 77);
    CHECK(trace.shapes[k.shape[0]] == LaunchShape{{4, 1, 1}, {256, 2, 1}, 32, 512});
}

TEST_CASE("what lies beside a kernel trace is read with it") {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("adpipe-csv-" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    const auto write = [&](const char* name, const std::string& text) { std::ofstream(folder / name) << text; };
    write("1_kernel_trace.csv", csv_header + csv_row);
    write("1_memory_copy_trace.csv",
          "Kind,Direction,Source_Agent_Id,Destination_Agent_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n"
          "MEMORY_COPY,MEMORY_COPY_HOST_TO_DEVICE,Agent 0,Agent 4,78,2000,2100\n");
    write("1_hip_api_trace.csv",
          "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n"
          "HIP_RUNTIME_API,hipGraphLaunch,42,43,77,900,950\n");
    write("1_marker_api_trace.csv",
          "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n"
          "MARKER_CORE_API,step 1,42,43,1,850,1600\n");
    const Trace trace = rocm::read_rocprof_csv(folder / "1_kernel_trace.csv");
    std::filesystem::remove_all(folder);
    REQUIRE(trace.kernels.size() == 2);
    CHECK(trace.kernels.kind[1] == KernelKind::memcpy);
    CHECK(trace.kernels.device[1] == 4);
    REQUIRE(trace.launches.size() == 1);
    CHECK(trace.launches.correlation[0] == trace.kernels.correlation[0]);
    REQUIRE(trace.annotations.size() == 1);
    CHECK(trace.string(trace.annotations.name[0]) == "step 1");
    CHECK(trace.processes[0].pid == 42);
}

TEST_CASE("a damaged CSV gives what can be read of it, and says what is missing") {
    const Trace cut = read_csv(csv_header + csv_row + csv_row.substr(0, 40));
    CHECK(cut.kernels.size() == 1);
    CHECK(cut.truncated);
    CHECK(rocm_codes(cut) == Codes{"ADP-ROC-013"});
    CHECK(cut.limits[0].where.line == 3);

    std::string no_time = csv_row;
    no_time.replace(no_time.find("1000"), 4, "soon");
    const Trace odd = read_csv(csv_header + no_time + csv_row);
    CHECK(odd.kernels.row == std::vector<std::int64_t>{2});
    CHECK(rocm_codes(odd) == Codes{"ADP-ROC-014"});

    std::string no_end = csv_row;
    no_end.replace(no_end.find("1500"), 4, "9200000000000000000");
    CHECK(read_csv(csv_header + no_end + csv_row).kernels.row == std::vector<std::int64_t>{2});

    CHECK(rocm_codes(read_csv(csv_header)) == Codes{"ADP-ROC-015"});
    CHECK(error_of([] { read_csv(""); }) == "ADP-ROC-011");
    CHECK(error_of([] { read_csv("<html>"); }) == "ADP-ROC-012");
    CHECK(error_of([] { read_csv("\"Domain\",\"Function\"\n"); }) == "ADP-ROC-012");
}

TEST_CASE("CSV texts changed at random are read or refused") {
    std::mt19937 random(7);
    const std::string text = csv_header + csv_row + csv_row;
    for (int round = 0; round < 2000; ++round) {
        std::string changed = text;
        for (auto changes = random() % 5 + 1; changes > 0; --changes) {
            const std::size_t at = random() % changed.size();
            if (random() % 2 == 0) changed[at] = "\",\n\r\0x9"[random() % 8];
            else changed.erase(at, random() % 20);
            if (changed.empty()) changed = "\"";
        }
        const std::string code = error_of([&] {
            const Trace trace = read_csv(changed);
            REQUIRE(trace.kernels.name.size() == trace.kernels.size());
            REQUIRE(trace.kernels.shape.size() == trace.kernels.size());
        });
        REQUIRE((code.empty() || code == "ADP-ROC-012"));
    }
}

TEST_CASE("rocpd: kernels, copies, calls and marks, of several recordings in one file") {
    const RocpdFile file;
    const std::string before = bytes_of(file.path());
    const Trace trace = rocm::read_rocpd(file.path());
    CHECK(bytes_of(file.path()) == before);
    CHECK(rocm_codes(trace) == Codes{});
    CHECK(trace.format == "rocpd 3");
    const Kernels& k = trace.kernels;
    REQUIRE(k.size() == 3);
    CHECK(trace.string(k.name[0]) == "f(int)");
    CHECK(trace.string(k.name[1]) == "g");
    CHECK(trace.string(k.name[2]) == "HOST_TO_DEVICE");
    CHECK(k.kind[2] == KernelKind::memcpy);
    CHECK(k.process == std::vector<std::uint16_t>{0, 1, 0});
    CHECK(trace.processes[1].pid == 4343);
    CHECK(k.device == std::vector<std::int32_t>{0, 1, 0});
    CHECK(k.stream == std::vector<std::int64_t>{3, 16, 3});
    CHECK(k.correlation == std::vector<std::uint64_t>{55, 99, no_id});
    CHECK(trace.shapes[k.shape[0]] == LaunchShape{{4, 4, 1}, {256, 1, 1}, 64, 512});
    CHECK(trace.shapes[k.shape[1]] == LaunchShape{{1, 1, 1}, {64, 1, 1}, 16, -1});
    CHECK(k.bytes == std::vector<std::int64_t>{-1, -1, 4096});
    CHECK(k.graph_node.empty());

    REQUIRE(trace.launches.size() == 1);
    CHECK(trace.string(trace.launches.name[0]) == "hipGraphLaunch");
    CHECK(trace.launches.correlation[0] == 55);
    CHECK((trace.launches.thread[0] & 0xffffffffffff) == 4250);
    REQUIRE(trace.annotations.size() == 1);
    CHECK(trace.string(trace.annotations.name[0]) == "layer 3");
}

TEST_CASE("rocpd of 2026: ids of HIP graphs") {
    const RocpdFile file(R"sql(
        DROP VIEW rocpd_kernel_dispatch;
        CREATE VIEW rocpd_kernel_dispatch AS SELECT *, 12 AS graph_exec_id, id + 100 AS graph_node_id FROM dispatch_a;)sql");
    const Trace trace = rocm::read_rocpd(file.path());
    CHECK(trace.kernels.graph == std::vector<std::uint64_t>{12, no_id});
    CHECK(trace.kernels.graph_node == std::vector<std::uint64_t>{101, no_id});
}

TEST_CASE("rocpd: what is no such database is refused, what is empty says so") {
    CHECK(rocm_codes(rocm::read_rocpd(
              RocpdFile("DELETE FROM dispatch_a; DELETE FROM dispatch_b; DELETE FROM rocpd_memory_copy;").path())) == Codes{"ADP-ROC-005"});
    CHECK(rocm_codes(rocm::read_rocpd(RocpdFile("UPDATE dispatch_a SET \"end\" = 5;").path())) == Codes{"ADP-ROC-004"});
    const RocpdFile other("DROP VIEW rocpd_kernel_dispatch;");
    CHECK(error_of([&] { rocm::read_rocpd(other.path()); }) == "ADP-ROC-001");
    const RocpdFile old("DROP VIEW rocpd_kernel_dispatch; CREATE TABLE rocpd_op(id INTEGER); CREATE TABLE rocpd_api(id INTEGER);");
    CHECK(error_of([&] { rocm::read_rocpd(old.path()); }) == "ADP-ROC-002");
    const auto read_text = [](const std::string& text) {
        const TemporaryFile file(text);
        rocm::read_rocpd(file.path());
    };
    CHECK(error_of([&] { read_text(""); }) == "ADP-SQL-001");
    CHECK(error_of([&] { read_text("{}"); }) == "ADP-SQL-001");
    CHECK(error_of([&] { read_text(bytes_of(RocpdFile().path()).substr(0, 5000)); }) == "ADP-SQL-002");
    std::string damaged = bytes_of(RocpdFile().path());
    for (std::size_t i = 4096; i < damaged.size(); ++i) damaged[i] = static_cast<char>(damaged[i] ^ 0x5a);
    CHECK(error_of([&] { read_text(damaged); }).substr(0, 8) == "ADP-SQL-");
    CHECK(error_of([] { rocm::read_rocpd("/no/such/file"); }) == "ADP-IO-001");
    CHECK(error_of([] { rocm::read_rocpd("/tmp"); }) == "ADP-IO-002");
    CHECK(error_of([] { rocm::read_rocpd("/dev/null"); }) == "ADP-IO-003");
}

TEST_CASE("rocpd databases changed at random are read or refused") {
    std::mt19937 random(11);
    const RocpdFile file;
    const std::string text = bytes_of(file.path());
    for (int round = 0; round < 300; ++round) {
        std::string changed = text;
        for (auto changes = random() % 20 + 1; changes > 0; --changes)
            changed[100 + random() % (changed.size() - 100)] = static_cast<char>(random());
        const std::string code = error_of([&] {
            const TemporaryFile damaged(changed);
            const Trace trace = rocm::read_rocpd(damaged.path());
            REQUIRE(trace.kernels.name.size() == trace.kernels.size());
            REQUIRE(trace.kernels.process.size() == trace.kernels.size());
            for (const std::uint16_t process : trace.kernels.process) REQUIRE(process < trace.processes.size());
        });
        REQUIRE((code.empty() || code.substr(0, 8) == "ADP-SQL-" || code.substr(0, 8) == "ADP-ROC-"));
    }
}
