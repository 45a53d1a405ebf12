#include "layer_table.hpp"

#include "glob.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>

namespace adpipe::member {

namespace {

/// Hash of a name in which all runs of digits are equal: "fused_weight_7" and "fused_weight_8" play the same role.
std::uint64_t hash_without_numbers(std::string_view name) {
    std::uint64_t hash = 0;
    bool in_digits = false;
    for (const char c : name) {
        const bool digit = c >= '0' && c <= '9';
        if (!digit || !in_digits) hash = combine(hash, digit ? '#' : static_cast<unsigned char>(c));
        in_digits = digit;
    }
    return hash;
}

bool ends_like_weight(std::string_view name, const std::vector<std::string>& endings) {
    return std::any_of(endings.begin(), endings.end(), [&](const std::string& ending) { return matches_glob(ending, name); });
}

}  // namespace

std::string_view full_name(const Vertex& vertex) { return vertex.module_path.empty() ? vertex.name : vertex.module_path; }

LayerTable::LayerTable(const FlowGraph& flow, const std::vector<WeightName>& weights, std::size_t containers) {
    of_weight_.assign(flow.size(), no_layer);
    is_weight_.assign(flow.size(), 0);
    role_.assign(flow.size(), 0);
    for (const WeightName& weight : weights) {
        role_[weight.position] = weight.role;
        // An input whose name only ends like a weight's is none.
        is_weight_[weight.position] = weight.in_layer() || flow.kind(weight.position) != VertexKind::placeholder ? 1 : 0;
    }
    const std::vector<std::uint32_t> order = order_stacks(flow, weights, containers);
    stack_count_ = order.size();

    std::vector<std::set<LayerId>> numbers(containers);
    const WeightName* last_inserted = nullptr;  // neighbours are mostly of one layer
    for (const WeightName& weight : weights) {
        if (!weight.in_layer() || (last_inserted != nullptr && last_inserted->same_layer(weight))) continue;
        numbers[weight.container].insert(weight.layer);
        last_inserted = &weight;
    }
    of_container_.resize(containers);
    for (const std::uint32_t container : order) {
        const auto first = static_cast<LayerIndex>(layers_.size());
        const auto last = first + static_cast<LayerIndex>(numbers[container].size()) - 1;
        for (const LayerId number : numbers[container]) {
            of_container_[container].push_back({number, size()});
            layers_.push_back({container, number});
            first_.push_back(first);
            last_.push_back(last);
        }
    }
    const WeightName* last_found = nullptr;
    LayerIndex found = no_layer;
    for (const WeightName& weight : weights) {
        if (!weight.in_layer()) continue;
        if (last_found == nullptr || !last_found->same_layer(weight)) found = find(weight.container, weight.layer);
        last_found = &weight;
        of_weight_[weight.position] = found;
    }
}

LayerIndex LayerTable::find(std::uint32_t container, LayerId number) const {
    if (container >= of_container_.size()) return no_layer;
    const auto& numbers = of_container_[container];
    const auto at = std::lower_bound(numbers.begin(), numbers.end(), number, [](const Numbered& a, LayerId n) { return a.number < n; });
    return at != numbers.end() && at->number == number ? at->index : no_layer;
}

void read_weight_names(const GraphModel& graph, std::span<const VertexId> order, LayerNames& names, const std::vector<std::string>& endings,
                       std::vector<WeightName>& into) {
    std::vector<std::string_view> texts;  // as long as none has a layer
    bool any_layer = false;
    for (std::uint32_t i = 0; i < order.size(); ++i) {
        const Vertex& vertex = graph.vertex(order[i]);
        const bool passed_in = vertex.kind == VertexKind::placeholder && ends_like_weight(full_name(vertex), endings);
        if (vertex.kind != VertexKind::weight && !passed_in) continue;
        into.push_back({i});
        any_layer = any_layer || names.has_layer(full_name(vertex));
        if (!any_layer) texts.push_back(full_name(vertex));
    }
    if (!any_layer) names.learn(texts);
    std::string_view last_prefix;  // what tells the layer ends in a separator: names that begin alike are of one layer
    LayerName last{};
    for (WeightName& weight : into) {
        const std::string_view text = full_name(graph.vertex(order[weight.position]));
        std::optional<LayerName> name;
        if (!last_prefix.empty() && text.starts_with(last_prefix)) {
            name = LayerName{last.container, last.layer, text.substr(last_prefix.size())};
        } else if ((name = names.of_weight(text))) {
            last = *name;
            last_prefix = name->role.empty() ? std::string_view{} : text.substr(0, text.size() - name->role.size());
        }
        weight.role = name ? hash_text(name->role) : hash_without_numbers(text);
        if (!name) continue;
        weight.container = name->container;
        weight.layer = name->layer;
    }
}

/// Containers, those first whose results others use; else by appearance.
std::vector<std::uint32_t> LayerTable::order_stacks(const FlowGraph& flow, const std::vector<WeightName>& weights,
                                                    std::size_t containers) const {
    std::vector<std::uint32_t> order;
    std::vector<bool> seen(containers, false);
    for (const WeightName& weight : weights) {
        if (!weight.in_layer() || seen[weight.container]) continue;
        order.push_back(weight.container);
        seen[weight.container] = true;
    }
    if (order.size() < 2 || order.size() > 64) return order;

    std::vector<std::uint64_t> bit(containers, 0);
    for (std::size_t i = 0; i < order.size(); ++i) bit[order[i]] = std::uint64_t{1} << i;
    std::vector<std::uint64_t> reached(flow.size(), 0);
    std::vector<std::uint64_t> of_weight(flow.size(), 0);
    for (const WeightName& weight : weights) {
        if (weight.in_layer()) of_weight[weight.position] = bit[weight.container];
    }
    std::vector<std::uint64_t> before(order.size(), 0);
    for (FlowId v = 0; v < flow.size(); ++v) {
        std::uint64_t own = 0;
        for (const FlowId source : flow.sources(v)) {
            reached[v] |= reached[source];
            own |= of_weight[source];
        }
        for (std::size_t i = 0; i < order.size(); ++i) {
            if ((own >> i & 1U) != 0) before[i] |= reached[v] & ~own;
        }
        reached[v] |= own;
    }
    std::vector<std::pair<int, std::uint32_t>> ranked;
    for (std::size_t i = 0; i < order.size(); ++i) ranked.emplace_back(std::popcount(before[i]), order[i]);
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = ranked[i].second;
    return order;
}

}  // namespace adpipe::member
