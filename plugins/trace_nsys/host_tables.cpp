#include "nsys_reader.hpp"
#include "table_rows.hpp"

#include <algorithm>
#include <limits>

namespace adpipe::nsys {

namespace {

/// API calls that start, capture or wait for GPU work; the others tell nothing about kernels, and there may be millions of them.
bool concerns_gpu_work(std::string_view name) {
    for (const std::string_view part : {"Launch", "Memcpy", "Memset", "Graph", "Capture", "Synchronize"}) {
        if (name.find(part) != std::string_view::npos) return true;
    }
    return false;
}

void read_launches(Reading& reading) {
    const auto have = reading.database.columns("CUPTI_ACTIVITY_KIND_RUNTIME");
    for (const char* column : {"start", "end", "globalTid", "correlationId", "nameId"}) {
        if (have.count(column) == 0) return;
    }
    std::unordered_map<std::int64_t, StringId> names;
    Query texts = reading.database.query("SELECT id, value FROM StringIds WHERE value LIKE 'cu%'");
    while (texts.next()) {
        if (concerns_gpu_work(texts.text(1))) names.emplace(texts.integer(0), reading.trace.string_id(texts.text(1)));
    }
    Launches& launches = reading.trace.launches;
    enum CallColumn : std::size_t { start, end, thread, correlation, name };
    const TableRows calls(reading.database, "CUPTI_ACTIVITY_KIND_RUNTIME",
                          {{"start"}, {"end"}, {"globalTid"}, {"correlationId"}, {"nameId"}});
    calls.read([&] { launches = {}; },
               [&](const auto& call) {
                   const auto known = names.find(call.integer(name));
                   if (known == names.end()) return;
                   launches.start.push_back(call.integer(start));
                   launches.end.push_back(call.integer(end));
                   launches.name.push_back(known->second);
                   launches.thread.push_back(static_cast<std::uint64_t>(call.integer(thread)));
                   launches.correlation.push_back(static_cast<std::uint64_t>(call.integer(correlation)));
               });
    for (const std::uint64_t id : launches.thread) launches.process.push_back(reading.processes.of_thread(static_cast<std::int64_t>(id)));
}

void read_ranges(Reading& reading) {
    const auto have = reading.database.columns("NVTX_EVENTS");
    for (const char* column : {"start", "end", "eventType", "globalTid"}) {
        if (have.count(column) == 0) return;
    }
    const bool has_text = have.count("text") != 0, has_id = have.count("textId") != 0;
    if (!has_text && !has_id) return;
    // 59: push and pop on one thread; 60: start and end, on any. The rest are marks, domains and payload descriptions.
    Query rows = reading.database.query(reading.database.select("NVTX_EVENTS", {"start", "end", "globalTid", "text", "textId"}) +
                                        " WHERE eventType IN (59, 60)");
    Annotations& ranges = reading.trace.annotations;
    std::vector<std::int64_t> ids;
    std::vector<std::pair<std::size_t, std::int64_t>> later;
    while (rows.next()) {
        ranges.start.push_back(rows.integer(0));
        // A range that was never closed has no end, or one far beyond the recording.
        ranges.end.push_back(rows.is_null(1) ? std::numeric_limits<Nanoseconds>::max() : rows.integer(1));
        ranges.process.push_back(reading.processes.of_thread(rows.integer(2)));
        ranges.thread.push_back(static_cast<std::uint64_t>(rows.integer(2)));
        ranges.source.push_back(Annotations::Source::nvtx);
        if (has_text && !rows.is_null(3)) {
            ranges.name.push_back(reading.trace.string_id(rows.text(3)));
        } else {
            later.emplace_back(ranges.name.size(), rows.integer(4));
            ids.push_back(rows.integer(4));
            ranges.name.push_back(0);
        }
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    reading.texts.load(ids);
    for (const auto& [range, id] : later) ranges.name[range] = reading.texts[id];
}

void read_graph_nodes(Reading& reading) {
    // Before schema 3 the nodes' creation stood in the table of the graphs' creation.
    const char* table = reading.database.has_table("CUDA_GRAPH_NODE_EVENTS") ? "CUDA_GRAPH_NODE_EVENTS" : "CUDA_GRAPH_EVENTS";
    const auto have = reading.database.columns(table);
    for (const char* column : {"start", "globalTid", "graphNodeId", "originalGraphNodeId"}) {
        if (have.count(column) == 0) return;
    }
    GraphNodes& nodes = reading.trace.graph_nodes;
    enum NodeColumn : std::size_t { time, thread, node, original };
    const TableRows rows(reading.database, table, {{"start"}, {"globalTid"}, {"graphNodeId"}, {"originalGraphNodeId"}});
    rows.read([&] { nodes = {}; },
              [&](const auto& row) {
                  if (row.integer(node) == 0) return;
                  nodes.time.push_back(row.integer(time));
                  nodes.thread.push_back(static_cast<std::uint64_t>(row.integer(thread)));
                  nodes.node.push_back(static_cast<std::uint64_t>(row.integer(node)));
                  const auto from = static_cast<std::uint64_t>(row.integer(original));
                  nodes.original.push_back(from == 0 ? no_id : from);
              });
    for (const std::uint64_t id : nodes.thread) nodes.process.push_back(reading.processes.of_thread(static_cast<std::int64_t>(id)));
}

void read_graph_runs(Reading& reading) {
    const auto have = reading.database.columns("CUPTI_ACTIVITY_KIND_GRAPH_TRACE");
    for (const char* column : {"start", "end"}) {
        if (have.count(column) == 0) return;
    }
    Query rows = reading.database.query(
        reading.database.select("CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                {"start", "end", "globalPid", "deviceId", have.count("graphExecId") != 0 ? "graphExecId" : "graphId"},
                                "0"));
    GraphRuns& runs = reading.trace.graph_runs;
    while (rows.next()) {
        runs.start.push_back(rows.integer(0));
        runs.end.push_back(rows.integer(1));
        runs.process.push_back(reading.processes.of_process(rows.integer(2)));
        runs.device.push_back(static_cast<std::int32_t>(rows.integer(3)));
        runs.graph.push_back(static_cast<std::uint64_t>(rows.integer(4)));
    }
}

void read_names(Reading& reading) {
    if (const auto have = reading.database.columns("PROCESSES"); have.count("globalPid") != 0 && have.count("name") != 0) {
        Query rows = reading.database.query("SELECT globalPid, name FROM PROCESSES");
        while (rows.next()) {
            const auto id = static_cast<std::uint64_t>(rows.integer(0));
            for (Process& process : reading.trace.processes) {
                if (process.id == id) process.name = std::string(rows.text(1));
            }
        }
    }
    const auto have = reading.database.columns("TARGET_INFO_GPU");
    if (have.count("id") == 0 || have.count("name") == 0) return;
    Query rows = reading.database.query(
        reading.database.select("TARGET_INFO_GPU",
                                {"id", "name", "memoryBandwidth", "smCount", "computeMajor", "computeMinor", "threadsPerWarp",
                                 "maxWarpsPerSm", "maxBlocksPerSm", "maxRegistersPerSm", "maxShmemPerSm"}));
    const auto positive = [&rows](int column) {
        return !rows.is_null(column) && rows.integer(column) > 0 ? rows.integer(column) : std::int64_t{-1};
    };
    const auto small = [&positive](int column) { return static_cast<std::int32_t>(std::min<std::int64_t>(positive(column), 1 << 30)); };
    while (rows.next()) {
        Device device;
        device.id = static_cast<std::int32_t>(rows.integer(0));
        device.name = std::string(rows.text(1));
        device.memory_bandwidth = positive(2);
        device.multiprocessors = small(3);
        device.compute_major = small(4);
        if (!rows.is_null(5)) device.compute_minor = static_cast<std::int32_t>(std::clamp<std::int64_t>(rows.integer(5), 0, 99));
        device.warp_size = small(6);
        if (device.warp_size > 0 && small(7) > 0) device.threads_per_multiprocessor = device.warp_size * std::min(small(7), 1 << 16);
        device.blocks_per_multiprocessor = small(8);
        device.registers_per_multiprocessor = small(9);
        device.shared_memory_per_multiprocessor = positive(10);
        reading.trace.devices.push_back(std::move(device));
    }
}

void read_messages(Reading& reading) {
    const auto have = reading.database.columns("DIAGNOSTIC_EVENT");
    if (have.count("severity") == 0 || have.count("text") == 0) return;
    Query rows = reading.database.query("SELECT text FROM DIAGNOSTIC_EVENT WHERE severity IN (2, 3)");  // warnings and errors
    while (rows.next()) {
        std::string text(rows.text(0));
        auto& known = reading.trace.profiler_messages;
        if (std::find(known.begin(), known.end(), text) == known.end()) known.push_back(std::move(text));
    }
}

void clamp_ranges(Trace& trace) {
    Nanoseconds last = 0;
    for (const Nanoseconds end : trace.kernels.end) last = std::max(last, end);
    for (const Nanoseconds end : trace.launches.end) last = std::max(last, end);
    for (Nanoseconds& end : trace.annotations.end) end = std::min(end, last);
    for (std::size_t i = 0; i < trace.annotations.size(); ++i) {
        trace.annotations.end[i] = std::max(trace.annotations.end[i], trace.annotations.start[i]);
    }
}

}  // namespace

void read_host_tables(Reading& reading) {
    read_launches(reading);
    read_ranges(reading);
    read_graph_nodes(reading);
    read_graph_runs(reading);
    read_names(reading);
    read_messages(reading);
    clamp_ranges(reading.trace);
}

}  // namespace adpipe::nsys
