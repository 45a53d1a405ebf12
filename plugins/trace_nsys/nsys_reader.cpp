#include "nsys_reader.hpp"

#include <algorithm>

namespace adpipe::nsys {

namespace {

constexpr const char* node_mode_hint =
    "record again with: nsys profile --trace=cuda,nvtx --cuda-graph-trace=node <command>, and let the capture of the graphs lie inside "
    "the recording";

struct Metadata {
    std::string schema;
    bool simulated = false;
};

Metadata read_metadata(const Database& database) {
    Metadata metadata;
    for (const char* table : {"META_DATA_EXPORT", "EXPORT_META_DATA", "META_DATA_CAPTURE"}) {
        const auto have = database.columns(table);
        if (have.count("name") == 0 || have.count("value") == 0) continue;
        Query rows = database.query(std::string("SELECT name, value FROM ") + table);
        while (rows.next()) {
            if (rows.text(0) == "EXPORT_SCHEMA_VERSION") metadata.schema = std::string(rows.text(1));
            if (rows.text(0) == "SIMULATED") metadata.simulated = rows.text(1) == "true";
        }
    }
    return metadata;
}

Diagnostic limit(const Trace& trace, std::string code, std::string message, std::string hint) {
    Diagnostic diagnostic;
    diagnostic.severity = Severity::warning;
    diagnostic.code = std::move(code);
    diagnostic.message = std::move(message);
    diagnostic.where.file = trace.file.string();
    diagnostic.hint = std::move(hint);
    return diagnostic;
}

[[noreturn]] void fail(const Database& database, std::string code, std::string message, std::string hint) {
    Diagnostic diagnostic;
    diagnostic.code = std::move(code);
    diagnostic.message = std::move(message);
    diagnostic.where.file = database.file().string();
    diagnostic.hint = std::move(hint);
    throw Error(std::move(diagnostic));
}

/// Why there is no kernel, if there is none and no graph that ran without them.
std::optional<Diagnostic> no_kernels(const Trace& trace) {
    const auto& kinds = trace.kernels.kind;
    if (trace.graph_runs.size() > 0 || std::find(kinds.begin(), kinds.end(), KernelKind::kernel) != kinds.end()) return std::nullopt;
    std::string holds = "no GPU work";
    if (!kinds.empty()) holds = std::to_string(kinds.size()) + " copies and settings of memory, but no kernel";
    Diagnostic diagnostic = limit(trace, "ADP-NSYS-006", "the trace holds " + holds + ": there is no table of kernels, or it is empty",
                                  node_mode_hint);
    diagnostic.severity = Severity::error;
    constexpr std::size_t most_messages = 5;
    for (const std::string& message : trace.profiler_messages) {
        if (diagnostic.notes.size() < most_messages) diagnostic.notes.push_back("the profiler says: " + message);
    }
    return diagnostic;
}

void find_limits(Trace& trace) {
    if (trace.graph_runs.size() > 0) {
        trace.limits.push_back(limit(trace, "ADP-NSYS-007",
                                     "recorded in graph mode: " + std::to_string(trace.graph_runs.size()) +
                                         (trace.graph_runs.size() == 1 ? " graph launch is" : " graph launches are") +
                                         " in the trace without " + (trace.graph_runs.size() == 1 ? "its kernels" : "their kernels"),
                                     node_mode_hint));
    }
    const auto reports_loss = [](const std::string& text) {
        return text.find("dropped") != std::string::npos || text.find("might not have been") != std::string::npos ||
               text.find("Not all CUDA events") != std::string::npos;
    };
    for (const std::string& message : trace.profiler_messages) {
        if (reports_loss(message)) {
            trace.limits.push_back(limit(trace, "ADP-NSYS-008", "the profiler says that events are missing: " + message, {}));
        }
    }
}

}  // namespace

void TextTable::load(const std::vector<std::int64_t>& ids) {
    std::size_t missing = 0;
    for (const std::int64_t id : ids) missing += known_.emplace(id, 0).second ? 1 : 0;
    if (missing == 0 || !database_.has_table("StringIds")) return;
    constexpr std::size_t few = 64;
    if (missing <= few) {
        Query one = database_.query("SELECT value FROM StringIds WHERE id = ?");
        for (const std::int64_t id : ids) {
            StringId& text = known_[id];
            if (text != 0) continue;
            one.bind(1, id);
            if (one.next()) text = trace_.string_id(one.text(0));
            one.reset();
        }
        return;
    }
    Query all = database_.query("SELECT id, value FROM StringIds");
    while (all.next()) {
        const auto wanted = known_.find(all.integer(0));
        if (wanted != known_.end() && wanted->second == 0) wanted->second = trace_.string_id(all.text(1));
    }
}

StringId TextTable::operator[](std::int64_t id) const {
    const auto found = known_.find(id);
    return found == known_.end() ? 0 : found->second;
}

void check_process_count(std::size_t count) {
    if (count > 0xffff) throw Error("ADP-NSYS-004", "the database is damaged: its GPU work names more than 65,535 processes");
}

std::uint16_t ProcessTable::of_process(std::int64_t global_pid) {
    if (global_pid == last_pid_) return last_;
    last_pid_ = global_pid;
    check_process_count(trace_.processes.size() + 1);
    const auto [found, is_new] = known_.try_emplace(global_pid, static_cast<std::uint16_t>(trace_.processes.size()));
    if (is_new) {
        Process process;
        process.id = static_cast<std::uint64_t>(global_pid);
        process.pid = (global_pid >> 24) & 0xffffff;
        trace_.processes.push_back(std::move(process));
    }
    last_ = found->second;
    return last_;
}

std::shared_ptr<const Trace> read_trace(const std::filesystem::path& file, const std::filesystem::path& shown,
                                        const std::function<void(Diagnostic)>& warn) {
    const Database database(file);
    const Metadata metadata = read_metadata(database);
    if (!database.has_table("StringIds") && metadata.schema.empty()) {
        fail(database, "ADP-NSYS-005", "this database is no export of Nsight Systems: it has neither StringIds nor an export version",
             "rocprofiler databases are read by trace.rocpd");
    }
    auto trace = std::make_shared<Trace>();
    trace->file = shown;
    trace->format = metadata.schema.empty() ? "nsys" : "nsys " + metadata.schema;
    trace->simulated = metadata.simulated;
    TextTable texts(database, *trace);
    ProcessTable processes(*trace);
    Reading reading{database, *trace, texts, processes};
    read_kernel_tables(reading);
    read_host_tables(reading);
    if (auto nothing = no_kernels(*trace)) {
        if (trace->kernels.size() == 0) throw Error(std::move(*nothing));
        nothing->severity = Severity::warning;
        trace->limits.push_back(std::move(*nothing));
    }
    find_limits(*trace);
    for (const Diagnostic& diagnostic : trace->limits) warn(diagnostic);
    return trace;
}

}  // namespace adpipe::nsys
