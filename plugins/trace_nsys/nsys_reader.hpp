#pragma once

#include "database.hpp"

#include <adpipe/model/trace.hpp>

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

namespace adpipe::nsys {

/// The text ids of the file, turned into the trace's. Only the texts that something refers to are read.
class TextTable {
public:
    TextTable(const Database& database, Trace& trace) : database_(database), trace_(trace) {}

    /// Reads the texts of those ids, in one pass over the file's table.
    void load(const std::vector<std::int64_t>& ids);
    /// 0 for an id that the file has no text for.
    StringId operator[](std::int64_t id) const;

private:
    const Database& database_;
    Trace& trace_;
    std::unordered_map<std::int64_t, StringId> known_;
};

/// Throws Error where there are more processes than a trace can number: 16 bits.
void check_process_count(std::size_t count);

/// Processes by the file's 64-bit id; the thread's number is its low 24 bits.
class ProcessTable {
public:
    explicit ProcessTable(Trace& trace) : trace_(trace) {}
    std::uint16_t of_process(std::int64_t global_pid);
    std::uint16_t of_thread(std::int64_t global_tid) { return of_process(global_tid & ~std::int64_t{0xffffff}); }

private:
    Trace& trace_;
    std::int64_t last_pid_ = -1;
    std::uint16_t last_ = 0;
    std::unordered_map<std::int64_t, std::uint16_t> known_;
};

/// Everything that the parts of the reader share.
struct Reading {
    const Database& database;
    Trace& trace;
    TextTable& texts;
    ProcessTable& processes;
};

/// Kernels, memcpy and memset.
void read_kernel_tables(Reading& reading);
/// API calls, ranges, graph nodes, graph launches; process and device names, messages of the profiler.
void read_host_tables(Reading& reading);

/// The whole file; the trace is called `shown`. `warn` gets what limits the use of the trace.
std::shared_ptr<const Trace> read_trace(const std::filesystem::path& file, const std::filesystem::path& shown,
                                        const std::function<void(Diagnostic)>& warn);

}  // namespace adpipe::nsys
