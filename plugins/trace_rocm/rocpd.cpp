#include "rocpd.hpp"

#include "launch_shape.hpp"
#include "shared/sqlite_database.hpp"

#include <adpipe/diagnostic.hpp>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace adpipe::rocm {

namespace {

constexpr sqlite::Expectation expectation{"a rocprofiler database", "record with rocprofv3 --output-format rocpd"};

Diagnostic make(Severity severity, const char* code, const std::filesystem::path& file, std::string message) {
    Diagnostic diagnostic;
    diagnostic.severity = severity;
    diagnostic.code = code;
    diagnostic.message = std::move(message);
    diagnostic.where.file = file.string();
    return diagnostic;
}

/// A file may hold several recordings side by side, each with a guid of its own. Ids mean something only together with it.
class Guids {
public:
    std::uint32_t number(std::string_view guid) {
        if (!known_.empty() && guid == last_) return last_number_;
        last_ = std::string(guid);
        return last_number_ = known_.emplace(last_, static_cast<std::uint32_t>(known_.size())).first->second;
    }

private:
    std::map<std::string, std::uint32_t> known_;
    std::string last_;
    std::uint32_t last_number_ = 0;
};

/// Rows of a table by guid and id. Ids are mostly consecutive, so a lookup is an index, else a search.
template <class Row>
class RowsById {
public:
    void add(std::uint32_t guid, std::int64_t id, Row row) {
        if (rows_.size() <= guid) rows_.resize(guid + std::size_t{1});
        sorted_ = sorted_ && (rows_[guid].empty() || rows_[guid].back().first < id);
        rows_[guid].emplace_back(id, std::move(row));
    }
    void finish() {
        if (sorted_) return;
        for (auto& rows : rows_) {
            std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        }
    }
    const Row* find(std::uint32_t guid, std::int64_t id) const {
        if (guid >= rows_.size() || rows_[guid].empty()) return nullptr;
        const auto& rows = rows_[guid];
        const std::uint64_t guess = static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(rows.front().first);
        if (guess < rows.size() && rows[guess].first == id) return &rows[guess].second;
        const auto found = std::lower_bound(rows.begin(), rows.end(), id,
                                            [](const auto& row, std::int64_t wanted) { return row.first < wanted; });
        return found != rows.end() && found->first == id ? &found->second : nullptr;
    }

private:
    std::vector<std::vector<std::pair<std::int64_t, Row>>> rows_;
    bool sorted_ = true;
};

struct Event {
    std::int64_t stack = 0;
    std::int64_t correlation = 0;
    std::int64_t category = 0;
};

struct Symbol {
    StringId name = 0;
    std::int64_t registers = -1;
};

class RocpdReader {
public:
    RocpdReader(const sqlite::Database& database, Trace& trace) : database_(database), trace_(trace) {}

    void read_metadata();
    void read_lookups();
    void read_kernels();
    void read_copies();
    void read_regions();
    void finish();

private:
    std::string select(const std::string& view, std::initializer_list<const char*> columns) const;
    sqlite::Query rows(const std::string& view, std::initializer_list<const char*> columns) const;
    std::uint16_t process(std::uint32_t guid, std::int64_t id);
    std::uint64_t correlation(std::uint32_t guid, std::int64_t event_id) const;
    std::int32_t device(std::uint32_t guid, std::int64_t agent) const;
    std::int64_t stream(const sqlite::Query& row, int stream_column, int queue_column) const;
    StringId marker_text(std::string_view guid, std::int64_t event_id, StringId otherwise);

    const sqlite::Database& database_;
    Trace& trace_;
    Guids guids_;
    RowsById<StringId> strings_;
    RowsById<Symbol> symbols_;
    RowsById<std::uint16_t> processes_;
    RowsById<std::int64_t> threads_;
    RowsById<std::int32_t> agents_;
    RowsById<Event> events_;
    std::optional<sqlite::Query> marker_query_;
    std::uint64_t invalid_times_ = 0;
};

/// SELECT of the columns that the view has; NULL in place of the others.
std::string RocpdReader::select(const std::string& view, std::initializer_list<const char*> columns) const {
    const std::set<std::string> there = database_.columns(view);
    std::string sql;
    for (const char* column : columns) {
        sql += sql.empty() ? "SELECT " : ", ";
        sql += there.count(column) ? "\"" + std::string(column) + "\"" : "NULL";
    }
    return sql + " FROM \"" + view + "\"";
}

sqlite::Query RocpdReader::rows(const std::string& view, std::initializer_list<const char*> columns) const {
    return database_.query(database_.has_table(view) ? select(view, columns) : "SELECT NULL WHERE 0");
}

void RocpdReader::read_metadata() {
    sqlite::Query row = rows("rocpd_metadata", {"tag", "value"});
    std::string version = "?";
    while (row.next()) {
        if (row.text(0) == "schema_version") version = row.text(1);
        if (row.text(0) == "simulated") trace_.simulated = row.text(1) == "true";
    }
    trace_.format = "rocpd " + version;
}

/// What the database does not hold of a device follows from its target: a compute unit of CDNA 2 to 4 runs eight waves of 64 threads on each of four
/// SIMDs, and has 64 KiB of local memory (CDNA 4: 160 KiB).
void set_limits(Device& device, std::string_view target) {
    const bool cdna4 = target == "gfx950";
    if (target != "gfx90a" && target.substr(0, 5) != "gfx94" && !cdna4) return;
    device.compute_major = 9;
    device.compute_minor = target == "gfx90a" ? 0 : cdna4 ? 5 : 4;
    device.warp_size = 64;
    device.threads_per_multiprocessor = 2048;
    device.shared_memory_per_multiprocessor = (cdna4 ? 160 : 64) * 1024;
}

void RocpdReader::read_lookups() {
    for (auto row = rows("rocpd_string", {"guid", "id", "string"}); row.next();) {
        strings_.add(guids_.number(row.text(0)), row.integer(1), trace_.string_id(row.text(2)));
    }
    strings_.finish();
    for (auto row = rows("rocpd_info_kernel_symbol", {"guid", "id", "display_name", "kernel_name", "arch_vgpr_count", "accum_vgpr_count"});
         row.next();) {
        std::string_view name = row.text(2).empty() ? row.text(3) : row.text(2);
        if (row.text(2).empty() && name.size() > 3 && name.substr(name.size() - 3) == ".kd") name.remove_suffix(3);
        symbols_.add(guids_.number(row.text(0)), row.integer(1),
                     {trace_.string_id(name), row.is_null(4) ? -1 : all_registers(row.integer(4), row.integer(5))});
    }
    symbols_.finish();
    for (auto row = rows("rocpd_info_process", {"guid", "id", "pid", "command"}); row.next();) {
        Process process;
        process.pid = row.integer(2);
        process.id = static_cast<std::uint64_t>(process.pid);
        process.name = row.text(3);
        processes_.add(guids_.number(row.text(0)), row.integer(1), static_cast<std::uint16_t>(trace_.processes.size()));
        trace_.processes.push_back(std::move(process));
    }
    processes_.finish();
    for (auto row = rows("rocpd_info_thread", {"guid", "id", "tid"}); row.next();) {
        threads_.add(guids_.number(row.text(0)), row.integer(1), row.integer(2));
    }
    threads_.finish();
    for (auto row = rows("rocpd_info_agent", {"guid", "id", "type", "type_index", "product_name", "name"}); row.next();) {
        const auto number = static_cast<std::int32_t>(row.integer(3));
        const bool gpu = row.text(2) == "GPU";
        agents_.add(guids_.number(row.text(0)), row.integer(1), gpu ? number : -1);
        const std::string_view name = row.text(4).empty() ? row.text(5) : row.text(4);
        const auto same = [number](const Device& known) { return known.id == number; };
        if (gpu && std::none_of(trace_.devices.begin(), trace_.devices.end(), same)) {
            trace_.devices.push_back({number, std::string(name), -1, -1});
            set_limits(trace_.devices.back(), row.text(5));
        }
    }
    agents_.finish();
    for (auto row = rows("rocpd_event", {"guid", "id", "stack_id", "correlation_id", "category_id"}); row.next();) {
        events_.add(guids_.number(row.text(0)), row.integer(1), {row.integer(2), row.integer(3), row.integer(4)});
    }
    events_.finish();
}

std::uint16_t RocpdReader::process(std::uint32_t guid, std::int64_t id) {
    if (const std::uint16_t* const known = processes_.find(guid, id)) return *known;
    if (trace_.processes.empty()) trace_.processes.emplace_back();
    return 0;
}

/// Work and the call that started it share a correlation id or, where that is 0 (as in all that was seen), a stack id.
std::uint64_t RocpdReader::correlation(std::uint32_t guid, std::int64_t event_id) const {
    const Event* const event = events_.find(guid, event_id);
    if (event == nullptr) return no_id;
    const std::int64_t id = event->correlation > 0 ? event->correlation : event->stack;
    return id > 0 ? static_cast<std::uint64_t>(id) : no_id;
}

std::int32_t RocpdReader::device(std::uint32_t guid, std::int64_t agent) const {
    const std::int32_t* const number = agents_.find(guid, agent);
    return number ? *number : -1;
}

std::int64_t RocpdReader::stream(const sqlite::Query& row, int stream_column, int queue_column) const {
    if (!row.is_null(stream_column)) return row.integer(stream_column);
    return row.is_null(queue_column) ? -1 : row.integer(queue_column);
}

void RocpdReader::read_kernels() {
    enum {
        guid,
        id,
        pid,
        agent,
        kernel,
        stream_id,
        queue_id,
        start,
        end,
        lds,
        block_x,
        block_y,
        block_z,
        grid_x,
        grid_y,
        grid_z,
        event,
        graph,
        exec,
        node
    };
    Kernels& k = trace_.kernels;
    const std::set<std::string> there = database_.columns("rocpd_kernel_dispatch");
    const bool has_nodes = there.count("graph_node_id") != 0;
    for (auto row = rows("rocpd_kernel_dispatch", {"guid",
                                                   "id",
                                                   "pid",
                                                   "agent_id",
                                                   "kernel_id",
                                                   "stream_id",
                                                   "queue_id",
                                                   "start",
                                                   "end",
                                                   "group_segment_size",
                                                   "workgroup_size_x",
                                                   "workgroup_size_y",
                                                   "workgroup_size_z",
                                                   "grid_size_x",
                                                   "grid_size_y",
                                                   "grid_size_z",
                                                   "event_id",
                                                   "graph_id",
                                                   "graph_exec_id",
                                                   "graph_node_id"});
         row.next();) {
        const std::uint32_t g = guids_.number(row.text(guid));
        if (row.is_null(start) || row.integer(end) < row.integer(start) || !are_possible(row.integer(start), row.integer(end))) {
            ++invalid_times_;
            continue;
        }
        const Symbol* const symbol = symbols_.find(g, row.integer(kernel));
        k.kind.push_back(KernelKind::kernel);
        k.row.push_back(row.integer(id));
        k.start.push_back(row.integer(start));
        k.end.push_back(row.integer(end));
        k.name.push_back(symbol ? symbol->name : 0);
        k.process.push_back(process(g, row.integer(pid)));
        k.device.push_back(device(g, row.integer(agent)));
        k.stream.push_back(stream(row, stream_id, queue_id));
        k.correlation.push_back(correlation(g, row.integer(event)));
        k.shape.push_back(trace_.shape_id(launch_shape({row.integer(grid_x), row.integer(grid_y), row.integer(grid_z)},
                                                       {row.integer(block_x), row.integer(block_y), row.integer(block_z)},
                                                       symbol ? symbol->registers : -1, row.is_null(lds) ? -1 : row.integer(lds))));
        k.bytes.push_back(-1);
        if (has_nodes) {
            const std::int64_t graph_id = row.integer(exec) > 0 ? row.integer(exec) : row.integer(graph);
            k.graph.push_back(graph_id > 0 ? static_cast<std::uint64_t>(graph_id) : no_id);
            k.graph_node.push_back(row.integer(node) > 0 ? static_cast<std::uint64_t>(row.integer(node)) : no_id);
        }
    }
}

void RocpdReader::read_copies() {
    enum { guid, id, pid, start, end, name, to, from, size, stream_id, queue_id, event };
    Kernels& k = trace_.kernels;
    const bool has_nodes = !k.graph_node.empty();
    for (auto row = rows("rocpd_memory_copy", {"guid", "id", "pid", "start", "end", "name_id", "dst_agent_id", "src_agent_id", "size",
                                               "stream_id", "queue_id", "event_id"});
         row.next();) {
        const std::uint32_t g = guids_.number(row.text(guid));
        if (row.is_null(start) || row.integer(end) < row.integer(start) || !are_possible(row.integer(start), row.integer(end))) {
            ++invalid_times_;
            continue;
        }
        const std::int32_t target = device(g, row.integer(to));
        const StringId* const text = strings_.find(g, row.integer(name));
        k.kind.push_back(KernelKind::memcpy);
        k.row.push_back(row.integer(id));
        k.start.push_back(row.integer(start));
        k.end.push_back(row.integer(end));
        k.name.push_back(text ? *text : 0);
        k.process.push_back(process(g, row.integer(pid)));
        k.device.push_back(target >= 0 ? target : device(g, row.integer(from)));
        k.stream.push_back(stream(row, stream_id, queue_id));
        k.correlation.push_back(correlation(g, row.integer(event)));
        k.shape.push_back(0);
        k.bytes.push_back(row.is_null(size) ? -1 : row.integer(size));
        if (has_nodes) {
            k.graph.push_back(no_id);
            k.graph_node.push_back(no_id);
        }
    }
}

/// The text of a range that the program marked; the region itself may be named after the call (roctxRangePush).
StringId RocpdReader::marker_text(std::string_view guid, std::int64_t event_id, StringId otherwise) {
    if (!marker_query_) {
        if (database_.columns("rocpd_event").count("extdata") == 0) return otherwise;
        marker_query_.emplace(database_.query(
            "SELECT json_extract(extdata, '$.message') FROM rocpd_event WHERE id = ?1 AND guid = ?2 AND json_valid(extdata)"));
    }
    marker_query_->reset();
    marker_query_->bind(1, event_id);
    marker_query_->bind(2, guid);
    return marker_query_->next() && !marker_query_->text(0).empty() ? trace_.string_id(marker_query_->text(0)) : otherwise;
}

void RocpdReader::read_regions() {
    enum { guid, pid, tid, start, end, name, event };
    for (auto row = rows("rocpd_region", {"guid", "pid", "tid", "start", "end", "name_id", "event_id"}); row.next();) {
        const std::uint32_t g = guids_.number(row.text(guid));
        const Event* const entry = events_.find(g, row.integer(event));
        const StringId* const category_id = entry ? strings_.find(g, entry->category) : nullptr;
        const std::string_view category = category_id ? std::string_view(trace_.string(*category_id)) : std::string_view{};
        const StringId* const text = strings_.find(g, row.integer(name));
        const std::int64_t* const thread = threads_.find(g, row.integer(tid));
        const std::uint16_t process_index = process(g, row.integer(pid));
        const std::uint64_t thread_id = std::uint64_t{process_index} << 48 |
                                        static_cast<std::uint64_t>(thread ? *thread : row.integer(tid));
        if (category.substr(0, 3) == "HIP") {
            Launches& l = trace_.launches;
            l.start.push_back(row.integer(start));
            l.end.push_back(std::max(row.integer(start), row.integer(end)));
            l.name.push_back(text ? *text : 0);
            l.process.push_back(process_index);
            l.thread.push_back(thread_id);
            l.correlation.push_back(correlation(g, row.integer(event)));
        } else if (category.substr(0, 6) == "MARKER") {
            Annotations& a = trace_.annotations;
            a.start.push_back(row.integer(start));
            a.end.push_back(std::max(row.integer(start), row.integer(end)));
            a.name.push_back(marker_text(row.text(guid), row.integer(event), text ? *text : 0));
            a.process.push_back(process_index);
            a.thread.push_back(thread_id);
            a.source.push_back(Annotations::Source::user);
        }
    }
}

void RocpdReader::finish() {
    if (invalid_times_ > 0) {
        trace_.limits.push_back(
            make(Severity::warning, "ADP-ROC-004", trace_.file, std::to_string(invalid_times_) + " rows without valid times left out"));
    }
    if (trace_.kernels.size() == 0) {
        trace_.limits.push_back(
            make(Severity::warning, "ADP-ROC-005", trace_.file, "no kernel at all: the database holds no kernel dispatch"));
        trace_.limits.back().hint = "record with rocprofv3 --kernel-trace --hip-trace --output-format rocpd";
    }
}

void check_is_rocpd(const sqlite::Database& database) {
    if (database.has_table("rocpd_kernel_dispatch")) return;
    Diagnostic d = make(Severity::error, "ADP-ROC-001", database.file(),
                        "this is no rocprofiler database: it has no view rocpd_kernel_dispatch");
    d.hint = expectation.again_hint;
    if (database.has_table("rocpd_op") && database.has_table("rocpd_api")) {
        d.code = "ADP-ROC-002";
        d.message = "this is a database of the older RPD tracer (schema 2), which is not read";
    } else if (database.has_table("StringIds")) {
        d.hint = "this looks like an export of Nsight Systems: use trace.nsys";
    }
    throw Error(std::move(d));
}

}  // namespace

Trace read_rocpd(const std::filesystem::path& file) {
    const sqlite::Database database(file, expectation);
    check_is_rocpd(database);
    Trace trace;
    trace.file = file;
    RocpdReader reader(database, trace);
    reader.read_metadata();
    reader.read_lookups();
    reader.read_kernels();
    reader.read_copies();
    reader.read_regions();
    reader.finish();
    return trace;
}

}  // namespace adpipe::rocm
