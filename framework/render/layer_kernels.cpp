#include "render/layer_kernels.hpp"

#include <adpipe/render/kernel_name.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace adpipe::render {

namespace {

Nanoseconds duration_of(const Trace& trace, std::uint32_t kernel) { return trace.kernels.end[kernel] - trace.kernels.start[kernel]; }

VertexId carrying_node(const Attribution& attribution, std::uint32_t kernel) {
    const auto nodes = attribution.nodes(kernel);
    return nodes.empty() ? no_vertex : nodes.front();
}

/// Length of the union of the intervals.
Nanoseconds union_length(std::vector<std::pair<Nanoseconds, Nanoseconds>> intervals) {
    std::sort(intervals.begin(), intervals.end());
    Nanoseconds length = 0;
    Nanoseconds covered_to = 0;
    bool first = true;
    for (const auto& [start, end] : intervals) {
        const Nanoseconds from = first ? start : std::max(start, covered_to);
        if (end > from) length += end - from;
        covered_to = first ? end : std::max(covered_to, end);
        first = false;
    }
    return length;
}

void add_reason(std::vector<Unattributed>& list, const std::string& reason, Nanoseconds time) {
    const auto found = std::find_if(list.begin(), list.end(), [&](const Unattributed& u) { return u.reason == reason; });
    if (found == list.end()) {
        list.push_back({reason, 1, time});
    } else {
        ++found->kernels;
        found->time += time;
    }
}

/// The most time first.
void sort_reasons(std::vector<Unattributed>& list) {
    std::stable_sort(list.begin(), list.end(), [](const Unattributed& a, const Unattributed& b) { return a.time > b.time; });
}

std::vector<std::int64_t> streams_by_use(const Trace& trace, const std::vector<KernelUse>& kernels) {
    if (trace.kernels.stream.empty()) return {};
    std::map<std::int64_t, Nanoseconds> time;
    for (const KernelUse& kernel : kernels) time[kernel.stream] += kernel.time.median;
    std::vector<std::int64_t> streams;
    for (const auto& entry : time) streams.push_back(entry.first);
    std::stable_sort(streams.begin(), streams.end(), [&](std::int64_t a, std::int64_t b) { return time[a] > time[b]; });
    return streams;
}

}  // namespace

Spread spread_of(std::vector<Nanoseconds> durations) {
    Spread spread;
    if (durations.empty()) return spread;
    spread.count = static_cast<std::uint32_t>(durations.size());
    const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
    std::nth_element(durations.begin(), middle,
                     durations.end());  // a table of a long trace has millions: only the middle is put in its place
    const Nanoseconds upper = *middle;
    const Nanoseconds lower = durations.size() % 2 == 0 ? *std::max_element(durations.begin(), middle) : upper;
    spread.minimum = *std::min_element(durations.begin(), middle + 1);
    spread.maximum = *std::max_element(middle, durations.end());
    spread.median = lower + (upper - lower) / 2;
    for (const Nanoseconds duration : durations) spread.total += duration;
    double squares = 0;
    for (const Nanoseconds duration : durations) {
        const double difference = static_cast<double>(duration) - spread.mean();
        squares += difference * difference;
    }
    if (durations.size() > 1) spread.deviation = std::sqrt(squares / static_cast<double>(durations.size() - 1));
    return spread;
}

KernelsByLayer::KernelsByLayer(const GraphModel& graph, const Layers& layers, const Attribution& attribution)
    : by_layer_(layers.layers.size() + 1) {
    const Window& window = *attribution.window;
    for (std::uint32_t i = 0; i < window.steps.size(); ++i) {
        if (!window.steps[i].chosen) continue;
        const auto position = static_cast<std::uint32_t>(steps_.size());
        steps_.push_back(i);
        std::optional<std::uint16_t> module;
        for (const std::uint32_t kernel : window.steps[i].kernels) {
            const VertexId node = carrying_node(attribution, kernel);
            if (node == no_vertex) continue;
            module = graph.vertex(node).module;
            break;
        }
        modules_.push_back(module);
        for (const std::uint32_t kernel : window.steps[i].kernels) {
            const std::size_t bucket = bucket_of(graph, layers, attribution, kernel, module);
            if (bucket < by_layer_.size()) by_layer_[bucket].push_back({position, kernel});
        }
    }
    for (const KernelUse& kernel : kernel_uses(attribution, by_layer_.back())) {
        outside_ += kernel.time.median;
        add_reason(outside_by_reason_, attribution.texts[kernel.reason], kernel.time.median);
    }
    sort_reasons(outside_by_reason_);
}

/// Index into by_layer_, or one past its end for kernels of the prologue, the epilogue and other known places.
std::size_t KernelsByLayer::bucket_of(const GraphModel& graph, const Layers& layers, const Attribution& attribution, std::uint32_t kernel,
                                      std::optional<std::uint16_t> module) const {
    const VertexId node = carrying_node(attribution, kernel);
    const LayerId number = node == no_vertex ? attribution.layer[kernel] : layers.of[node].layer;
    const std::size_t unknown = layers.layers.size();
    if (number == layer_unknown) return unknown;
    for (std::size_t i = 0; i < layers.layers.size(); ++i) {
        const Layer& layer = layers.layers[i];
        if (layer.number != number) continue;
        if (node == no_vertex && (!module || layer.module == *module)) return i;
        if (node == no_vertex) continue;
        if (layer.stack == layers.of[node].stack && layer.module == graph.vertex(node).module) return i;
    }
    return unknown + 1;
}

std::uint32_t KernelsByLayer::layers_with_kernels() const noexcept {
    std::uint32_t count = 0;
    for (std::size_t i = 0; i + 1 < by_layer_.size(); ++i) count += by_layer_[i].empty() ? 0 : 1;
    return count;
}

/// Kernels correspond between steps by node, name and running number; replays of one graph agree in all three.
std::vector<KernelUse> KernelsByLayer::kernel_uses(const Attribution& attribution, const std::vector<Occurrence>& occurrences) const {
    using Key = std::tuple<VertexId, StringId, std::uint32_t>;
    const Trace& trace = *attribution.window->trace;
    std::map<Key, std::size_t> slots;
    std::map<std::tuple<std::uint32_t, VertexId, StringId>, std::uint32_t> count_in_step;
    std::vector<KernelUse> uses;
    std::vector<std::vector<Nanoseconds>> durations;
    for (const Occurrence& occurrence : occurrences) {
        const std::uint32_t kernel = occurrence.kernel;
        const VertexId node = carrying_node(attribution, kernel);
        const StringId name = trace.kernels.name[kernel];
        const std::uint32_t number = count_in_step[{occurrence.step, node, name}]++;
        const auto [slot, is_new] = slots.try_emplace(Key{node, name, number}, uses.size());
        if (is_new) {
            KernelUse use;
            use.name = short_kernel_name(trace.string(name));
            use.full_name = name;
            use.kind = trace.kernels.kind[kernel];
            use.node = node;
            use.evidence = attribution.evidence[kernel];
            use.confidence = attribution.confidence[kernel];
            use.reason = attribution.reason[kernel];
            if (!trace.kernels.stream.empty()) use.stream = trace.kernels.stream[kernel];
            uses.push_back(std::move(use));
            durations.emplace_back();
        }
        KernelUse& use = uses[slot->second];
        durations[slot->second].push_back(duration_of(trace, kernel));
        use.executions.push_back(kernel);
        if (attribution.evidence[kernel] > use.evidence) {
            use.evidence = attribution.evidence[kernel];
            use.reason = attribution.reason[kernel];
        }
        use.confidence = std::min(use.confidence, attribution.confidence[kernel]);
        for (const VertexId other : attribution.nodes(kernel)) {
            if (other != node && std::find(use.also.begin(), use.also.end(), other) == use.also.end()) use.also.push_back(other);
        }
    }
    for (std::size_t i = 0; i < uses.size(); ++i) uses[i].time = spread_of(std::move(durations[i]));
    return uses;
}

void KernelsByLayer::fill(LayerView& view) const {
    const auto index = static_cast<std::size_t>(view.layer - view.layers->layers.data());
    const Attribution& attribution = *view.attribution;
    const Trace& trace = view.trace();
    const std::vector<Occurrence>& mine = by_layer_[index];
    LayerTimes& times = view.times;
    // Steps that run another module say nothing about this layer: without a dump, each kind of step is a module of its own.
    std::vector<std::size_t> position_of(steps_.size(), 0);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        if (modules_[i] && *modules_[i] != view.layer->module) continue;
        position_of[i] = times.steps.size();
        times.steps.push_back(steps_[i]);
    }
    view.kernels = kernel_uses(attribution, mine);
    // Launch order within a step need not be the order in which kernels start on their streams.
    std::stable_sort(view.kernels.begin(), view.kernels.end(), [&](const KernelUse& a, const KernelUse& b) {
        return trace.kernels.start[a.executions.front()] < trace.kernels.start[b.executions.front()];
    });
    for (std::uint32_t i = 0; i < view.kernels.size(); ++i) {
        const KernelUse& kernel = view.kernels[i];
        times.sum += kernel.time.median;
        if (kernel.node != no_vertex) {
            times.attributed += kernel.time.median;
            view.kernels_by_node[kernel.node].push_back(i);
        } else {
            times.unattributed += kernel.time.median;
            add_reason(times.unattributed_by_reason, attribution.texts[kernel.reason], kernel.time.median);
        }
    }
    std::vector<Nanoseconds> sums(times.steps.size(), 0);
    std::vector<std::vector<std::pair<Nanoseconds, Nanoseconds>>> intervals(times.steps.size());
    for (const Occurrence& occurrence : mine) {
        const std::size_t position = position_of[occurrence.step];
        sums[position] += duration_of(trace, occurrence.kernel);
        intervals[position].push_back({trace.kernels.start[occurrence.kernel], trace.kernels.end[occurrence.kernel]});
    }
    for (auto& step : intervals) times.step_walls.push_back(union_length(std::move(step)));
    times.step_sums = std::move(sums);
    times.step_sum = spread_of(times.step_sums);
    times.wall = spread_of(times.step_walls);
    times.streams = streams_by_use(trace, view.kernels);
    times.outside = outside_;
    times.outside_by_reason = outside_by_reason_;
}

}  // namespace adpipe::render
