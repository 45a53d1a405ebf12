#include "step_layers.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

namespace segment {

namespace {

using Order = std::vector<std::uint32_t>;  ///< indices of kernels of the step

Symbols symbols_in(const StepKernels& kernels, const Order& order) {
    Symbols symbols;
    symbols.reserve(order.size());
    for (const std::uint32_t k : order) symbols.push_back(kernels.symbols[k]);
    return symbols;
}

std::int64_t main_stream(const StepKernels& kernels) {
    std::map<std::int64_t, std::size_t> counts;
    for (const std::int64_t stream : kernels.stream) ++counts[stream];
    return std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
}

struct Found {
    Period period;
    Order order;  ///< the kernels that were looked at
};

double departures_per_kernel(const Found& found) {
    return found.period.layering.departures / static_cast<double>(std::max<std::size_t>(1, found.order.size()));
}

std::optional<Found> find_in(const SymbolTable& table, const StepKernels& kernels, Order order, const LayerFinder& finder) {
    std::vector<std::uint32_t> ids;
    for (const std::uint32_t k : order) ids.push_back(kernels.kernel[k]);
    auto period = finder.find(table, symbols_in(kernels, order), ids);
    if (!period) return {};
    return Found{std::move(*period), std::move(order)};
}

/// The main stream by itself, or all streams together if that repeats as well: then their order is the same in every
/// layer.
std::optional<Found> find_in_streams(const SymbolTable& table, const StepKernels& kernels, const Order& all, const LayerFinder& finder) {
    const std::int64_t main = main_stream(kernels);
    Order on_main;
    for (const std::uint32_t k : all) {
        if (kernels.stream[k] == main) on_main.push_back(k);
    }
    if (on_main.size() == all.size()) return find_in(table, kernels, all, finder);
    auto by_main = find_in(table, kernels, std::move(on_main), finder);
    if (!kernels.in_capture_order && by_main) return by_main;
    auto together = find_in(table, kernels, all, finder);
    if (!together || !by_main) return together ? std::move(together) : std::move(by_main);
    return departures_per_kernel(*together) <= departures_per_kernel(*by_main) + 0.002 ? std::move(together) : std::move(by_main);
}

std::optional<Found> find_in_order(const SymbolTable& table, const StepKernels& kernels, const LayerFinder& finder) {
    Order all(kernels.symbols.size());
    std::iota(all.begin(), all.end(), 0U);
    return find_in_streams(table, kernels, all, finder);
}

/// Sets `by_row`, and reorders the kernels, where they repeat in the order of the file only: profilers write kernels
/// down in the order in which they were launched.
std::optional<Found> find_best(const SymbolTable& table, StepKernels& kernels, const LayerFinder& finder, bool& by_row) {
    auto found = find_in_order(table, kernels, finder);
    if (kernels.row.empty() || kernels.in_capture_order || std::is_sorted(kernels.row.begin(), kernels.row.end())) return found;
    StepKernels reordered = kernels;
    put_in_file_order(reordered);
    auto in_file = find_in_order(table, reordered, finder);
    if (!in_file || (found && in_file->period.layering.total >= 0.9 * found->period.layering.total)) return found;
    by_row = true;
    kernels = std::move(reordered);
    return in_file;
}

template <class Value>
void permute(std::vector<Value>& values, const Order& order) {
    if (values.empty()) return;
    std::vector<Value> permuted;
    permuted.reserve(values.size());
    for (const std::uint32_t i : order) permuted.push_back(values[i]);
    values = std::move(permuted);
}

/// Kernels of other streams: by time, if they come again with the layers.
void place_other_streams(const StepKernels& kernels, const Order& main, StepLayers& result) {
    std::vector<std::pair<adpipe::Nanoseconds, std::int32_t>> begins;  // of layers, by time
    adpipe::Nanoseconds end_of_last = 0;
    std::int32_t last = Place::unknown;
    for (const std::uint32_t k : main) {
        const std::int32_t layer = result.places[k].layer;
        if (layer >= 0 && layer != last) begins.emplace_back(kernels.start[k], layer);
        if (layer >= 0) end_of_last = std::max(end_of_last, kernels.start[k]);
        last = layer;
    }
    std::stable_sort(begins.begin(), begins.end());
    std::unordered_map<Symbol, std::size_t> times_seen;
    for (std::uint32_t k = 0; k < kernels.symbols.size(); ++k) {
        if (result.places[k].layer == Place::unknown) ++times_seen[kernels.symbols[k]];
    }
    const std::size_t few = result.layers.size() / 4;
    for (std::uint32_t k = 0; k < kernels.symbols.size(); ++k) {
        Place& place = result.places[k];
        if (place.layer != Place::unknown) continue;
        place.on_main_stream = false;
        if (times_seen[kernels.symbols[k]] <= few) continue;
        const auto next = std::upper_bound(begins.begin(), begins.end(), kernels.start[k],
                                           [](adpipe::Nanoseconds time, const auto& begin) { return time < begin.first; });
        if (next == begins.begin()) place.layer = Place::prologue;
        else if (next == begins.end() && kernels.start[k] > end_of_last) place.layer = Place::epilogue;
        else place.layer = std::prev(next)->second;
    }
}

void list_layers(const Layering& layering, StepLayers& result) {
    std::vector<std::int64_t> number(layering.kinds.size(), -1);
    std::vector<double> nearest;
    for (std::uint32_t i = 0; i < layering.spans.size(); ++i) {
        std::int64_t& kind = number[layering.kind[i]];
        if (kind < 0) {
            kind = static_cast<std::int64_t>(result.examples.size());
            result.examples.push_back(i);
            nearest.push_back(layering.distance[i]);
        }
        const auto k = static_cast<std::size_t>(kind);
        if (layering.distance[i] < nearest[k]) {
            nearest[k] = layering.distance[i];
            result.examples[k] = i;
        }
        const std::uint32_t stack = layering.stack.empty() ? 0 : layering.stack[i];
        result.stacks = std::max(result.stacks, stack + 1);
        result.layers.push_back({static_cast<std::uint32_t>(k), stack, layering.is_regular(i)});
    }
}

}  // namespace

bool rows_are_places_in_file(const adpipe::Trace& trace) { return std::is_sorted(trace.kernels.row.begin(), trace.kernels.row.end()); }

void put_in_file_order(StepKernels& kernels) {
    if (kernels.row.empty()) return;
    Order order(kernels.row.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return kernels.row[a] < kernels.row[b]; });
    permute(kernels.symbols, order);
    permute(kernels.kernel, order);
    permute(kernels.stream, order);
    permute(kernels.start, order);
    permute(kernels.row, order);
}

StepKernels kernels_of(const adpipe::Trace& trace, const adpipe::Step& step, SymbolTable& table, bool rows_are_places) {
    const adpipe::Kernels& all = trace.kernels;
    StepKernels kernels;
    std::unordered_map<adpipe::StringId, Symbol> known;
    bool has_node = !step.kernels.empty() && !all.graph_node.empty();
    for (const std::uint32_t k : step.kernels) {
        const adpipe::KernelKind kind = all.kind.empty() ? adpipe::KernelKind::kernel : all.kind[k];
        const adpipe::StringId name = all.name.empty() ? 0 : all.name[k];
        auto it = known.find(name);
        if (it == known.end() || name == 0) it = known.insert_or_assign(name, table.intern(trace.string(name), kind)).first;
        kernels.symbols.push_back(it->second);
        kernels.kernel.push_back(k);
        kernels.stream.push_back(all.stream.empty() ? 0 : all.stream[k]);
        kernels.start.push_back(all.start[k]);
        if (rows_are_places && !all.row.empty()) kernels.row.push_back(all.row[k]);
        has_node = has_node && all.graph_node[k] != adpipe::no_id;
    }
    kernels.in_capture_order = has_node;
    return kernels;
}

std::optional<StepLayers> find_step_layers(const SymbolTable& table, StepKernels& kernels, const LayerFinder& finder) {
    if (kernels.symbols.empty()) return {};
    StepLayers result;
    auto found = find_best(table, kernels, finder, result.times_mixed_up);
    if (!found) return {};
    result.order = result.times_mixed_up ? "file order" : "launch order";
    const Layering& layering = found->period.layering;
    result.places.resize(kernels.symbols.size());
    list_layers(layering, result);
    std::uint32_t next = 0;
    for (std::uint32_t position = 0; position < found->order.size(); ++position) {
        while (next < layering.spans.size() && position >= layering.spans[next].end) ++next;
        Place& place = result.places[found->order[position]];
        if (next == layering.spans.size()) place.layer = Place::epilogue;
        else if (position < layering.spans[next].begin) place.layer = Place::prologue;
        else place.layer = static_cast<std::int32_t>(next);
    }
    if (found->order.size() < kernels.symbols.size()) place_other_streams(kernels, found->order, result);
    result.period = std::move(found->period);
    return result;
}

}  // namespace segment
