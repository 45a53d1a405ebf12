#include "nsys_reader.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <thread>
#include <unordered_set>

namespace adpipe::nsys {

namespace {

struct TableKind {
    const char* table;
    KernelKind kind;
};
constexpr std::array<TableKind, 3> tables{{{"CUPTI_ACTIVITY_KIND_KERNEL", KernelKind::kernel},
                                           {"CUPTI_ACTIVITY_KIND_MEMCPY", KernelKind::memcpy},
                                           {"CUPTI_ACTIVITY_KIND_MEMSET", KernelKind::memset}}};

/// What is read of every row. A column that the table lacks reads as NULL.
enum Column : int { row_id, start, end, device, context, stream, correlation, process, graph_node, graph, text, bytes };

/// A part of a table's rows, read by one thread into its own stretch of the trace's columns.
struct Stretch {
    std::size_t at = 0;  ///< of the first row in the trace's columns
    std::int64_t first_row = 0;
    std::int64_t end_row = 0;
    std::size_t count = 0;  ///< rows read
    /// The ids of the processes in it, in order of appearance: while the threads read, a row holds the number in this list.
    std::vector<std::int64_t> processes;
    std::exception_ptr error;
};

/// While the threads read, a row's name is the file's own id of it; one that does not fit is no id.
constexpr std::uint32_t no_text = 0xffffffffU;

/// The column that tells what ran: the fullest name that the table has, or the direction of a copy.
const char* text_column(const std::set<std::string>& have, KernelKind kind) {
    if (kind != KernelKind::kernel) return "copyKind";
    for (const char* column : {"demangledName", "mangledName", "shortName"}) {
        if (have.count(column) != 0) return column;
    }
    return "demangledName";
}

std::string row_columns(const Database& database, const TableKind& table) {
    return database.list(table.table, {"rowid", "start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "graphNodeId",
                                       "graphId", text_column(database.columns(table.table), table.kind), "bytes"});
}

/// Puts rows into a stretch of the columns. Does not throw, as the row function must not; there is room for every row of the stretch.
class RowStore {
public:
    RowStore(Kernels& columns, Stretch& part, KernelKind of_table, bool with_bytes)
        : kernels_(columns), stretch_(part), kind_(of_table), has_bytes_(with_bytes) {}

    void add(sqlite3_value** row) noexcept {
        const std::size_t at = stretch_.at + stretch_.count++;
        kernels_.kind[at] = kind_;
        kernels_.row[at] = sqlite3_value_int64(row[row_id]);
        kernels_.start[at] = sqlite3_value_int64(row[start]);
        kernels_.end[at] = std::max<Nanoseconds>(sqlite3_value_int64(row[end]), kernels_.start[at]);
        kernels_.device[at] = sqlite3_value_int(row[device]);
        kernels_.context[at] = sqlite3_value_int(row[context]);
        kernels_.stream[at] = sqlite3_value_int64(row[stream]);
        kernels_.correlation[at] = static_cast<std::uint64_t>(sqlite3_value_int64(row[correlation]));
        // Old exports write 0, new ones NULL, for "not from a graph"; both read as 0.
        const auto node = static_cast<std::uint64_t>(sqlite3_value_int64(row[graph_node]));
        const auto graph_id = static_cast<std::uint64_t>(sqlite3_value_int64(row[graph]));
        kernels_.graph_node[at] = node == 0 ? no_id : node;
        kernels_.graph[at] = graph_id != 0 ? graph_id : (node == 0 ? no_id : node >> 32U);
        const std::int64_t text_id = sqlite3_value_int64(row[text]);
        kernels_.name[at] = text_id >= 0 && text_id < no_text ? static_cast<std::uint32_t>(text_id) : no_text;
        kernels_.process[at] = process_number(sqlite3_value_int64(row[process]));
        if (has_bytes_) kernels_.bytes[at] = sqlite3_value_int64(row[bytes]);
    }

private:
    /// A recording has a handful of processes, and long runs of rows of one.
    std::uint16_t process_number(std::int64_t id) noexcept {
        std::vector<std::int64_t>& known = stretch_.processes;
        if (last_ < known.size() && known[last_] == id) return static_cast<std::uint16_t>(last_);
        last_ = static_cast<std::size_t>(std::find(known.begin(), known.end(), id) - known.begin());
        if (last_ == known.size()) known.push_back(id);
        return static_cast<std::uint16_t>(last_);
    }

    Kernels& kernels_;
    Stretch& stretch_;
    KernelKind kind_;
    bool has_bytes_;
    std::size_t last_ = 0;
};

class KernelReader {
public:
    explicit KernelReader(Reading& reading) : reading_(reading), kernels_(reading.trace.kernels) {}

    void read() {
        std::vector<std::vector<Stretch>> stretches;
        std::size_t total = 0;
        for (const TableKind& table : tables) {
            stretches.push_back(divide(table, total));
            for (const Stretch& stretch : stretches.back()) total += static_cast<std::size_t>(stretch.end_row - stretch.first_row);
        }
        resize(total);
        for (std::size_t i = 0; i < tables.size(); ++i) scan(tables[i], stretches[i]);
        look_up_processes(stretches);
        close_gaps(stretches);
        look_up_names();
        look_up_shapes();
        drop_unused_columns();
    }

private:
    /// Cuts the table's range of row ids into stretches for the threads.
    std::vector<Stretch> divide(const TableKind& table, std::size_t at) const {
        const auto have = reading_.database.columns(table.table);
        if (have.count("start") == 0 || have.count("end") == 0) return {};
        // Two queries: only alone is a smallest or largest row id looked up instead of searched for.
        Query lowest = reading_.database.query(std::string("SELECT min(rowid) FROM ") + table.table);
        Query highest = reading_.database.query(std::string("SELECT max(rowid) FROM ") + table.table);
        if (!lowest.next() || lowest.is_null(0) || !highest.next()) return {};
        const std::int64_t first = lowest.integer(0), last = highest.integer(0);
        std::int64_t rows = last - first + 1;
        constexpr std::int64_t rows_worth_a_thread = 100'000;
        const std::int64_t threads = std::clamp<std::int64_t>(rows / rows_worth_a_thread, 1, std::max(1U, std::thread::hardware_concurrency()));
        std::vector<Stretch> stretches;
        for (std::int64_t i = 0; i < threads; ++i) {
            Stretch stretch;
            stretch.first_row = first + rows * i / threads;
            stretch.end_row = first + rows * (i + 1) / threads;
            stretch.at = at + static_cast<std::size_t>(stretch.first_row - first);
            stretches.push_back(stretch);
        }
        return stretches;
    }

    /// Most of the time that this takes is the system's, for fresh memory; two halves take it side by side.
    void resize(std::size_t count) {
        const auto half = [&] {
            kernels_.row.resize(count);
            kernels_.start.resize(count);
            kernels_.end.resize(count);
            kernels_.stream.resize(count);
            kernels_.device.resize(count);
        };
        std::thread other;
        constexpr std::size_t worth_a_thread = 200'000;
        if (count > worth_a_thread) other = std::thread(half);
        else half();
        kernels_.kind.resize(count);
        kernels_.name.resize(count);
        kernels_.process.resize(count);
        kernels_.context.resize(count);
        kernels_.correlation.resize(count);
        kernels_.graph.resize(count);
        kernels_.graph_node.resize(count);
        kernels_.bytes.resize(count, -1);
        if (other.joinable()) other.join();
    }

    void scan(const TableKind& table, std::vector<Stretch>& stretches) {
        if (stretches.empty()) return;
        std::vector<std::thread> threads;
        for (std::size_t i = 1; i < stretches.size(); ++i) {
            threads.emplace_back([this, &table, stretch = &stretches[i]] { scan_stretch(table, *stretch); });
        }
        scan_stretch(table, stretches.front());
        for (std::thread& thread : threads) thread.join();
        for (const Stretch& stretch : stretches) {
            if (stretch.error) std::rethrow_exception(stretch.error);
        }
    }

    void scan_stretch(const TableKind& table, Stretch& stretch) {
        try {
            const Database own(reading_.database.file());  // a connection of its own: none is shared between threads
            const bool has_bytes = table.kind != KernelKind::kernel && own.columns(table.table).count("bytes") != 0;
            RowStore store(kernels_, stretch, table.kind, has_bytes);
            own.scan(row_columns(own, table), std::string("FROM ") + table.table + " WHERE rowid >= ? AND rowid < ?",
                     {stretch.first_row, stretch.end_row}, [](void* to, sqlite3_value** values) { static_cast<RowStore*>(to)->add(values); }, &store);
        } catch (...) {
            stretch.error = std::current_exception();
        }
    }

    /// The stretches' own numbers of processes into the trace's.
    void look_up_processes(const std::vector<std::vector<Stretch>>& stretches) {
        for (const auto& of_table : stretches) {
            for (const Stretch& stretch : of_table) {
                std::vector<std::uint16_t> numbers;
                bool same = true;
                for (const std::int64_t id : stretch.processes) {
                    numbers.push_back(reading_.processes.of_process(id));
                    same = same && numbers.back() + std::size_t{1} == numbers.size();
                }
                for (std::size_t k = stretch.at; !same && k < stretch.at + stretch.count; ++k) kernels_.process[k] = numbers[kernels_.process[k]];
            }
        }
    }

    /// Row ids need not follow each other: moves the stretches together.
    void close_gaps(const std::vector<std::vector<Stretch>>& stretches) {
        std::size_t to = 0;
        for (const auto& of_table : stretches) {
            for (const Stretch& stretch : of_table) {
                if (to != stretch.at) move_rows(stretch.at, to, stretch.count);
                to += stretch.count;
            }
        }
        if (to != kernels_.size()) resize(to);
    }

    void move_rows(std::size_t from, std::size_t to, std::size_t count) {
        const auto move = [&](auto& column) {
            std::copy(column.begin() + static_cast<std::ptrdiff_t>(from), column.begin() + static_cast<std::ptrdiff_t>(from + count),
                      column.begin() + static_cast<std::ptrdiff_t>(to));
        };
        move(kernels_.kind), move(kernels_.row), move(kernels_.start), move(kernels_.end), move(kernels_.device), move(kernels_.context);
        move(kernels_.stream), move(kernels_.correlation), move(kernels_.graph), move(kernels_.graph_node), move(kernels_.name), move(kernels_.process), move(kernels_.bytes);
    }

    void look_up_names() {
        std::vector<std::int64_t> ids;
        std::unordered_set<std::uint32_t> seen;
        std::uint32_t last = no_text;
        for (std::size_t k = 0; k < kernels_.size() && kernels_.kind[k] == KernelKind::kernel; ++k) {
            if (kernels_.name[k] == last) continue;
            last = kernels_.name[k];
            if (last != no_text && seen.insert(last).second) ids.push_back(last);
        }
        reading_.texts.load(ids);
        const std::int64_t highest = ids.empty() ? -1 : *std::max_element(ids.begin(), ids.end());
        constexpr std::int64_t most_for_an_array = 1 << 24;
        std::vector<StringId> dense(static_cast<std::size_t>(std::min(highest + 1, most_for_an_array)));
        for (const std::int64_t id : ids) {
            if (id < most_for_an_array) dense[static_cast<std::size_t>(id)] = reading_.texts[id];
        }
        for (std::size_t k = 0; k < kernels_.size(); ++k) {
            const std::uint32_t id = kernels_.name[k];
            if (kernels_.kind[k] != KernelKind::kernel) kernels_.name[k] = transfer_name(kernels_.kind[k], id);
            else kernels_.name[k] = id < dense.size() ? dense[id] : id == no_text ? 0 : reading_.texts[id];
        }
    }

    /// "Memcpy HtoD", "Memset": as Nsight Systems shows them.
    StringId transfer_name(KernelKind kind, std::uint32_t copy_kind) {
        if (kind == KernelKind::memset) return reading_.trace.string_id("Memset");
        switch (copy_kind) {
            case 1: return reading_.trace.string_id("Memcpy HtoD");
            case 2: return reading_.trace.string_id("Memcpy DtoH");
            case 8: return reading_.trace.string_id("Memcpy DtoD");
            case 10: return reading_.trace.string_id("Memcpy PtoP");
            default: return reading_.trace.string_id("Memcpy");
        }
    }

    /// Launch shapes and short names. A node of a graph runs with one shape, so it is looked up once per node, not once per run.
    void look_up_shapes() {
        const auto have = reading_.database.columns("CUPTI_ACTIVITY_KIND_KERNEL");
        const bool has_shapes = have.count("gridX") != 0 && have.count("blockX") != 0;
        if (!has_shapes && have.count("shortName") == 0) return;
        if (has_shapes) kernels_.shape.assign(kernels_.size(), 0);
        std::vector<std::size_t> wanted;
        const std::vector<std::size_t> representative = find_representatives(wanted);
        const std::string select = reading_.database.select(
            "CUPTI_ACTIVITY_KIND_KERNEL", {"gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "registersPerThread", "staticSharedMemory",
                                           "dynamicSharedMemory", "shortName", "rowid"}, "-1");
        std::vector<std::int64_t> short_ids(wanted.size(), -1);
        std::size_t next = 0;
        const auto store_row = [&](const Query& row) {
            short_ids[next] = row.integer(9);
            ++next;
            if (!has_shapes) return;
            LaunchShape shape;
            for (int i = 0; i < 3; ++i) {
                shape.grid[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(row.integer(i));
                shape.block[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(row.integer(3 + i));
            }
            shape.registers = static_cast<std::int32_t>(row.integer(6));
            if (row.integer(7) >= 0 && row.integer(8) >= 0) shape.shared_memory = row.integer(7) + row.integer(8);
            kernels_.shape[wanted[next - 1]] = reading_.trace.shape_id(shape);
        };
        if (wanted.size() * 4 > kernels_.size()) {
            Query rows = reading_.database.query(select);
            while (next < wanted.size() && rows.next()) {
                if (rows.integer(10) == kernels_.row[wanted[next]]) store_row(rows);
            }
        } else {
            Query row = reading_.database.query(select + " WHERE rowid = ?");
            while (next < wanted.size()) {
                row.bind(1, kernels_.row[wanted[next]]);
                if (!row.next()) break;
                store_row(row);
                row.reset();
            }
        }
        store_short_names(wanted, short_ids);
        if (!has_shapes) return;
        for (std::size_t k = 0; k < representative.size(); ++k) kernels_.shape[k] = kernels_.shape[representative[k]];
    }

    /// Per kernel: the first kernel that has the same graph node, else itself. `wanted`: those first ones.
    std::vector<std::size_t> find_representatives(std::vector<std::size_t>& wanted) const {
        std::vector<std::size_t> representative(kernels_.size());
        std::unordered_map<std::uint64_t, std::size_t> first_of_node;
        for (std::size_t k = 0; k < kernels_.size(); ++k) {
            representative[k] = k;
            if (kernels_.kind[k] != KernelKind::kernel) continue;
            if (kernels_.graph_node[k] != no_id) {
                const std::uint64_t key = kernels_.graph_node[k] * 0x9e3779b97f4a7c15U + kernels_.process[k] + (std::uint64_t{kernels_.name[k]} << 17U);
                const auto [found, is_new] = first_of_node.try_emplace(key, k);
                representative[k] = found->second;
                if (!is_new) continue;
            }
            wanted.push_back(k);
        }
        return representative;
    }

    void store_short_names(const std::vector<std::size_t>& wanted, const std::vector<std::int64_t>& short_ids) {
        std::vector<std::int64_t> ids(short_ids);
        std::sort(ids.begin(), ids.end());
        ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
        reading_.texts.load(ids);
        std::vector<StringId> short_of_name;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const StringId name = kernels_.name[wanted[i]];
            if (name >= short_of_name.size()) short_of_name.resize(name + 1, 0);
            if (short_of_name[name] == 0) short_of_name[name] = reading_.texts[short_ids[i]];
        }
        kernels_.short_name.resize(kernels_.size());
        for (std::size_t k = 0; k < kernels_.size(); ++k) {
            const StringId name = kernels_.name[k];
            const StringId short_name = name < short_of_name.size() ? short_of_name[name] : 0;
            kernels_.short_name[k] = short_name != 0 ? short_name : name;
        }
    }

    void drop_unused_columns() {
        const auto all_none = [](const std::vector<std::uint64_t>& column) {
            return std::all_of(column.begin(), column.end(), [](std::uint64_t id) { return id == no_id; });
        };
        if (all_none(kernels_.graph)) kernels_.graph.clear(), kernels_.graph.shrink_to_fit();
        if (all_none(kernels_.graph_node)) kernels_.graph_node.clear(), kernels_.graph_node.shrink_to_fit();
    }

    Reading& reading_;
    Kernels& kernels_;
};

}  // namespace

void read_kernel_tables(Reading& reading) { KernelReader(reading).read(); }

}  // namespace adpipe::nsys
