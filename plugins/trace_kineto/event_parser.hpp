#pragma once

#include "json_scan.hpp"

#include <cstdint>

namespace adpipe::kineto {

/// What an event is to the trace model.
enum class Category : std::uint8_t {
    none,     ///< no `cat` was given
    other,    ///< of no interest: flows, counters, overhead, …
    kernel,
    memcpy,
    memset,
    runtime,   ///< host call of the CUDA, HIP or another runtime or driver
    cpu_op,
    user,
    gpu_user,
    python,
};

/// Numbers of an event's `args`; -1 where missing.
struct EventNumbers {
    std::int64_t correlation = -1;
    std::int64_t external = -1;
    std::int64_t device = -1;
    std::int64_t context = -1;
    std::int64_t stream = -1;
    std::int64_t graph = -1;
    std::int64_t graph_node = -1;
    std::int64_t grid[3] = {-1, -1, -1};
    std::int64_t block[3] = {-1, -1, -1};
    std::int64_t registers = -1;
    std::int64_t shared_memory = -1;
    std::int64_t bytes = -1;
    std::int64_t layer = -1;
};

/// One trace event. Texts point into the text in memory.
struct Event {
    char phase = 0;
    Category category = Category::none;
    bool old_category = false;  ///< spelled as in 2021: "Kernel", "Operator"
    bool has_phase = false;
    bool has_args = false;
    RawText name;
    RawScalar pid, tid, start, duration;
    EventNumbers numbers;
    RawText args_name;    ///< args.name: of a process or thread; the graph node on an annotated kernel
    RawText args_labels;  ///< args.labels of a process: "CPU", "GPU 0"
    RawText module;       ///< args.module_fqn of an annotated kernel
};

/// Which python_function events are kept.
enum class PythonEvents : std::uint8_t { none, modules, all };

/// Reads one event; the cursor stands on its opening brace. What will not be kept is skipped as soon as that is known, so most of
/// such an event stays unread: its category is `other` then.
Scan parse_event(Cursor& c, PythonEvents python, Event& event);

}  // namespace adpipe::kineto
