#pragma once

#include "event.hpp"

#include <adpipe/model/trace.hpp>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace adpipe::kineto {

/// What was met while reading that a user should know of. Counts of events.
struct Findings {
    std::uint64_t events = 0;            ///< objects in traceEvents
    std::uint64_t with_phase = 0;        ///< … that are trace events at all
    std::uint64_t without_start = 0;     ///< of interest, but without a readable `ts`: left out
    std::uint64_t without_duration = 0;  ///< `dur` missing or unreadable: taken as 0
    std::uint64_t negative_duration = 0;
    std::uint64_t overlong_duration = 0;  ///< over a day
    std::uint64_t overrunning = 0;        ///< GPU events cut where the next one on their stream begins
    std::uint64_t begin_end_pairs = 0;    ///< phases B and E: not read
    std::uint64_t gpu_events = 0;
    bool fractions = false;  ///< some time is finer than a microsecond
};

/// Gives equal texts of a file equal ids in the trace. Fast for texts that were met before.
class TextIds {
public:
    explicit TextIds(Trace& trace) : trace_(trace), recent_(size) {}
    StringId id(const RawText& text);

private:
    static constexpr std::size_t size = 8192;
    struct Entry {
        std::string_view raw;
        StringId id = 0;
    };
    Trace& trace_;
    std::vector<Entry> recent_;    ///< by hash; a newer text takes the place of an older one
    std::deque<std::string> raw_;  ///< spellings that differ from the text they stand for
};

/// Host processes and their threads. Most files hold one process; files merged from several ranks put a text before the number
/// ("[TP00] 4242"), and GPU events carry the same text before the number of their device.
class ProcessTable {
public:
    explicit ProcessTable(Trace& trace) : trace_(trace) {}
    std::uint16_t process(const RawScalar& pid);
    /// Unique in the trace: the process in the upper 16 bits.
    std::uint64_t thread(std::uint16_t process, const RawScalar& tid);
    /// Of a GPU event: its device number and the index of the text before it.
    std::uint16_t group(const RawScalar& pid, std::int64_t& device);
    std::uint16_t group_of_process(std::uint16_t process) const { return group_of_process_[process]; }
    std::size_t groups() const { return groups_.size(); }
    /// Names may come before and after the events of a process, and for GPU rows too.
    void set_name(const RawScalar& pid, std::string name);
    void apply_names();
    void keep_only(std::uint16_t process);

private:
    std::uint16_t group_id(std::string_view text);

    Trace& trace_;
    std::string last_pid_;
    std::uint16_t last_process_ = 0;
    std::unordered_map<std::string, std::uint16_t> processes_;
    std::vector<std::uint16_t> group_of_process_;
    std::vector<std::string> groups_;
    std::unordered_map<std::string, std::uint64_t> named_threads_;
    std::unordered_map<std::string, std::string> names_;
};

/// Turns events into the columns of a Trace.
class TraceBuilder {
public:
    explicit TraceBuilder(Trace& trace) : trace_(trace), texts_(trace), processes_(trace) {}
    void add(const Event& event);
    /// Makes room for so many GPU events, to save copying the columns while they grow.
    void reserve(std::size_t rows);
    std::size_t gpu_rows() const noexcept { return trace_.kernels.size(); }
    /// Assigns processes, repairs what can be repaired. The trace is complete afterwards.
    void finish();
    Findings& findings() { return findings_; }

private:
    bool times(const Event& event, Nanoseconds& start, Nanoseconds& end);
    void add_kernel(const Event& event, KernelKind kind);
    std::uint32_t shape_id(const Event& event);
    void add_annotation_columns(const Event& event, std::size_t row);
    void add_launch(const Event& event);
    void add_annotation(const Event& event);
    void add_metadata(const Event& event);
    void assign_kernel_processes();
    void assign_by_correlation();
    void adopt_python_threads();
    void cut_overrunning();

    Trace& trace_;
    TextIds texts_;
    ProcessTable processes_;
    Findings findings_;
    struct RecentShape {
        LaunchShape shape;
        std::uint32_t id = 0;
    };
    std::vector<RecentShape> recent_shapes_{1024};
    std::vector<std::uint16_t> kernel_group_;  ///< per kernel; empty while all are in group 0
    std::vector<std::uint64_t> launches_of_;   ///< per process
    std::vector<bool> native_;                 ///< per process: has other events than python_function
};

}  // namespace adpipe::kineto
