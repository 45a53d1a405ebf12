#include "event_parser.hpp"

namespace adpipe::kineto {

namespace {

struct CategoryName {
    std::string_view name;
    Category category;
    bool old;
};

constexpr CategoryName category_names[] = {
    {"kernel", Category::kernel, false},
    {"gpu_memcpy", Category::memcpy, false},
    {"gpu_memset", Category::memset, false},
    {"cuda_runtime", Category::runtime, false},
    {"cuda_driver", Category::runtime, false},
    {"hip_runtime", Category::runtime, false},
    {"hip_driver", Category::runtime, false},
    {"xpu_runtime", Category::runtime, false},
    {"xpu_driver", Category::runtime, false},
    {"privateuse1_runtime", Category::runtime, false},
    {"privateuse1_driver", Category::runtime, false},
    {"cpu_op", Category::cpu_op, false},
    {"user_annotation", Category::user, false},
    {"gpu_user_annotation", Category::gpu_user, false},
    {"python_function", Category::python, false},
    {"Kernel", Category::kernel, true},
    {"Memcpy", Category::memcpy, true},
    {"Memset", Category::memset, true},
    {"Runtime", Category::runtime, true},
    {"Driver", Category::runtime, true},
    {"Operator", Category::cpu_op, true},
    {"__metadata", Category::none, false},
};

void set_category(Event& event, std::string_view text) {
    event.category = Category::other;
    for (const CategoryName& known : category_names) {
        if (known.name == text) {
            event.category = known.category;
            event.old_category = known.old;
            return;
        }
    }
}

constexpr std::string_view module_prefix = "nn.Module: ";

bool keeps(const Event& event, PythonEvents python) {
    switch (event.phase) {
        case 's': case 't': case 'f':                // flows
        case 'C': case 'i': case 'I': case 'n':      // counters, instants
        case 'N': case 'O': case 'D': case 'P':      // objects, samples
            return false;
        default: break;
    }
    if (event.category == Category::other) return false;
    if (event.category != Category::python || python == PythonEvents::all) return true;
    if (python == PythonEvents::none) return false;
    return event.name.data == nullptr || event.name.view().substr(0, module_prefix.size()) == module_prefix;
}

Scan scan_text_or_skip(Cursor& c, RawText& text) { return *c.at == '"' ? scan_text(c, text) : skip_value(c); }

Scan scan_scalar_or_skip(Cursor& c, RawScalar& scalar) {
    return *c.at == '{' || *c.at == '[' ? skip_value(c) : scan_scalar(c, scalar);
}

/// [x, y, z]; further elements are skipped.
Scan scan_triple(Cursor& c, std::int64_t (&triple)[3]) {
    if (*c.at != '[') return skip_value(c);
    ++c.at;
    std::int64_t ignored = 0;
    for (std::size_t i = 0;; ++i) {
        bool done = false;
        if (const Scan result = next_element(c, done); result != Scan::ok) return result;
        if (done) return Scan::ok;
        if (const Scan result = scan_integer(c, i < 3 ? triple[i] : ignored); result != Scan::ok) return result;
    }
}

/// A layer number may stand as 5 or "5" or "layers.5": the last whole number in it.
Scan scan_layer(Cursor& c, std::int64_t& layer) {
    RawScalar scalar;
    if (const Scan result = scan_scalar_or_skip(c, scalar); result != Scan::ok) return result;
    const std::string_view text = scalar.view();
    std::size_t begin = text.size();
    while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
    if (begin < text.size()) parse_integer(text.substr(begin), layer);
    return Scan::ok;
}

/// Reads the value of one key of `args`.
Scan parse_arg(Cursor& c, std::string_view key, Event& event) {
    EventNumbers& n = event.numbers;
    switch (key.size()) {
        case 3:
            if (key == "fqn") return scan_text_or_skip(c, event.module);
            break;
        case 4:
            if (key == "grid") return scan_triple(c, n.grid);
            if (key == "name") return scan_text_or_skip(c, event.args_name);
            break;
        case 5:
            if (key == "block") return scan_triple(c, n.block);
            if (key == "bytes") return scan_integer(c, n.bytes);
            if (key == "layer") return scan_layer(c, n.layer);
            break;
        case 6:
            if (key == "device") return scan_integer(c, n.device);
            if (key == "stream") return scan_integer(c, n.stream);
            if (key == "labels") return scan_text_or_skip(c, event.args_labels);
            break;
        case 7:
            if (key == "context") return scan_integer(c, n.context);
            break;
        case 8:
            if (key == "graph id") return scan_integer(c, n.graph);
            break;
        case 10:
            if (key == "module_fqn") return scan_text_or_skip(c, event.module);
            break;
        case 11:
            if (key == "correlation") return scan_integer(c, n.correlation);
            if (key == "External id" || key == "external id") return scan_integer(c, n.external);
            break;
        case 13:
            if (key == "graph node id") return scan_integer(c, n.graph_node);
            if (key == "shared memory") return scan_integer(c, n.shared_memory);
            break;
        case 20:
            if (key == "registers per thread") return scan_integer(c, n.registers);
            break;
        default: break;
    }
    return skip_value(c);
}

/// Nothing behind the ids is of use on a host event, and it can be long: shapes, strides, call stacks.
bool args_are_read(const Event& event) {
    switch (event.category) {
        case Category::cpu_op:
        case Category::user:
        case Category::gpu_user: return event.numbers.external >= 0;
        case Category::runtime: return event.numbers.correlation >= 0;
        case Category::python: return true;
        default: return false;
    }
}

Scan parse_args(Cursor& c, Event& event) {
    if (*c.at != '{') return skip_value(c);
    ++c.at;
    event.has_args = true;
    for (;;) {
        if (args_are_read(event)) return skip_brackets(c);
        RawText key;
        bool done = false;
        if (const Scan result = next_key(c, key, done); result != Scan::ok || done) return result;
        if (const Scan result = parse_arg(c, key.view(), event); result != Scan::ok) return result;
    }
}

/// Reads the value of one key of an event.
Scan parse_field(Cursor& c, std::string_view key, Event& event) {
    switch (key.size()) {
        case 2:
            if (key == "ts") return scan_scalar_or_skip(c, event.start);
            if (key == "ph") {
                RawText phase;
                const Scan result = scan_text_or_skip(c, phase);
                event.phase = phase.size == 1 ? phase.data[0] : '?';
                event.has_phase = true;
                return result;
            }
            break;
        case 3:
            if (key == "cat") {
                RawText category;
                const Scan result = scan_text_or_skip(c, category);
                if (result == Scan::ok) set_category(event, category.view());
                return result;
            }
            if (key == "pid") return scan_scalar_or_skip(c, event.pid);
            if (key == "tid") return scan_scalar_or_skip(c, event.tid);
            if (key == "dur") return scan_scalar_or_skip(c, event.duration);
            break;
        case 4:
            if (key == "name") return scan_text_or_skip(c, event.name);
            if (key == "args") return parse_args(c, event);
            break;
        default: break;
    }
    return skip_value(c);
}

}  // namespace

Scan parse_event(Cursor& c, PythonEvents python, Event& event) {
    ++c.at;  // the brace
    for (;;) {
        RawText key;
        bool done = false;
        if (const Scan result = next_key(c, key, done); result != Scan::ok) return result;
        if (done) break;
        if (const Scan result = parse_field(c, key.view(), event); result != Scan::ok) return result;
        if (!keeps(event, python)) {
            event.category = Category::other;
            return skip_brackets(c);
        }
    }
    if (event.category == Category::none && event.phase != 'M') event.category = Category::other;
    return Scan::ok;
}

}  // namespace adpipe::kineto
