#include "trace_builder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace adpipe::kineto {

namespace {

constexpr std::uint16_t no_process = std::numeric_limits<std::uint16_t>::max();

/// Appends to a column that stays empty until a value is known, and is filled up with `unknown` then.
template <class T>
[[gnu::always_inline]] inline void put(std::vector<T>& column, std::size_t row, T value, T unknown) {
    if (column.empty() && value == unknown) return;
    if (column.size() < row) column.resize(row, unknown);
    column.push_back(value);
}

std::uint64_t id_or_none(std::int64_t number) { return number < 0 ? no_id : static_cast<std::uint64_t>(number); }

/// Graph ids: 0 says "not from a graph".
std::uint64_t graph_or_none(std::int64_t number) { return number <= 0 ? no_id : static_cast<std::uint64_t>(number); }

std::int32_t narrow(std::int64_t number) {
    return number < 0 || number > std::numeric_limits<std::int32_t>::max() ? -1 : static_cast<std::int32_t>(number);
}

/// Time to nanoseconds; the usual form, digits with at most three decimals, without the general machinery.
bool read_microseconds(const RawScalar& scalar, std::int64_t& nanoseconds, bool& fraction) {
    // Digits end at the byte behind the scalar at the latest, and the text in memory goes on there.
    std::uint64_t whole = 0;
    std::uint64_t thousandths = 0;
    const auto whole_digits = scalar.size == 0 ? std::size_t{0} : static_cast<std::size_t>(detail::scan_digits16(scalar.data, whole));
    std::size_t used = whole_digits;
    std::size_t decimals = 0;
    if (used < scalar.size && scalar.data[used] == '.') {
        fraction = true;
        decimals = static_cast<std::size_t>(detail::scan_digits8(scalar.data + used + 1, thousandths));
        used += 1 + decimals;
    }
    if (whole_digits == 0 || whole_digits > 15 || decimals > 3 || used != scalar.size) {
        return parse_microseconds(scalar.view(), nanoseconds);
    }
    nanoseconds = static_cast<std::int64_t>(whole * 1000 + thousandths * detail::powers_of_ten[3 - decimals]);
    return true;
}

/// The number at the end of a text, and where it begins; "stream 7" gives 7.
bool trailing_number(std::string_view text, std::int64_t& number, std::size_t& begin) {
    begin = text.size();
    while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
    return begin < text.size() && parse_integer(text.substr(begin), number);
}

/// A layer may be given as 5, "5" or "layers.5".
std::int32_t layer_of(const Event& event) {
    std::int64_t layer = -1;
    std::size_t ignored = 0;
    const std::string_view text = event[Scalar::layer].view();
    return !text.empty() && trailing_number(text, layer, ignored) ? narrow(layer) : -1;
}

constexpr std::uint64_t hash_multiplier = 0x9e3779b97f4a7c15U;

/// Four lanes that do not wait for each other; names are long.
std::uint64_t hash_text(std::string_view text) {
    std::uint64_t lanes[4] = {text.size(), 1, 2, 3};
    const char* p = text.data();
    std::size_t left = text.size();
    for (; left >= 32; p += 32, left -= 32) {
        std::uint64_t words[4];
        std::memcpy(words, p, 32);
        for (int i = 0; i < 4; ++i) lanes[i] = std::rotl((lanes[i] ^ words[i]) * hash_multiplier, 27);
    }
    std::uint64_t words[4] = {};
    std::memcpy(words, p, left);
    for (int i = 0; i < 4; ++i) lanes[i] = (lanes[i] ^ words[i]) * hash_multiplier;
    const std::uint64_t hash = (lanes[0] ^ std::rotl(lanes[1], 13) ^ std::rotl(lanes[2], 29) ^ std::rotl(lanes[3], 47)) * hash_multiplier;
    return hash ^ (hash >> 32);
}

}  // namespace

StringId TextIds::id(const RawText& text) {
    if (text.size == 0) return 0;
    Entry& entry = recent_[hash_text(text.view()) % size];
    if (entry.raw == text.view()) return entry.id;
    const std::string decoded = decode_text(text);
    entry.id = trace_.string_id(decoded);
    entry.raw = decoded == text.view() ? std::string_view(trace_.string(entry.id)) : std::string_view(raw_.emplace_back(text.view()));
    return entry.id;
}

std::uint16_t ProcessTable::group_id(std::string_view text) {
    const auto found = std::find(groups_.begin(), groups_.end(), text);
    if (found != groups_.end()) return static_cast<std::uint16_t>(found - groups_.begin());
    if (groups_.size() == std::numeric_limits<std::uint16_t>::max()) return 0;
    groups_.emplace_back(text);
    return static_cast<std::uint16_t>(groups_.size() - 1);
}

std::uint16_t ProcessTable::process(const RawScalar& pid) {
    if (pid.view() == last_pid_ && !processes_.empty()) return last_process_;
    const std::string text(pid.view());
    auto found = processes_.find(text);
    if (found == processes_.end()) {
        if (trace_.processes.size() == std::numeric_limits<std::uint16_t>::max()) return last_process_;
        Process process;
        std::size_t begin = 0;
        if (trailing_number(text, process.pid, begin)) process.id = static_cast<std::uint64_t>(process.pid);
        if (begin > 0) process.name = decode_text({text.data(), begin, false});
        group_of_process_.push_back(group_id(std::string_view(text).substr(0, begin)));
        found = processes_.emplace(text, static_cast<std::uint16_t>(trace_.processes.size())).first;
        trace_.processes.push_back(std::move(process));
    }
    last_pid_ = text;
    return last_process_ = found->second;
}

std::uint64_t ProcessTable::thread(std::uint16_t process, const RawScalar& tid) {
    const std::uint64_t upper = std::uint64_t{process} << 48;
    std::uint64_t number = 0;
    if (parse_unsigned(tid.view(), number) && number < (std::uint64_t{1} << 47)) return upper | number;
    const auto added = named_threads_.emplace(std::string(tid.view()), named_threads_.size());
    return upper | (std::uint64_t{1} << 47) | added.first->second;
}

std::uint16_t ProcessTable::group(const RawScalar& pid, std::int64_t& device) {
    const std::string_view text = pid.view();
    if (text.size() == 1 && !groups_.empty() && groups_[0].empty()) {  // the usual case: a small number
        if (text[0] >= '0' && text[0] <= '9') {
            device = text[0] - '0';
            return 0;
        }
    }
    std::size_t begin = 0;
    trailing_number(text, device, begin);
    return group_id(text.substr(0, begin));
}

void ProcessTable::set_name(const RawScalar& pid, std::string name) { names_.emplace(pid.view(), std::move(name)); }

void ProcessTable::apply_names() {
    for (const auto& [pid, index] : processes_) {
        const auto named = names_.find(pid);
        if (named != names_.end()) trace_.processes[index].name += named->second;
    }
}

void ProcessTable::keep_only(std::uint16_t process) { group_of_process_ = {group_of_process_[process]}; }

namespace {
/// What no event has: it is cut where the next ones on its stream begin, or taken as 0.
constexpr Nanoseconds impossible_duration = longest_duration + 1;
}  // namespace

bool TraceBuilder::times(const Event& event, Nanoseconds& start, Nanoseconds& end) {
    if (!read_microseconds(event[Scalar::start], start, findings_.fractions) || !are_possible(start, start)) {
        ++findings_.without_start;
        return false;
    }
    Nanoseconds duration = 0;
    if (!read_microseconds(event[Scalar::duration], duration, findings_.fractions)) {
        ++findings_.without_duration;
        duration = 0;
    } else if (duration < 0) {
        ++findings_.negative_duration;
        duration = 0;
    } else {
        duration = std::min(duration, impossible_duration);
    }
    end = start + duration;
    return true;
}

void TraceBuilder::add(const Event& event) {
    if (event.phase == 'B' || event.phase == 'E') ++findings_.begin_end_pairs;
    const bool complete = event.phase == 'X' || event.phase == 0;
    switch (event.category) {
        case Category::kernel:
        case Category::memcpy:
        case Category::memset:
            ++findings_.gpu_events;
            if (complete) {
                add_kernel(event, event.category == Category::kernel   ? KernelKind::kernel
                                  : event.category == Category::memcpy ? KernelKind::memcpy
                                                                       : KernelKind::memset);
            }
            break;
        case Category::runtime:
            if (complete) add_launch(event);
            break;
        case Category::cpu_op:
        case Category::user:
        case Category::gpu_user:
        case Category::python:
            if (complete) add_annotation(event);
            break;
        case Category::none: add_metadata(event); break;
        case Category::other: break;
    }
}

void TraceBuilder::add_kernel(const Event& event, KernelKind kind) {
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    if (!times(event, start, end)) return;
    Kernels& k = trace_.kernels;
    const std::size_t row = k.size();

    std::int64_t device = -1;
    const std::uint16_t group = processes_.group(event[Scalar::pid], device);
    put<std::uint16_t>(kernel_group_, row, group, 0);
    if (event[Number::device] >= 0) device = event[Number::device];
    std::int64_t stream = event[Number::stream];
    std::size_t ignored = 0;
    if (stream < 0) trailing_number(event[Scalar::tid].view(), stream, ignored);

    k.kind.push_back(kind);
    k.row.push_back(static_cast<std::int64_t>(findings_.gpu_events) - 1);
    k.start.push_back(start);
    k.end.push_back(end);
    k.name.push_back(texts_.id(event[Text::name]));
    put(k.device, row, narrow(device), -1);
    put(k.context, row, narrow(event[Number::context]), -1);
    put<std::int64_t>(k.stream, row, stream, -1);
    put(k.correlation, row, id_or_none(event[Number::correlation]), no_id);
    put(k.external, row, id_or_none(event[Number::external]), no_id);
    std::uint64_t graph = graph_or_none(event[Number::graph]);
    const std::uint64_t node = graph_or_none(event[Number::graph_node]);
    if (graph == no_id && node != no_id && (node >> 32) != 0) graph = node >> 32;  // CUPTI packs the graph above the node
    put(k.graph, row, graph, no_id);
    put(k.graph_node, row, node, no_id);
    put<std::uint32_t>(k.shape, row, shape_id(event), 0);
    put<std::int64_t>(k.bytes, row, event[Number::bytes], -1);
    add_annotation_columns(event, row);
}

/// Consecutive kernels of equal shape are the rule only for equal names, so recent shapes are kept by hash.
std::uint32_t TraceBuilder::shape_id(const Event& event) {
    const LaunchShape shape{{narrow(event[Number::grid_x]), narrow(event[Number::grid_y]), narrow(event[Number::grid_z])},
                            {narrow(event[Number::block_x]), narrow(event[Number::block_y]), narrow(event[Number::block_z])},
                            narrow(event[Number::registers]),
                            event[Number::shared_memory]};
    const auto pair = [](std::int32_t high, std::int32_t low) {
        return std::uint64_t{static_cast<std::uint32_t>(high)} << 32 | static_cast<std::uint32_t>(low);
    };
    std::uint64_t hash = pair(shape.grid[0], shape.grid[1]) * hash_multiplier;
    hash ^= pair(shape.grid[2], shape.block[0]) * (hash_multiplier + 2);
    hash ^= pair(shape.block[1], shape.registers) * (hash_multiplier + 4);
    hash ^= static_cast<std::uint64_t>(shape.shared_memory) * (hash_multiplier + 6);
    hash ^= hash >> 32;
    RecentShape& recent = recent_shapes_[hash % recent_shapes_.size()];
    if (!(recent.shape == shape)) recent = {shape, trace_.shape_id(shape)};
    return recent.id;
}

void TraceBuilder::add_annotation_columns(const Event& event, std::size_t row) {
    Kernels& k = trace_.kernels;
    put<StringId>(k.annotation, row, texts_.id(event[Text::args_name]), 0);
    put<StringId>(k.annotation_module, row, texts_.id(event[Text::module]), 0);
    put(k.annotation_layer, row, layer_of(event), -1);
}

void TraceBuilder::add_launch(const Event& event) {
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    if (!times(event, start, end)) return;
    Launches& l = trace_.launches;
    const std::uint16_t process = processes_.process(event[Scalar::pid]);
    l.start.push_back(start);
    l.end.push_back(end);
    l.name.push_back(texts_.id(event[Text::name]));
    l.process.push_back(process);
    l.thread.push_back(processes_.thread(process, event[Scalar::tid]));
    l.correlation.push_back(id_or_none(event[Number::correlation]));
    if (event[Text::args_name].data != nullptr && l.kernel.empty()) l.kernel.resize(l.start.size() - 1, 0);
    if (event[Text::args_name].data != nullptr || !l.kernel.empty()) {
        l.kernel.push_back(event[Text::args_name].data == nullptr ? 0 : texts_.id(event[Text::args_name]));
    }
    if (launches_of_.size() <= process) launches_of_.resize(process + std::size_t{1});
    ++launches_of_[process];
    if (native_.size() <= process) native_.resize(process + std::size_t{1});
    native_[process] = true;
}

void TraceBuilder::add_annotation(const Event& event) {
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    if (!times(event, start, end)) return;
    using Source = Annotations::Source;
    Annotations& a = trace_.annotations;
    const std::size_t row = a.size();
    const bool on_gpu = event.category == Category::gpu_user;

    std::int64_t device = -1;
    std::uint16_t process = 0;
    std::uint64_t thread = 0;
    if (on_gpu) {
        processes_.group(event[Scalar::pid], device);
        std::int64_t stream = 0;
        std::size_t ignored = 0;
        trailing_number(event[Scalar::tid].view(), stream, ignored);
        thread = static_cast<std::uint64_t>(stream);
    } else {
        process = processes_.process(event[Scalar::pid]);
        thread = processes_.thread(process, event[Scalar::tid]);
        if (native_.size() <= process) native_.resize(process + std::size_t{1});
        if (event.category != Category::python) native_[process] = true;
    }
    Source source = event.category == Category::cpu_op   ? Source::cpu_op
                    : event.category == Category::python ? Source::python
                    : on_gpu                             ? Source::gpu_user
                                                         : Source::user;
    // The profiler of 2021 had no category of its own for these.
    if (event.old_category && event[Text::name].view().substr(0, 13) == "ProfilerStep#") source = Source::user;

    a.start.push_back(start);
    a.end.push_back(end);
    a.name.push_back(texts_.id(event[Text::name]));
    a.process.push_back(process);
    a.thread.push_back(thread);
    a.source.push_back(source);
    put(a.external, row, id_or_none(event[Number::external]), no_id);
    put(a.device, row, narrow(device), -1);
    put<StringId>(a.input_shapes, row, texts_.id(event[Text::shapes]), 0);
    put<StringId>(a.input_types, row, texts_.id(event[Text::types]), 0);
    put<StringId>(a.call_stack, row, texts_.id(event[Text::call_stack]), 0);
}

void TraceBuilder::add_metadata(const Event& event) {
    if (event[Text::name].view() == "process_name" && event[Text::args_name].size > 0) {
        processes_.set_name(event[Scalar::pid], decode_text(event[Text::args_name]));
    }
}

void TraceBuilder::reserve(std::size_t rows) {
    const auto grow = [rows](auto&... columns) {
        ((columns.empty() ? void() : columns.reserve(rows)), ...);  // columns that are still empty may stay so
    };
    Kernels& k = trace_.kernels;
    grow(k.kind, k.row, k.start, k.end, k.name, k.device, k.context, k.stream, k.correlation, k.external, k.graph, k.graph_node, k.shape,
         k.bytes, k.annotation, k.annotation_module, k.annotation_layer);
}

void TraceBuilder::finish() {
    Kernels& k = trace_.kernels;
    // A column that became known late, or not for the last rows, ends where its last value stands.
    const auto fill = [size = k.size()](auto& column, auto unknown) {
        if (!column.empty()) column.resize(size, unknown);
    };
    fill(kernel_group_, std::uint16_t{0});
    processes_.apply_names();
    adopt_python_threads();
    assign_kernel_processes();
    trace_.streams_rewritten = !k.annotation.empty() || !k.annotation_module.empty() || !k.annotation_layer.empty();
    if (!trace_.streams_rewritten) cut_overrunning();
    for (std::size_t i = 0; i < k.size(); ++i) {
        if (k.end[i] - k.start[i] < impossible_duration) continue;
        k.end[i] = k.start[i];
        ++findings_.overlong_duration;
    }
}

/// The profiler writes some Python frames with process 0. If the file holds one real process, they are its own.
void TraceBuilder::adopt_python_threads() {
    native_.resize(trace_.processes.size());
    const auto natives = std::count(native_.begin(), native_.end(), true);
    if (natives != 1 || trace_.processes.size() == 1) return;
    const auto native = static_cast<std::size_t>(std::find(native_.begin(), native_.end(), true) - native_.begin());
    constexpr std::uint64_t thread_bits = (std::uint64_t{1} << 48) - 1;
    for (std::uint64_t& thread : trace_.launches.thread) thread &= thread_bits;
    for (std::size_t i = 0; i < trace_.annotations.size(); ++i) {
        if (trace_.annotations.source[i] != Annotations::Source::gpu_user) trace_.annotations.thread[i] &= thread_bits;
    }
    std::fill(trace_.launches.process.begin(), trace_.launches.process.end(), std::uint16_t{0});
    std::fill(trace_.annotations.process.begin(), trace_.annotations.process.end(), std::uint16_t{0});
    trace_.processes = {trace_.processes[native]};
    launches_of_ = {native < launches_of_.size() ? launches_of_[native] : 0};
    processes_.keep_only(static_cast<std::uint16_t>(native));
}

/// A GPU event belongs to the process that launched it. The file says so only through correlation ids, which are needed where
/// several processes of one group launch.
void TraceBuilder::assign_kernel_processes() {
    Kernels& k = trace_.kernels;
    if (k.size() == 0) return;
    launches_of_.resize(trace_.processes.size());
    std::vector<std::uint16_t> main_process(processes_.groups(), no_process);
    bool several = false;
    for (std::uint16_t p = 0; p < trace_.processes.size(); ++p) {
        std::uint16_t& best = main_process[processes_.group_of_process(p)];
        if (best != no_process && launches_of_[best] > 0 && launches_of_[p] > 0) several = true;
        if (best == no_process || launches_of_[p] > launches_of_[best]) best = p;
    }
    for (std::uint16_t& process : main_process) {
        if (process != no_process) continue;
        process = static_cast<std::uint16_t>(trace_.processes.size());
        trace_.processes.emplace_back();
    }
    k.process.resize(k.size());
    for (std::size_t i = 0; i < k.size(); ++i) k.process[i] = main_process[kernel_group_.empty() ? 0 : kernel_group_[i]];
    if (several) assign_by_correlation();
}

void TraceBuilder::assign_by_correlation() {
    Kernels& k = trace_.kernels;
    const Launches& l = trace_.launches;
    if (k.correlation.empty()) return;
    std::unordered_map<std::uint64_t, std::uint16_t> launcher;
    for (std::size_t i = 0; i < l.size(); ++i) {
        const auto added = launcher.emplace(l.correlation[i], l.process[i]);
        if (!added.second && added.first->second != l.process[i]) added.first->second = no_process;
    }
    const auto group = [this](std::size_t i) { return kernel_group_.empty() ? std::uint16_t{0} : kernel_group_[i]; };
    for (std::size_t i = 0; i < k.size(); ++i) {
        const auto found = launcher.find(k.correlation[i]);
        if (found == launcher.end() || found->second == no_process) continue;
        if (processes_.group_of_process(found->second) == group(i)) k.process[i] = found->second;
    }
}

namespace {

/// The two latest events of a stream.
struct StreamTail {
    std::uint64_t key;
    std::size_t last;
    std::size_t before_last;
};

}  // namespace

/// Kernels of a stream may overlap their next (programmatic dependent launch), but none can outlast the two that follow it: the
/// second waits for the first to end. A duration that says so was measured wrong and ends where the next event begins.
void TraceBuilder::cut_overrunning() {
    Kernels& k = trace_.kernels;
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    std::vector<StreamTail> tails;
    for (std::size_t i = 0; i < k.size(); ++i) {
        const std::uint64_t stream = k.stream.empty() ? 0 : static_cast<std::uint64_t>(k.stream[i]) & 0xffffffffU;
        const std::uint64_t device = k.device.empty() ? 0 : static_cast<std::uint64_t>(k.device[i]) & 0xffffU;
        const std::uint64_t key = stream | device << 32 | std::uint64_t{k.process[i]} << 48;
        const auto tail = std::find_if(tails.begin(), tails.end(), [key](const StreamTail& t) { return t.key == key; });
        if (tail == tails.end()) {
            tails.push_back({key, i, none});
            continue;
        }
        const std::size_t one = tail->before_last;
        const std::size_t two = tail->last;
        if (k.start[i] < k.start[two]) continue;  // not in order of time: nothing can be said
        if (one != none && k.end[one] > k.end[two] && k.end[one] > k.end[i] && k.start[i] >= k.end[two]) {
            k.end[one] = k.start[two];
            ++findings_.overrunning;
        }
        tail->before_last = two;
        tail->last = i;
    }
}

}  // namespace adpipe::kineto
