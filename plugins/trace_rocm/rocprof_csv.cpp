#include "rocprof_csv.hpp"

#include "csv_table.hpp"
#include "launch_shape.hpp"

#include <adpipe/diagnostic.hpp>
#include <adpipe/files.hpp>

#include <array>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

namespace adpipe::rocm {

namespace {

constexpr std::string_view kernel_suffix = "_kernel_trace.csv";

Diagnostic make(Severity severity, const char* code, const std::filesystem::path& file, std::uint32_t line, std::string message) {
    Diagnostic diagnostic;
    diagnostic.severity = severity;
    diagnostic.code = code;
    diagnostic.message = std::move(message);
    diagnostic.where = {file.string(), line, 0};
    return diagnostic;
}

[[noreturn]] void fail(const char* code, const std::filesystem::path& file, std::string message, std::string hint) {
    Diagnostic diagnostic = make(Severity::error, code, file, 0, std::move(message));
    diagnostic.hint = std::move(hint);
    throw Error(std::move(diagnostic));
}

/// "Agent 4" or "4".
std::int32_t agent_number(std::string_view text) {
    std::size_t begin = text.size();
    while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9' && text.size() - begin < 9) --begin;
    return begin == text.size() ? -1 : static_cast<std::int32_t>(std::stol(std::string(text.substr(begin))));
}

/// Rows of the table that were left out: cut off, or without a time.
struct LeftOut {
    std::uint64_t rows = 0;
    std::uint32_t first_line = 0;
    void add(std::uint32_t line) {
        if (rows++ == 0) first_line = line;
    }
};

/// Where the columns that all tables have stand.
struct CommonColumns {
    explicit CommonColumns(const CsvTable& table)
        : start(table.column("Start_Timestamp")),
          end(table.column("End_Timestamp")),
          correlation(table.column("Correlation_Id")),
          stream(table.column("Stream_Id")),
          thread(table.column("Thread_Id")) {}
    int start, end, correlation, stream, thread;

    /// In nanoseconds. False if the row has none.
    bool times(const CsvTable& table, Nanoseconds& from, Nanoseconds& to) const {
        from = table.integer(start, -1);
        to = table.integer(end, -1);
        return from >= 0 && to >= from && are_possible(from, to);
    }
    std::uint64_t correlation_id(const CsvTable& table) const {
        const std::int64_t id = table.integer(correlation, 0);
        return id > 0 ? static_cast<std::uint64_t>(id) : no_id;
    }
};

struct KernelColumns : CommonColumns {
    explicit KernelColumns(const CsvTable& table)
        : CommonColumns(table),
          kind(table.column("Kind")),
          name(table.column("Kernel_Name")),
          agent(table.column("Agent_Id")),
          registers(table.column("VGPR_Count")),
          accumulation(table.column("Accum_VGPR_Count")),
          shared_memory(table.column("LDS_Block_Size")) {
        if (stream < 0) stream = table.column("Queue_Id");
        if (shared_memory < 0) shared_memory = table.column("Group_Segment_Size");
        const std::array<std::string, 3> axes{"X", "Y", "Z"};
        for (std::size_t i = 0; i < axes.size(); ++i) {
            grid[i] = table.column("Grid_Size_" + axes[i]);
            workgroup[i] = table.column("Workgroup_Size_" + axes[i]);
        }
    }
    int kind, name, agent, registers, accumulation, shared_memory;
    std::array<int, 3> grid{}, workgroup{};
};

void require_columns(const CsvTable& table, const std::filesystem::path& file) {
    std::string missing;
    for (const char* name : {"Kernel_Name", "Start_Timestamp", "End_Timestamp"}) {
        if (table.column(name) < 0) missing += (missing.empty() ? "" : ", ") + std::string(name);
    }
    if (missing.empty()) return;
    const bool api = table.column("Function") >= 0;
    const bool old = table.column("KernelName") >= 0;
    fail("ADP-ROC-012", file, "this is no kernel trace of rocprofv3: its first line does not name the columns " + missing,
         api   ? "this looks like a trace of API calls: name the file that ends in _kernel_trace.csv"
         : old ? "this looks like the output of an older rocprof: record with rocprofv3 --kernel-trace --output-format csv"
               : "record with rocprofv3 --kernel-trace --output-format csv");
}

class CsvReader {
public:
    CsvReader(const std::filesystem::path& file, Trace& trace) : file_(file), trace_(trace) {}

    void read_kernels();
    void read_copies();
    void read_calls(const char* suffix, bool markers);
    void finish();

private:
    std::shared_ptr<const MappedFile> sibling(const char* suffix) const;
    void add_kernel(const CsvTable& table, const KernelColumns& columns);

    const std::filesystem::path& file_;
    Trace& trace_;
    std::int64_t row_ = 0;
};

/// The file of the same recording with another suffix; nullptr if there is none.
std::shared_ptr<const MappedFile> CsvReader::sibling(const char* suffix) const {
    const std::string name = file_.filename().string();
    if (name.size() < kernel_suffix.size() || name.substr(name.size() - kernel_suffix.size()) != kernel_suffix) return nullptr;
    const std::filesystem::path path = file_.parent_path() / (name.substr(0, name.size() - kernel_suffix.size()) + suffix);
    std::error_code error;
    return std::filesystem::is_regular_file(path, error) ? MappedFile::open(path) : nullptr;
}

void CsvReader::read_kernels() {
    const std::shared_ptr<const MappedFile> mapped = MappedFile::open(file_);
    if (mapped->text().empty())
        fail("ADP-ROC-011", file_, "the file is empty", "record again; rocprofv3 writes its files when the program ends");
    CsvTable table(mapped->text());
    require_columns(table, file_);
    const KernelColumns columns(table);
    LeftOut left_out;
    bool cut = false;
    while (table.next()) {
        ++row_;
        cut = table.ends_open() && table.fields() < table.names().size();
        Nanoseconds start = 0;
        Nanoseconds end = 0;
        if (table.fields() < table.names().size() || !columns.times(table, start, end)) {
            left_out.add(table.line());
        } else if (columns.kind < 0 || table.field(columns.kind) == "KERNEL_DISPATCH") {
            trace_.kernels.start.push_back(start);
            trace_.kernels.end.push_back(end);
            add_kernel(table, columns);
        }
    }
    if (cut) {
        trace_.truncated = true;
        trace_.limits.push_back(make(Severity::warning, "ADP-ROC-013", file_, left_out.first_line, "the file is cut off inside a row"));
        trace_.limits.back().notes = {"kept: what stands before it, " + std::to_string(trace_.kernels.size()) + " of the GPU"};
    } else if (left_out.rows > 0) {
        trace_.limits.push_back(make(Severity::warning, "ADP-ROC-014", file_, left_out.first_line,
                                     std::to_string(left_out.rows) + (left_out.rows == 1 ? " row" : " rows") +
                                         " without valid times or with too few fields left out; the first is this"));
    }
}

void CsvReader::add_kernel(const CsvTable& table, const KernelColumns& columns) {
    Kernels& k = trace_.kernels;
    k.kind.push_back(KernelKind::kernel);
    k.row.push_back(row_);
    k.name.push_back(trace_.string_id(table.field(columns.name)));
    k.process.push_back(0);
    k.device.push_back(agent_number(table.field(columns.agent)));
    k.stream.push_back(table.integer(columns.stream, -1));
    k.correlation.push_back(columns.correlation_id(table));
    std::array<std::int64_t, 3> grid{}, workgroup{};
    for (std::size_t i = 0; i < grid.size(); ++i) {
        grid[i] = table.integer(columns.grid[i], -1);
        workgroup[i] = table.integer(columns.workgroup[i], -1);
    }
    k.shape.push_back(trace_.shape_id(
        launch_shape(grid, workgroup, all_registers(table.integer(columns.registers, -1), table.integer(columns.accumulation, 0)),
                     table.integer(columns.shared_memory, -1))));
}

void CsvReader::read_copies() {
    const std::shared_ptr<const MappedFile> mapped = sibling("_memory_copy_trace.csv");
    if (!mapped) return;
    CsvTable table(mapped->text());
    const CommonColumns columns(table);
    const int direction_column = table.column("Direction");
    const int to = table.column("Destination_Agent_Id");
    const int from = table.column("Source_Agent_Id");
    Kernels& k = trace_.kernels;
    for (std::int64_t row = 1; table.next(); ++row) {
        Nanoseconds start = 0;
        Nanoseconds end = 0;
        if (!columns.times(table, start, end)) continue;
        const std::string_view direction = table.field(direction_column);
        const bool to_device = direction.find("TO_DEVICE") != std::string_view::npos;
        k.kind.push_back(KernelKind::memcpy);
        k.row.push_back(row);
        k.start.push_back(start);
        k.end.push_back(end);
        k.name.push_back(trace_.string_id(direction.empty() ? "MEMORY_COPY" : direction));
        k.process.push_back(0);
        k.device.push_back(agent_number(table.field(to_device ? to : from)));
        k.stream.push_back(table.integer(columns.stream, -1));
        k.correlation.push_back(columns.correlation_id(table));
        k.shape.push_back(0);
    }
}

/// Calls of the HIP runtime, or ranges that the program marked (roctx).
void CsvReader::read_calls(const char* suffix, bool markers) {
    const std::shared_ptr<const MappedFile> mapped = sibling(suffix);
    if (!mapped) return;
    CsvTable table(mapped->text());
    const CommonColumns columns(table);
    const int function = table.column("Function");
    const int process = table.column("Process_Id");
    while (table.next()) {
        Nanoseconds start = 0;
        Nanoseconds end = 0;
        if (function < 0 || !columns.times(table, start, end)) continue;
        const StringId name = trace_.string_id(table.field(function));
        const auto thread = static_cast<std::uint64_t>(table.integer(columns.thread, 0));
        if (trace_.processes.front().pid < 0) trace_.processes.front().pid = table.integer(process, -1);
        if (markers) {
            Annotations& a = trace_.annotations;
            a.start.push_back(start);
            a.end.push_back(end);
            a.name.push_back(name);
            a.process.push_back(0);
            a.thread.push_back(thread);
            a.source.push_back(Annotations::Source::user);
        } else {
            Launches& l = trace_.launches;
            l.start.push_back(start);
            l.end.push_back(end);
            l.name.push_back(name);
            l.process.push_back(0);
            l.thread.push_back(thread);
            l.correlation.push_back(columns.correlation_id(table));
        }
    }
}

void CsvReader::finish() {
    if (trace_.kernels.size() == 0) {
        trace_.limits.push_back(make(Severity::warning, "ADP-ROC-015", file_, 0, "no kernel at all: the table has no valid row"));
    }
}

}  // namespace

Trace read_rocprof_csv(const std::filesystem::path& file) {
    Trace trace;
    trace.file = file;
    trace.format = "rocprofv3 csv";
    trace.processes.emplace_back();
    CsvReader reader(file, trace);
    reader.read_kernels();
    reader.read_copies();
    reader.read_calls("_hip_api_trace.csv", false);
    reader.read_calls("_marker_api_trace.csv", true);
    reader.finish();
    return trace;
}

}  // namespace adpipe::rocm
