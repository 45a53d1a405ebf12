#pragma once

#include <adpipe/artifact.hpp>
#include <adpipe/diagnostic.hpp>
#include <adpipe/export.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace adpipe {

/// All times are integer nanoseconds of the trace's own clock.
using Nanoseconds = std::int64_t;

/// A day: no piece of GPU work lasts longer, and sums of a hundred thousand such durations still fit.
inline constexpr Nanoseconds longest_duration = 86'400'000'000'000;

/// False for times of an event that only a damaged record has: further than 146 years from the clock's zero, or more than a day apart.
constexpr bool are_possible(Nanoseconds start, Nanoseconds end) noexcept {
    constexpr Nanoseconds furthest = Nanoseconds{1} << 62;
    return start > -furthest && start < furthest && end > -furthest && end < furthest && end - start <= longest_duration;
}
/// Index into Trace::strings; 0 is the empty text.
using StringId = std::uint32_t;
inline constexpr std::uint64_t no_id = 0xffffffffffffffffU;

enum class KernelKind : std::uint8_t { kernel, memcpy, memset };

/// How a kernel was launched. -1: not known.
struct LaunchShape {
    std::array<std::int32_t, 3> grid{-1, -1, -1};   ///< blocks
    std::array<std::int32_t, 3> block{-1, -1, -1};  ///< threads
    std::int32_t registers = -1;                    ///< per thread
    std::int64_t shared_memory = -1;                ///< static plus dynamic, bytes per block
    friend bool operator==(const LaunchShape&, const LaunchShape&) = default;
};

/// GPU executions, one column per property, in the order of the file's tables (kernels, then memcpy, then memset, each in row order)
/// for databases, in file order for JSON. Columns of properties that the trace does not hold are empty vectors; an unknown value
/// in a column that is there is `no_id` for ids and -1 for numbers.
struct Kernels {
    std::vector<KernelKind> kind;
    std::vector<std::int64_t> row;  ///< rowid in its table; for JSON the running number among GPU events in file order, from 0
    std::vector<Nanoseconds> start;
    std::vector<Nanoseconds> end;
    std::vector<StringId> name;          ///< demangled where the trace has it so
    std::vector<StringId> short_name;    ///< without template arguments and parameters, where the trace has it
    std::vector<std::uint16_t> process;  ///< index into Trace::processes
    std::vector<std::int32_t> device;
    std::vector<std::int32_t> context;
    std::vector<std::int64_t> stream;
    std::vector<std::uint64_t> correlation;  ///< unique only within a process, and may be reused in a long run
    std::vector<std::uint64_t> graph;        ///< executable graph; no_id: not from a graph
    std::vector<std::uint64_t> graph_node;   ///< node in it; no_id: not from a graph
    std::vector<std::uint64_t> external;     ///< PyTorch: the host range that launched it, see Annotations::external
    std::vector<std::uint32_t> shape;        ///< index into Trace::shapes; a trace of a million kernels has some hundred shapes
    std::vector<std::int64_t> bytes;         ///< moved, for memcpy and memset
    /// What annotations put on a kernel (PyTorch): the graph node or op, the module's qualified name, the layer's number.
    std::vector<StringId> annotation;
    std::vector<StringId> annotation_module;
    std::vector<std::int32_t> annotation_layer;

    std::size_t size() const noexcept { return start.size(); }
};

/// Host calls that start GPU work (runtime and driver API).
struct Launches {
    std::vector<Nanoseconds> start;
    std::vector<Nanoseconds> end;
    std::vector<StringId> name;
    std::vector<std::uint16_t> process;
    std::vector<std::uint64_t> thread;  ///< unique in the trace
    std::vector<std::uint64_t> correlation;
    /// The kernel that it launched, also where that was captured and did not run; 0 where it launched none. Empty where the trace does not say (HIP
    /// in PyTorch's traces does).
    std::vector<StringId> kernel;
    std::size_t size() const noexcept { return start.size(); }
};

/// Ranges that the program named on the host: NVTX, record_function, cpu_op, module scopes.
struct Annotations {
    /// `gpu_user` is a user range as the GPU saw it: from the first to the last kernel that it launched.
    enum class Source : std::uint8_t { nvtx, user, cpu_op, python, gpu_user };
    std::vector<Nanoseconds> start;
    std::vector<Nanoseconds> end;  ///< clamped to the end of the recording where the range was never closed
    std::vector<StringId> name;
    std::vector<std::uint16_t> process;
    std::vector<std::uint64_t> thread;  ///< unique in the trace; of a GPU range the stream
    std::vector<Source> source;
    std::vector<std::uint64_t> external;  ///< id that kernels refer to; no_id: none
    std::vector<std::int32_t> device;     ///< of a GPU range; -1 on the host
    // What an operator was called with, as the profiler wrote it; only where the reader was asked for it. Empty text: not recorded.
    std::vector<StringId> input_shapes;  ///< JSON: "[[16, 4096], []]"
    std::vector<StringId> input_types;   ///< JSON: "[\"c10::BFloat16\", \"Scalar\"]"
    std::vector<StringId> call_stack;    ///< "file(line): function;…", the innermost first
    std::size_t size() const noexcept { return start.size(); }
};

/// Creation and cloning of the nodes of captured graphs (Nsight Systems).
struct GraphNodes {
    std::vector<Nanoseconds> time;
    std::vector<std::uint16_t> process;
    std::vector<std::uint64_t> thread;
    std::vector<std::uint64_t> node;
    std::vector<std::uint64_t> original;  ///< the node that this one is a clone of; no_id: created at capture
    std::size_t size() const noexcept { return time.size(); }
};

/// Launches of whole graphs recorded without their kernels (Nsight Systems, mode "graph").
struct GraphRuns {
    std::vector<Nanoseconds> start;
    std::vector<Nanoseconds> end;
    std::vector<std::uint16_t> process;
    std::vector<std::int32_t> device;
    std::vector<std::uint64_t> graph;
    std::size_t size() const noexcept { return start.size(); }
};

struct Process {
    std::uint64_t id = no_id;  ///< as in the trace
    std::int64_t pid = -1;
    std::string name;
    std::int64_t rank = -1;
};

struct Device {
    std::int32_t id = -1;
    std::string name;
    std::int64_t memory_bandwidth = -1;  ///< bytes per second
    std::int32_t multiprocessors = -1;
    // Limits that bound how many blocks of a kernel run on one multiprocessor at a time. -1: not recorded.
    std::int32_t compute_major = -1;
    std::int32_t compute_minor = -1;
    std::int32_t warp_size = -1;  ///< threads
    std::int32_t threads_per_multiprocessor = -1;
    std::int32_t blocks_per_multiprocessor = -1;
    std::int32_t registers_per_multiprocessor = -1;
    std::int64_t shared_memory_per_multiprocessor = -1;  ///< bytes
};

/// A profiler trace as columns. Immutable once published.
struct ADPIPE_EXPORT Trace {
    std::filesystem::path file;
    std::string format;  ///< "nsys 3.25.0", "kineto", "rocpd 3"
    Kernels kernels;
    Launches launches;
    Annotations annotations;
    GraphNodes graph_nodes;
    GraphRuns graph_runs;
    std::vector<Process> processes;
    std::vector<Device> devices;
    /// What the profiler itself recorded about the recording (dropped events, buffer overflows).
    std::vector<std::string> profiler_messages;
    /// What the reader found that limits what the trace can tell (cut off, repaired, rewritten); also reported when it was read.
    std::vector<Diagnostic> limits;
    Nanoseconds epoch = 0;           ///< 1970-01-01 UTC plus this plus a time is the wall clock; 0: not known
    Nanoseconds resolution = 1;      ///< of the times; 1000 in traces of 2021 that hold whole microseconds
    bool streams_rewritten = false;  ///< a tool moved kernels to other streams: stream numbers are not what ran
    bool truncated = false;          ///< the file ends before the recording did
    bool simulated = false;          ///< the file says of itself that a generator wrote it
    std::deque<std::string> strings{std::string{}};
    /// Distinct launch shapes; the first is the unknown one.
    std::vector<LaunchShape> shapes{LaunchShape{}};

    StringId string_id(std::string_view text);
    const std::string& string(StringId id) const { return strings[id]; }
    std::uint32_t shape_id(const LaunchShape& shape);

private:
    struct ShapeHash {
        std::size_t operator()(const LaunchShape& shape) const noexcept;
    };
    std::unordered_map<std::string_view, StringId> string_ids_;
    std::unordered_map<LaunchShape, std::uint32_t, ShapeHash> shape_ids_;
};

template <>
struct ArtifactTraits<Trace> {
    static constexpr const char* id = "trace/1";
};

}  // namespace adpipe
