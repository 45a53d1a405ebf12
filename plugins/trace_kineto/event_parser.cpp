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

/// Reads an event key by key, in any order, and notes where its values stand.
class KeyReader {
public:
    KeyReader(Cursor& c, PythonEvents python, bool details, Event& event, std::vector<ReadValue>& values)
        : c_(c), python_(python), details_(details), event_(event), values_(values) {}

    /// The cursor stands on the opening brace. `skipped` is set if the event is of no use; the cursor then stands before what was
    /// not read.
    Scan read(bool& skipped);

private:
    Scan field(std::string_view key);
    Scan args();
    Scan arg(std::string_view key);
    bool args_are_read() const;

    Scan number(Number target);
    Scan text(Text target);
    Scan scalar(Scalar target);
    Scan triple(Number first);
    Scan raw(Text target);
    Scan detail(std::string_view key);
    Scan skip();
    Scan note(Scan result, ReadValue::Kind kind, std::uint8_t target, const char* begin);

    Cursor& c_;
    PythonEvents python_;
    bool details_;
    Event& event_;
    std::vector<ReadValue>& values_;
};

Scan KeyReader::note(Scan result, ReadValue::Kind kind, std::uint8_t target, const char* begin) {
    if (result == Scan::ok) values_.push_back({kind, target, begin, c_.at});
    return result;
}

Scan KeyReader::number(Number target) {
    const char* const begin = c_.at;
    return note(scan_integer(c_, event_[target]), ReadValue::Kind::number, static_cast<std::uint8_t>(target), begin);
}

Scan KeyReader::text(Text target) {
    if (*c_.at != '"') return skip();
    const char* const begin = c_.at;
    return note(scan_text(c_, event_[target]), ReadValue::Kind::text, static_cast<std::uint8_t>(target), begin);
}

Scan KeyReader::scalar(Scalar target) {
    if (*c_.at == '{' || *c_.at == '[') return skip();
    const char* const begin = c_.at;
    return note(scan_scalar(c_, event_[target]), ReadValue::Kind::scalar, static_cast<std::uint8_t>(target), begin);
}

Scan KeyReader::skip() {
    const char* const begin = c_.at;
    return note(skip_value(c_), ReadValue::Kind::skipped, 0, begin);
}

Scan KeyReader::raw(Text target) {
    const char* const begin = c_.at;
    return note(scan_raw(c_, event_[target]), ReadValue::Kind::raw, static_cast<std::uint8_t>(target), begin);
}

/// [x, y, z]; further elements are skipped.
Scan KeyReader::triple(Number first) {
    if (*c_.at != '[') return skip();
    ++c_.at;
    for (int i = 0;; ++i) {
        bool done = false;
        if (const Scan result = next_element(c_, done); result != Scan::ok || done) return result;
        const Scan result = i < 3 ? number(static_cast<Number>(static_cast<int>(first) + i)) : skip();
        if (result != Scan::ok) return result;
    }
}

/// What an operator was called with.
Scan KeyReader::detail(std::string_view key) {
    if (key == "Input Dims") return raw(Text::shapes);
    if (key == "Input type") return raw(Text::types);
    if (key == "Call stack") return text(Text::call_stack);
    return skip();
}

/// Reads the value of one key of `args`.
Scan KeyReader::arg(std::string_view key) {
    switch (key.size()) {
        case 3:
            if (key == "fqn") return text(Text::module);
            break;
        case 4:
            if (key == "grid") return triple(Number::grid_x);
            if (key == "name") return text(Text::args_name);
            break;
        case 5:
            if (key == "block") return triple(Number::block_x);
            if (key == "bytes") return number(Number::bytes);
            if (key == "layer") return scalar(Scalar::layer);
            break;
        case 6:
            if (key == "device") return number(Number::device);
            if (key == "kernel" && event_.category == Category::runtime) return text(Text::args_name);
            if (key == "stream") return number(Number::stream);
            break;
        case 7:
            if (key == "context") return number(Number::context);
            break;
        case 8:
            if (key == "graph id") return number(Number::graph);
            break;
        case 10:
            if (key == "module_fqn") return text(Text::module);
            break;
        case 11:
            if (key == "correlation") return number(Number::correlation);
            if (key == "External id" || key == "external id") return number(Number::external);
            break;
        case 13:
            if (key == "graph node id") return number(Number::graph_node);
            if (key == "shared memory") return number(Number::shared_memory);
            break;
        case 20:
            if (key == "registers per thread") return number(Number::registers);
            break;
        default: break;
    }
    return details_ && event_.category == Category::cpu_op ? detail(key) : skip();
}

/// Nothing behind the ids is of use on a host event unless details are, and it can be long: shapes, strides, call stacks.
bool KeyReader::args_are_read() const {
    switch (event_.category) {
        case Category::cpu_op: return !details_ && event_[Number::external] >= 0;
        case Category::user:
        case Category::gpu_user: return event_[Number::external] >= 0;
        case Category::runtime: return event_[Number::correlation] >= 0;
        case Category::python: return true;
        default: return false;
    }
}

Scan KeyReader::args() {
    if (*c_.at != '{') return skip();
    ++c_.at;
    for (;;) {
        if (args_are_read()) {
            const char* const begin = c_.at;
            return note(skip_brackets(c_), ReadValue::Kind::rest, 0, begin);
        }
        RawText key;
        bool done = false;
        if (const Scan result = next_key(c_, key, done); result != Scan::ok || done) return result;
        if (const Scan result = arg(key.view()); result != Scan::ok) return result;
    }
}

/// Reads the value of one key of an event. Phase and category are not noted as values: they belong to the layout.
Scan KeyReader::field(std::string_view key) {
    if (key == "name") return text(Text::name);
    if (key == "args") return args();
    if (key == "ts") return scalar(Scalar::start);
    if (key == "dur") return scalar(Scalar::duration);
    if (key == "pid") return scalar(Scalar::pid);
    if (key == "tid") return scalar(Scalar::tid);
    if ((key != "ph" && key != "cat") || *c_.at != '"') return skip();
    RawText value;
    const Scan result = scan_text(c_, value);
    if (key == "cat") {
        set_category(event_, value.view());
    } else {
        event_.phase = value.size == 1 ? value.data[0] : '?';
    }
    return result;
}

Scan KeyReader::read(bool& skipped) {
    skipped = false;
    ++c_.at;  // the brace
    for (;;) {
        RawText key;
        bool done = false;
        if (const Scan result = next_key(c_, key, done); result != Scan::ok || done) return result;
        if (const Scan result = field(key.view()); result != Scan::ok) return result;
        if (!is_kept(event_, python_)) {
            skipped = true;
            return Scan::ok;
        }
    }
}

}  // namespace

bool is_kept(const Event& event, PythonEvents python) {
    switch (event.phase) {
        case 's':
        case 't':
        case 'f':  // flows
        case 'C':
        case 'i':
        case 'I':
        case 'n':  // counters, instants
        case 'N':
        case 'O':
        case 'D':
        case 'P':  // objects, samples
            return false;
        default: break;
    }
    if (event.category != Category::python || python == PythonEvents::all) return event.category != Category::other;
    constexpr std::string_view module_prefix = "nn.Module: ";
    const RawText& name = event[Text::name];
    return python == PythonEvents::modules && (name.data == nullptr || name.view().substr(0, module_prefix.size()) == module_prefix);
}

Scan EventParser::parse(Cursor& c, const Event*& event) {
    event = layouts_.read(c, python_);
    if (event != nullptr) return Scan::ok;

    const char* const begin = c.at;
    bool skipped = false;
    event_ = Event{};
    event = &event_;
    values_.clear();
    if (const Scan result = KeyReader(c, python_, details_, event_, values_).read(skipped); result != Scan::ok) return result;
    if (event_.category == Category::none && event_.phase != 'M') event_.category = Category::other;
    const char* const read_to = c.at;
    if (skipped) {
        if (const Scan result = skip_brackets(c); result != Scan::ok) return result;
    }
    if (!layouts_.full()) layouts_.learn(EventLayout(begin, read_to, values_, event_, skipped));
    if (skipped) event_.category = Category::other;
    return Scan::ok;
}

}  // namespace adpipe::kineto
