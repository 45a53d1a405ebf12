#include "passes.hpp"

#include <algorithm>
#include <map>

namespace segment {

namespace {

std::vector<std::size_t> layers_per_stack(const StepLayers& layers) {
    std::vector<std::size_t> counts(layers.stacks);
    for (const FoundLayer& layer : layers.layers) ++counts[layer.stack];
    return counts;
}

/// The commonest kind of layer of a stack.
std::uint32_t main_kind(const StepLayers& layers, std::uint32_t stack) {
    std::map<std::uint32_t, std::size_t> counts;
    for (const FoundLayer& layer : layers.layers) {
        if (layer.stack == stack) ++counts[layer.kind];
    }
    std::uint32_t kind = 0;
    std::size_t most = 0;
    for (const auto& [k, count] : counts) {
        if (count > most) kind = k;
        most = std::max(most, count);
    }
    return kind;
}

}  // namespace

std::vector<Pass> passes_of(const StepLayers& layers, bool is_replay) {
    std::vector<std::uint32_t> all(layers.stacks);
    for (std::uint32_t s = 0; s < layers.stacks; ++s) all[s] = s;
    if (is_replay || layers.stacks < 2) return {Pass{all, false, false}};
    const std::vector<std::size_t> counts = layers_per_stack(layers);
    const auto longest = static_cast<std::uint32_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
    std::vector<Pass> passes;
    for (std::uint32_t s = 0; s < layers.stacks; ++s) {
        const bool same_model = main_kind(layers, s) == main_kind(layers, longest);
        const bool at_edge = s == 0 || s + 1 == layers.stacks;
        if (!same_model || (counts[s] != counts[longest] && !at_edge)) return {Pass{all, false, false}};
        const bool is_short = counts[s] < counts[longest];
        passes.push_back({{s}, is_short && s == 0, is_short && s > 0});
    }
    return passes;
}

std::vector<std::vector<std::uint32_t>> split_by_pass(const SymbolTable& table, const StepKernels& kernels, const StepLayers& layers,
                                                      const std::vector<Pass>& passes) {
    std::vector<std::size_t> pass_of_stack(layers.stacks);
    for (std::size_t p = 0; p < passes.size(); ++p) {
        for (const std::uint32_t s : passes[p].stacks) pass_of_stack[s] = p;
    }
    // The first kernel that is known to be of each pass.
    std::vector<std::uint32_t> begin(passes.size() + 1, static_cast<std::uint32_t>(layers.places.size()));
    std::vector<std::uint32_t> end(passes.size(), 0);
    for (std::uint32_t k = 0; k < layers.places.size(); ++k) {
        const Place& place = layers.places[k];
        if (place.layer < 0 || !place.on_main_stream) continue;
        const std::size_t p = pass_of_stack[layers.layers[static_cast<std::size_t>(place.layer)].stack];
        begin[p] = std::min(begin[p], k);
        end[p] = std::max(end[p], k + 1);
    }
    for (std::size_t p = 1; p < passes.size(); ++p) {
        for (std::uint32_t k = end[p - 1]; k < begin[p]; ++k) {
            if (table[kernels.symbols[k]].category == adpipe::KernelCategory::embedding) {
                begin[p] = k;
                break;
            }
        }
    }
    begin.front() = 0;
    std::vector<std::vector<std::uint32_t>> split(passes.size());
    for (std::size_t p = 0; p < passes.size(); ++p) {
        for (std::uint32_t k = begin[p]; k < begin[p + 1]; ++k) split[p].push_back(k);
    }
    return split;
}

std::vector<LayerNumber> number_layers(const StepLayers& layers) {
    std::vector<LayerNumber> numbers;
    std::map<std::uint32_t, std::int32_t> next;
    for (const FoundLayer& layer : layers.layers) {
        numbers.push_back({next[layer.stack]++, layers.stacks < 2 ? "" : "stack " + std::to_string(layer.stack + 1)});
    }
    return numbers;
}

}  // namespace segment
