#include "nsys_reader.hpp"
#include "table_rows.hpp"

#include "../shared/huge_pages.hpp"
#include "../shared/parallel.hpp"

#include <adpipe/diagnostic.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <thread>
#include <unordered_map>

namespace adpipe::nsys {

namespace {

struct TableKind {
    const char* table;
    KernelKind kind;
};
constexpr std::array<TableKind, 3> tables{{{"CUPTI_ACTIVITY_KIND_KERNEL", KernelKind::kernel},
                                           {"CUPTI_ACTIVITY_KIND_MEMCPY", KernelKind::memcpy},
                                           {"CUPTI_ACTIVITY_KIND_MEMSET", KernelKind::memset}}};

/// What is read of every row: the places in `wanted_columns`.
enum KernelColumn : std::size_t {
    start,
    end,
    device,
    context,
    stream,
    correlation,
    process,
    graph_node,
    graph,
    text,
    bytes,
    short_text,
    grid_x,
    grid_y,
    grid_z,
    block_x,
    block_y,
    block_z,
    registers,
    static_memory,
    dynamic_memory
};

/// The column that tells what ran: the fullest name that the table has, or the direction of a copy.
const char* text_column(const Names& have, KernelKind kind) {
    if (kind != KernelKind::kernel) return "copyKind";
    for (const char* column : {"demangledName", "mangledName", "shortName"}) {
        if (have.count(column) != 0) return column;
    }
    return "demangledName";
}

std::vector<WantedColumn> wanted_columns(const Database& database, const TableKind& table) {
    constexpr std::int64_t unknown = -1;
    return {{"start"},
            {"end"},
            {"deviceId"},
            {"contextId"},
            {"streamId"},
            {"correlationId"},
            {"globalPid"},
            {"graphNodeId"},
            {"graphId"},
            {text_column(database.columns(table.table), table.kind)},
            {"bytes"},
            {"shortName", unknown},
            {"gridX", unknown},
            {"gridY", unknown},
            {"gridZ", unknown},
            {"blockX", unknown},
            {"blockY", unknown},
            {"blockZ", unknown},
            {"registersPerThread", unknown},
            {"staticSharedMemory", unknown},
            {"dynamicSharedMemory", unknown}};
}

/// While the threads read, a row's name is the file's own id of it; one that does not fit is no id.
constexpr std::uint32_t no_text = 0xffffffffU;

struct HashOfShape {
    std::size_t operator()(const LaunchShape& shape) const noexcept {
        std::uint64_t hash = static_cast<std::uint64_t>(shape.shared_memory) << 10U ^ static_cast<std::uint64_t>(shape.registers);
        for (const auto& numbers : {shape.grid, shape.block}) {
            for (const std::int32_t number : numbers) hash = (hash ^ static_cast<std::uint32_t>(number)) * 0x9e3779b97f4a7c15U;
        }
        return static_cast<std::size_t>(hash ^ hash >> 32U);
    }
};

/// A part of a table's rows, read by one thread into its own stretch of the trace's columns. While the threads read, a row holds the numbers that
/// the stretch gives to processes and shapes.
struct Stretch {
    std::size_t at = 0;  ///< of the first row in the trace's columns
    std::size_t room = 0;
    std::optional<TableRows::Part> part;                         ///< of the table's pages; none: the whole table, by SQLite
    std::size_t count = 0;                                       ///< rows read
    std::size_t without_time = 0;                                ///< rows left out
    std::size_t backwards = 0;                                   ///< rows that end before they start
    std::vector<std::int64_t> processes;                         ///< ids, in order of appearance
    std::vector<LaunchShape> shapes{LaunchShape{}};              ///< the same; the unknown shape first
    std::vector<std::uint32_t> names;                            ///< ids of texts, the same
    std::unordered_map<std::uint32_t, std::int64_t> short_text;  ///< per such id, that of the short name in the first row that has it
};

/// Puts rows into a stretch of the columns.
class RowStore {
public:
    RowStore(Kernels& columns, Stretch& part, KernelKind of_table, bool with_bytes)
        : kernels_(columns), stretch_(part), kind_(of_table), has_bytes_(with_bytes) {}

    template <class Row>
    void add(const Row& row) {
        if (!row.is_number(start) || !row.is_number(end) || !are_possible(row.integer(start), row.integer(end))) {
            ++stretch_.without_time;
            return;
        }
        if (row.integer(end) < row.integer(start)) ++stretch_.backwards;
        if (stretch_.count == stretch_.room) throw Error("ADP-NSYS-004", "the database is damaged: a table has more rows than it counts");
        const std::size_t at = stretch_.at + stretch_.count++;
        kernels_.kind[at] = kind_;
        kernels_.row[at] = row.row_id();
        kernels_.start[at] = row.integer(start);
        kernels_.end[at] = std::max<Nanoseconds>(row.integer(end), kernels_.start[at]);
        kernels_.device[at] = static_cast<std::int32_t>(row.integer(device));
        kernels_.context[at] = static_cast<std::int32_t>(row.integer(context));
        kernels_.stream[at] = row.integer(stream);
        kernels_.correlation[at] = static_cast<std::uint64_t>(row.integer(correlation));
        // Old exports write 0, new ones NULL, for "not from a graph"; both read as 0.
        const auto node = static_cast<std::uint64_t>(row.integer(graph_node));
        const auto graph_id = static_cast<std::uint64_t>(row.integer(graph));
        kernels_.graph_node[at] = node == 0 ? no_id : node;
        kernels_.graph[at] = graph_id != 0 ? graph_id : (node == 0 ? no_id : node >> 32U);
        kernels_.process[at] = process_number(row.integer(process));
        const std::int64_t text_id = row.integer(text);
        const std::uint32_t name = text_id >= 0 && text_id < no_text ? static_cast<std::uint32_t>(text_id) : no_text;
        kernels_.name[at] = name;
        if (has_bytes_) kernels_.bytes[at] = row.integer(bytes);
        if (kind_ != KernelKind::kernel) return;
        if (std::uint32_t& seen = seen_names_[name % seen_names_.size()]; seen != name) {
            seen = name;
            if (stretch_.short_text.try_emplace(name, row.integer(short_text)).second) stretch_.names.push_back(name);
        }
        if (!kernels_.shape.empty()) kernels_.shape[at] = shape_number(shape_of(row));
    }

private:
    template <class Row>
    static LaunchShape shape_of(const Row& row) {
        const auto number = [&](KernelColumn column) { return static_cast<std::int32_t>(row.integer(column)); };
        LaunchShape shape{{number(grid_x), number(grid_y), number(grid_z)},
                          {number(block_x), number(block_y), number(block_z)},
                          number(registers),
                          -1};
        const std::int64_t fixed = row.integer(static_memory), dynamic = row.integer(dynamic_memory);
        if (fixed >= 0 && dynamic >= 0) shape.shared_memory = fixed + dynamic;
        return shape;
    }

    std::uint32_t shape_number(const LaunchShape& shape) {
        std::uint32_t& recent = recent_shapes_[HashOfShape{}(shape) % recent_shapes_.size()];
        if (stretch_.shapes[recent] == shape) return recent;
        const auto [found, is_new] = shape_numbers_.try_emplace(shape, static_cast<std::uint32_t>(stretch_.shapes.size()));
        if (is_new) stretch_.shapes.push_back(shape);
        return recent = found->second;
    }

    /// A recording has a handful of processes, and long runs of rows of one.
    std::uint16_t process_number(std::int64_t id) {
        std::vector<std::int64_t>& known = stretch_.processes;
        if (last_ < known.size() && known[last_] == id) return static_cast<std::uint16_t>(last_);
        const auto [at, is_new] = process_numbers_.try_emplace(id, known.size());
        if (is_new) known.push_back(id);
        check_process_count(known.size());
        last_ = at->second;
        return static_cast<std::uint16_t>(last_);
    }

    Kernels& kernels_;
    Stretch& stretch_;
    KernelKind kind_;
    bool has_bytes_;
    std::size_t last_ = 0;
    std::unordered_map<std::int64_t, std::size_t> process_numbers_;
    std::unordered_map<LaunchShape, std::uint32_t, HashOfShape> shape_numbers_;
    // What came lately, to look up few in the tables of all.
    std::array<std::uint32_t, 1024> recent_shapes_{};
    std::array<std::uint32_t, 1024> seen_names_{1};  // begins with what stands in no place of it
};

class KernelReader {
public:
    explicit KernelReader(Reading& reading) : reading_(reading), kernels_(reading.trace.kernels) {}

    void read() {
        for (const TableKind& kind : tables) {
            tables_.push_back({kind, TableRows(reading_.database, kind.table, wanted_columns(reading_.database, kind)), {}, true});
            check_times(tables_.back());
        }
        const TableRows& rows = tables_.front().rows;
        has_shapes_ = rows.has(grid_x) && rows.has(block_x);
        has_short_names_ = has_shapes_ || rows.has(short_text);
        // Once more where the pages of a table turned out not to be regular: how many rows it has is then for SQLite to say.
        do {
            kernels_ = {};
            std::size_t total = 0;
            for (Table& table : tables_) divide(table, total);
            resize(total);
        } while (!scan_all());
        for (const Table& table : tables_) report_bad_times(table);
        look_up_numbers();
        close_gaps();
        look_up_names();
        drop_unused_columns();
    }

private:
    struct Table {
        TableKind kind;
        TableRows rows;
        std::vector<Stretch> stretches;
        bool regular;  ///< as far as is known, its pages can be read
    };

    void check_times(const Table& table) const {
        if (!reading_.database.has_table(table.kind.table) || (table.rows.has(start) && table.rows.has(end))) return;
        throw Error("ADP-NSYS-004",
                    std::string("the table ") + table.kind.table + " has no column '" + (table.rows.has(start) ? "end" : "start") +
                        "': nothing in it has a time",
                    "export the recording again");
    }

    /// Cuts the table into stretches for the threads, from `at` on; moves that behind them.
    void divide(Table& table, std::size_t& at) const {
        table.stretches.clear();
        if (!table.rows.has(start)) return;
        constexpr std::size_t rows_worth_a_thread = 100'000;
        std::vector<TableRows::Part> parts = table.regular ? table.rows.parts(1) : std::vector<TableRows::Part>{};
        if (!parts.empty() && parts.front().room() > 2 * rows_worth_a_thread)
            parts = table.rows.parts(std::max(1U, std::thread::hardware_concurrency()));
        const auto add = [&](std::size_t room) -> Stretch& {
            Stretch stretch;
            stretch.at = at;
            stretch.room = room;
            at += room;
            table.stretches.push_back(std::move(stretch));
            return table.stretches.back();
        };
        for (const TableRows::Part& part : parts) add(part.room()).part = part;
        if (parts.empty()) add(table.rows.count_by_sqlite());
    }

    /// Fresh memory takes time, most of it the system's: half of the columns at a time on each of two processors.
    void resize(std::size_t count) {
        std::vector<std::function<void()>> work;
        const auto set = [&](auto& column, auto value) {
            work.push_back([&column, value, count] {
                shared::reserve_in_huge_pages(column, count);
                column.resize(count, value);
            });
        };
        set(kernels_.row, 0), set(kernels_.start, 0), set(kernels_.end, 0), set(kernels_.stream, 0), set(kernels_.bytes, -1);
        set(kernels_.process, std::uint16_t{0}), set(kernels_.kind, KernelKind::kernel);
        if (has_shapes_) set(kernels_.shape, 0U);
        set(kernels_.correlation, 0U), set(kernels_.graph, 0U), set(kernels_.graph_node, 0U);
        set(kernels_.device, 0), set(kernels_.context, 0), set(kernels_.name, 0U);
        if (has_short_names_) set(kernels_.short_name, 0U);
        const std::size_t least = count > 100'000 ? 1 : work.size();
        shared::in_parts(work.size(), least, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) work[i]();
        });
    }

    /// False where the pages of a table turned out not to be regular.
    bool scan_all() {
        bool all_regular = true;
        for (Table& table : tables_) {
            std::vector<std::uint8_t> is_read(table.stretches.size(), 0);
            shared::in_parts(table.stretches.size(), 1, [&](std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end; ++i) is_read[i] = scan(table, table.stretches[i]) ? 1 : 0;
            });
            if (std::find(is_read.begin(), is_read.end(), 0) != is_read.end()) table.regular = all_regular = false;
        }
        return all_regular;
    }

    bool scan(const Table& table, Stretch& stretch) {
        RowStore store(kernels_, stretch, table.kind.kind, table.kind.kind != KernelKind::kernel && table.rows.has(bytes));
        const auto use = [&](const auto& row) { store.add(row); };
        if (stretch.part) return table.rows.read_part(*stretch.part, use);
        table.rows.read_by_sqlite(use);
        return true;
    }

    void report_bad_times(const Table& table) {
        std::size_t without = 0;
        std::size_t backwards = 0;
        for (const Stretch& stretch : table.stretches) {
            without += stretch.without_time;
            backwards += stretch.backwards;
        }
        const auto rows = [&](std::size_t count) {
            return std::to_string(count) + (count == 1 ? " row of " : " rows of ") + table.kind.table;
        };
        if (without > 0)
            report(rows(without) + " left out: " + (without == 1 ? "its" : "their") + " start or end is no number, or impossible");
        if (backwards > 0)
            report(rows(backwards) + (backwards == 1 ? " ends before it starts, and counts" : " end before they start, and count") +
                   " as 0 ns");
    }

    void report(std::string message) {
        Diagnostic diagnostic;
        diagnostic.severity = Severity::warning;
        diagnostic.code = "ADP-NSYS-011";
        diagnostic.message = std::move(message);
        diagnostic.where.file = reading_.trace.file.string();
        diagnostic.hint = "export the recording again";
        reading_.trace.limits.push_back(std::move(diagnostic));
    }

    /// The stretches' own numbers of processes and shapes into the trace's.
    void look_up_numbers() {
        for (const Table& table : tables_) {
            for (const Stretch& stretch : table.stretches) {
                std::vector<std::uint16_t> processes;
                for (const std::int64_t id : stretch.processes) processes.push_back(reading_.processes.of_process(id));
                renumber(kernels_.process, stretch, processes);
                if (kernels_.shape.empty()) continue;
                std::vector<std::uint32_t> shapes;
                for (const LaunchShape& shape : stretch.shapes) shapes.push_back(reading_.trace.shape_id(shape));
                renumber(kernels_.shape, stretch, shapes);
            }
        }
    }

    template <class Number>
    static void renumber(std::vector<Number>& column, const Stretch& stretch, const std::vector<Number>& numbers) {
        std::size_t same = 0;
        while (same < numbers.size() && numbers[same] == same) ++same;
        if (same == numbers.size()) return;
        for (std::size_t k = stretch.at; k < stretch.at + stretch.count; ++k) column[k] = numbers[column[k]];
    }

    /// Row ids need not follow each other: moves the stretches together.
    void close_gaps() {
        std::size_t to = 0;
        for (const Table& table : tables_) {
            for (const Stretch& stretch : table.stretches) {
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
        move(kernels_.stream), move(kernels_.correlation), move(kernels_.graph), move(kernels_.graph_node), move(kernels_.name),
            move(kernels_.process), move(kernels_.bytes);
        if (has_shapes_) move(kernels_.shape);
    }

    /// The names of a text id.
    struct Names {
        StringId full = 0;
        StringId brief = 0;
    };

    void look_up_names() {
        const std::unordered_map<std::uint32_t, Names> of_text = load_names();
        // Ids of texts are small numbers: an array answers a million questions sooner than a table.
        constexpr std::uint32_t most_for_an_array = 1 << 24;
        std::vector<Names> dense;
        for (const auto& [id, names] : of_text) {
            if (id >= most_for_an_array) continue;
            if (id >= dense.size()) dense.resize(id + std::size_t{1});
            dense[id] = names;
        }
        for (std::size_t k = 0; k < kernels_.size(); ++k) {
            const std::uint32_t id = kernels_.name[k];
            Names names;
            if (kernels_.kind[k] != KernelKind::kernel) names.full = names.brief = transfer_name(kernels_.kind[k], id);
            else names = id < dense.size() ? dense[id] : of_text.at(id);
            kernels_.name[k] = names.full;
            if (has_short_names_) kernels_.short_name[k] = names.brief;
        }
    }

    std::unordered_map<std::uint32_t, Names> load_names() const {
        std::unordered_map<std::uint32_t, Names> names;
        std::vector<std::int64_t> ids, short_ids;
        for (const Stretch& stretch : tables_.front().stretches) {
            for (const std::uint32_t id : stretch.names) {
                if (names.try_emplace(id).second && id != no_text) ids.push_back(id);
                short_ids.push_back(stretch.short_text.at(id));
            }
        }
        reading_.texts.load(ids);
        std::sort(short_ids.begin(), short_ids.end());
        short_ids.erase(std::unique(short_ids.begin(), short_ids.end()), short_ids.end());
        reading_.texts.load(short_ids);
        for (const Stretch& stretch : tables_.front().stretches) {
            for (const std::uint32_t id : stretch.names) {
                Names& of_id = names.at(id);
                if (id != no_text) of_id.full = reading_.texts[id];
                if (of_id.brief == 0) of_id.brief = reading_.texts[stretch.short_text.at(id)];
            }
        }
        for (auto& [id, of_id] : names) {
            if (of_id.brief == 0) of_id.brief = of_id.full;
        }
        return names;
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

    void drop_unused_columns() {
        const auto all_none = [](const std::vector<std::uint64_t>& column) {
            return std::all_of(column.begin(), column.end(), [](std::uint64_t id) { return id == no_id; });
        };
        if (all_none(kernels_.graph)) kernels_.graph.clear(), kernels_.graph.shrink_to_fit();
        if (all_none(kernels_.graph_node)) kernels_.graph_node.clear(), kernels_.graph_node.shrink_to_fit();
    }

    Reading& reading_;
    Kernels& kernels_;
    std::vector<Table> tables_;
    bool has_shapes_ = false;
    bool has_short_names_ = false;
};

}  // namespace

void read_kernel_tables(Reading& reading) { KernelReader(reading).read(); }

}  // namespace adpipe::nsys
