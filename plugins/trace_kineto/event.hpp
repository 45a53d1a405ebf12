#pragma once

#include "json_scan.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace adpipe::kineto {

/// What an event is to the trace model.
enum class Category : std::uint8_t {
    none,   ///< no `cat` was given
    other,  ///< of no interest: flows, counters, overhead, …
    kernel,
    memcpy,
    memset,
    runtime,  ///< host call of the CUDA, HIP or another runtime or driver
    cpu_op,
    user,
    gpu_user,
    python,
};

/// Whole numbers of an event, all from its `args`.
enum class Number : std::uint8_t {
    correlation,
    external,
    device,
    context,
    stream,
    graph,
    graph_node,
    grid_x,
    grid_y,
    grid_z,
    block_x,
    block_y,
    block_z,
    registers,
    shared_memory,
    bytes,
    count
};

enum class Text : std::uint8_t {
    name,
    args_name,   ///< args.name: of a process or thread; the graph node on an annotated kernel; of a call args.kernel
    module,      ///< args.module_fqn of an annotated kernel
    shapes,      ///< args."Input Dims", as JSON
    types,       ///< args."Input type", as JSON
    call_stack,  ///< args."Call stack"
    count
};

/// Values that are numbers in most files, and texts in some.
enum class Scalar : std::uint8_t { pid, tid, start, duration, layer, count };

/// One trace event. Texts and scalars point into the text in memory.
struct Event {
    char phase = 0;  ///< 0: none given
    Category category = Category::none;
    bool old_category = false;  ///< spelled as in 2021: "Kernel", "Operator"
    std::array<RawText, static_cast<std::size_t>(Text::count)> texts;
    std::array<RawScalar, static_cast<std::size_t>(Scalar::count)> scalars;
    std::array<std::int64_t, static_cast<std::size_t>(Number::count)> numbers;  ///< -1 where missing

    Event() { numbers.fill(-1); }
    std::int64_t& operator[](Number which) noexcept { return numbers[static_cast<std::size_t>(which)]; }
    std::int64_t operator[](Number which) const noexcept { return numbers[static_cast<std::size_t>(which)]; }
    RawText& operator[](Text which) noexcept { return texts[static_cast<std::size_t>(which)]; }
    const RawText& operator[](Text which) const noexcept { return texts[static_cast<std::size_t>(which)]; }
    RawScalar& operator[](Scalar which) noexcept { return scalars[static_cast<std::size_t>(which)]; }
    const RawScalar& operator[](Scalar which) const noexcept { return scalars[static_cast<std::size_t>(which)]; }
};

/// Which python_function events are kept.
enum class PythonEvents : std::uint8_t { none, modules, all };

/// False as soon as it is known that the event is of no use, so that the rest of it need not be read.
bool is_kept(const Event& event, PythonEvents python);

}  // namespace adpipe::kineto
