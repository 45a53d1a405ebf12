#include "launch_site.hpp"

#include "companion.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace adpipe::launches {

namespace {

struct TypeName {
    std::string_view profiler;
    std::string_view shown;
    int bytes;
};
constexpr std::array<TypeName, 14> type_names{{{"c10::BFloat16", "bf16", 2},
                                               {"c10::Half", "f16", 2},
                                               {"float", "f32", 4},
                                               {"double", "f64", 8},
                                               {"int", "i32", 4},
                                               {"long", "i64", 8},
                                               {"long int", "i64", 8},
                                               {"unsigned char", "u8", 1},
                                               {"signed char", "i8", 1},
                                               {"bool", "bool", 1},
                                               {"c10::Float8_e4m3fn", "fp8_e4m3", 1},
                                               {"c10::Float8_e4m3fnuz", "fp8_e4m3fnuz", 1},
                                               {"c10::Float8_e5m2", "fp8_e5m2", 1},
                                               {"c10::Float8_e5m2fnuz", "fp8_e5m2fnuz", 1}}};

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
    return text;
}

/// The elements of a JSON list, as they stand. Empty for anything else.
std::vector<std::string_view> elements(std::string_view text) {
    text = trimmed(text);
    std::vector<std::string_view> found;
    if (text.size() < 2 || text.front() != '[' || text.back() != ']') return found;
    text = text.substr(1, text.size() - 2);
    int depth = 0;
    bool quoted = false;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted) {
            if (c == '\\') ++i;
            else if (c == '"') quoted = false;
        } else if (c == '"') quoted = true;
        else if (c == '[') ++depth;
        else if (c == ']') --depth;
        else if (c == ',' && depth == 0) {
            found.push_back(trimmed(text.substr(begin, i - begin)));
            begin = i + 1;
        }
    }
    if (!trimmed(text.substr(begin)).empty() || !found.empty()) found.push_back(trimmed(text.substr(begin)));
    return found;
}

std::string_view unquoted(std::string_view text) {
    return text.size() >= 2 && text.front() == '"' && text.back() == '"' ? text.substr(1, text.size() - 2) : text;
}

bool number_of(std::string_view text, std::int64_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size();
}

/// "[8, 2048]" as numbers; empty for anything else.
std::vector<std::int64_t> sizes_of(std::string_view shape) {
    std::vector<std::int64_t> sizes;
    for (const std::string_view element : elements(shape)) {
        std::int64_t size = 0;
        if (!number_of(element, size)) return {};
        sizes.push_back(size);
    }
    return sizes;
}

/// "8×2048"; of a list of tensors "(8×32, 8×32)"; anything else as it stands.
std::string shape_text(std::string_view shape) {
    std::string text;
    for (const std::int64_t size : sizes_of(shape)) text += (text.empty() ? "" : "×") + std::to_string(size);
    if (!text.empty()) return text;
    for (const std::string_view tensor : elements(shape)) {
        if (sizes_of(tensor).empty()) return std::string{shape};
        text.append(text.empty() ? "(" : ", ").append(shape_text(tensor));
    }
    return text.empty() ? std::string{shape} : text + ")";
}

Operand operand_of(std::string_view shape, std::string_view type) {
    Operand operand;
    operand.text = shape_text(shape);
    operand.shape = sizes_of(shape);
    for (const TypeName& known : type_names) {
        if (known.profiler != type) continue;
        operand.bytes = known.bytes;
        type = known.shown;
        break;
    }
    if (!type.empty()) operand.text.append(" ").append(type);
    return operand;
}

}  // namespace

std::string frame_text(const std::string& name) {
    // "<built-in method cat of type object at 0x7d6b7761df60>": where an object lies tells nothing, and differs in
    // every run.
    const std::size_t at = name.rfind(" at 0x");
    const std::size_t of = at == std::string::npos ? at : name.find(" of ");
    return of != std::string::npos && of < at && name.front() == '<' && name.back() == '>' ? name.substr(0, of) + ">" : name;
}

bool is_machinery(std::string_view frame) {
    // Every call of a module passes through two frames of this file, beside the one that the profiler writes for the
    // module itself.
    constexpr std::string_view file = "torch/nn/modules/module.py";
    const std::size_t end = frame.find('(');
    return end != std::string_view::npos && end >= file.size() && frame.substr(end - file.size(), file.size()) == file;
}

std::vector<Operand> operands_of(std::string_view shapes, std::string_view types) {
    const std::vector<std::string_view> shape_list = elements(shapes);
    const std::vector<std::string_view> type_list = elements(types);
    std::vector<Operand> operands;
    for (std::size_t i = 0; i < shape_list.size(); ++i) {
        if (trimmed(shape_list[i]) == "[]" || trimmed(shape_list[i]) == "\"\"") continue;  // a scalar, or nothing
        operands.push_back(operand_of(shape_list[i], i < type_list.size() ? unquoted(type_list[i]) : std::string_view{}));
    }
    return operands;
}

Frame frame_of(std::string_view text) {
    Frame frame;
    frame.function = text;
    const std::size_t close = text.find("): ");
    const std::size_t open = close == std::string_view::npos ? close : text.rfind('(', close);
    if (open == std::string_view::npos || open == 0) return frame;
    const std::string_view digits = text.substr(open + 1, close - open - 1);
    std::uint32_t line = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), line);
    if (error != std::errc{} || end != digits.data() + digits.size()) return frame;
    frame.file = text.substr(0, open);
    frame.line = line;
    frame.function = text.substr(close + 3);
    return frame;
}

LaunchSites::LaunchSites(const Window& window, const Companion* companion)
    : window_{window}, trace_{*window.trace}, ranges_{trace_.annotations}, launches_{trace_}, companion_{companion} {
    const Annotations& ranges = trace_.annotations;
    for (std::uint32_t r = 0; r < ranges.size() && !ranges.external.empty(); ++r) {
        if (ranges.source[r] != Annotations::Source::cpu_op || ranges.external[r] == no_id) continue;
        const auto [slot, is_new] = by_external_.emplace(ranges.external[r], r);
        if (!is_new) slot->second = RangeIndex::none;
    }
}

/// The innermost range around the call that launched the kernel; else the operator that the kernel itself refers to.
std::uint32_t LaunchSites::range_of(std::uint32_t kernel, LaunchSite& site, Nanoseconds& time) const {
    const Kernels& kernels = trace_.kernels;
    if (!kernels.correlation.empty() && kernels.correlation[kernel] != no_id) {
        const std::uint16_t process = kernels.process.empty() ? std::uint16_t{0} : kernels.process[kernel];
        const std::uint32_t launch = launches_.find(process, kernels.correlation[kernel], kernels.start[kernel]);
        if (launch != LaunchIndex::none) {
            site.call = trace_.string(trace_.launches.name[launch]);
            time = trace_.launches.start[launch];
            const std::uint32_t range = ranges_.innermost(trace_.launches.thread[launch], time);
            if (range != RangeIndex::none) return range;
        }
    }
    if (kernels.external.empty() || kernels.external[kernel] == no_id) return RangeIndex::none;
    const auto found = by_external_.find(kernels.external[kernel]);
    if (found == by_external_.end() || found->second == RangeIndex::none) return RangeIndex::none;
    time = trace_.annotations.start[found->second];
    return found->second;
}

/// What the range and those around it say, as far as they were open at `time`.
void LaunchSites::follow(std::uint32_t range, Nanoseconds time, LaunchSite& site) const {
    const Annotations& ranges = trace_.annotations;
    using Source = Annotations::Source;
    for (std::uint32_t r = range; r != RangeIndex::none; r = ranges_.parent(r)) {
        if (ranges.end[r] < time) continue;  // overlaps what is around the launch, but was over by then
        const std::string& name = trace_.string(ranges.name[r]);
        if (ranges.source[r] == Source::python) {
            if (!is_machinery(name)) site.frames.push_back(frame_text(name));
        } else if (ranges.source[r] != Source::cpu_op) site.ranges.push_back(name);
        else if (site.op.empty() && !site.replayed) {
            site.op = name;
            const auto text = [&](const std::vector<StringId>& column) {
                return column.empty() ? std::string{} : trace_.string(column[r]);
            };
            site.operands = operands_of(text(ranges.input_shapes), text(ranges.input_types));
            const std::string stack = text(ranges.call_stack);
            for (std::size_t begin = 0; begin < stack.size();) {
                const std::size_t end = std::min(stack.find(';', begin), stack.size());
                const std::string frame = stack.substr(begin, end - begin);
                if (!is_machinery(frame)) site.frames.push_back(frame_text(frame));
                begin = end + 1;
            }
        }
    }
    std::reverse(site.frames.begin(), site.frames.end());
    std::reverse(site.ranges.begin(), site.ranges.end());
}

LaunchSite LaunchSites::of_call(std::uint32_t launch) const {
    LaunchSite site;
    site.call = trace_.string(trace_.launches.name[launch]);
    const Nanoseconds time = trace_.launches.start[launch];
    follow(ranges_.innermost(trace_.launches.thread[launch], time), time, site);
    return site;
}

StringId LaunchSites::op_of(std::uint32_t kernel) const {
    LaunchSite site;
    Nanoseconds time = 0;
    const Annotations& ranges = trace_.annotations;
    for (std::uint32_t r = range_of(kernel, site, time); r != RangeIndex::none; r = ranges_.parent(r)) {
        if (ranges.source[r] == Annotations::Source::cpu_op && ranges.end[r] >= time) return ranges.name[r];
    }
    return 0;
}

LaunchSite LaunchSites::of(std::uint32_t kernel) const {
    LaunchSite site;
    const std::uint32_t step = window_.step_of_kernel.empty() ? Window::no_step : window_.step_of_kernel[kernel];
    site.replayed = step != Window::no_step && window_.steps[step].replay;
    Nanoseconds time = 0;
    const std::uint32_t range = range_of(kernel, site, time);
    follow(range, time, site);
    if (!site.op.empty() || companion_ == nullptr || step == Window::no_step) return site;
    const LaunchSite* const other = in_companion(kernel, step);
    if (other == nullptr) return site;
    LaunchSite both = *other;
    both.replayed = site.replayed;
    both.call = site.call;
    return both;
}

/// What the companion knows of the kernel in the same place of its passes; nullptr: nothing.
const LaunchSite* LaunchSites::in_companion(std::uint32_t kernel, std::uint32_t step) const {
    const std::vector<std::uint32_t>& kernels = window_.steps[step].kernels;
    const auto [found, is_new] = of_step_.try_emplace(step);
    if (is_new) found->second = companion_->sites_of(trace_, kernels);
    const auto place = std::find(kernels.begin(), kernels.end(), kernel);
    if (place == kernels.end()) return nullptr;
    const std::optional<LaunchSite>& site = found->second[static_cast<std::size_t>(place - kernels.begin())];
    return site ? &*site : nullptr;
}

}  // namespace adpipe::launches
