#include "layer_summary.hpp"

#include "glob.hpp"
#include "op_traits.hpp"

#include <adpipe/render/number.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace adpipe::member {

namespace {

constexpr std::size_t shown_edges = 5;
constexpr LayerId after_all = std::numeric_limits<LayerId>::max();

using StackKey = std::pair<std::uint16_t, TextId>;  ///< module, stack

/// The last layer that reads v; after_all if something after the layers, or another stack, does.
LayerId last_reader(const GraphModel& graph, const Layers& layers, VertexId v) {
    const Membership& from = layers.of[v];
    LayerId last = from.layer;
    for (const Edge& use : graph.outputs(v)) {
        const Membership& to = layers.of[use.target];
        const bool leaves = to.layer == layer_epilogue || (to.layer >= 0 && to.stack != from.stack);
        last = std::max(last, leaves ? after_all : to.layer);
    }
    return last;
}

/// True for sizes, and for what a later layer's fused op returns to this one (a residual sum).
bool is_no_boundary(const GraphModel& graph, const Layers& layers, VertexId v) {
    const Vertex& vertex = graph.vertex(v);
    if (vertex.kind != VertexKind::op || is_number_type(vertex.dtype) || reads_size(bare_op(vertex.op))) return true;
    const auto inputs = graph.inputs(v);
    return std::any_of(inputs.begin(), inputs.end(), [&](const Edge& use) {
        const Membership& source = layers.of[use.source];
        const bool serves_both = source.also == layers.of[v].layer || layers.of[v].also == source.layer;
        return serves_both && source.layer > layers.of[v].layer && source.stack == layers.of[v].stack;
    });
}

void find_boundaries(const GraphModel& graph, Layers& layers) {
    for (VertexId v = 0; v < graph.size(); ++v) {
        const Membership& member = layers.of[v];
        if (member.layer < 0) continue;
        const LayerId last = last_reader(graph, layers, v);
        if (last <= member.layer || is_no_boundary(graph, layers, v)) continue;
        const auto key = [](const Layer& layer) { return std::tuple{layer.module, layer.stack, layer.number}; };
        const std::tuple from{graph.vertex(v).module, member.stack, member.layer};
        auto layer = std::lower_bound(layers.layers.begin(), layers.layers.end(), from,
                                      [&](const Layer& a, const auto& b) { return key(a) < b; });
        for (; layer != layers.layers.end() && layer->module == std::get<0>(from) && layer->stack == member.stack; ++layer) {
            if (layer->number >= last) break;
            layer->boundary_out.push_back(v);
        }
    }
}

/// Layers with the same ops, each as often, are of one kind.
void find_kinds(const GraphModel& graph, Layers& layers) {
    std::map<std::tuple<std::uint16_t, TextId, LayerId>, std::uint64_t> shape;
    auto current = shape.end();
    for (VertexId v = 0; v < graph.size(); ++v) {
        const Membership& member = layers.of[v];
        if (member.layer < 0 || graph.vertex(v).kind != VertexKind::op) continue;
        const std::tuple key{graph.vertex(v).module, member.stack, member.layer};
        if (current == shape.end() || current->first != key) current = shape.try_emplace(key, 0).first;
        current->second += hash_text(graph.vertex(v).op);
    }
    std::map<std::uint64_t, std::uint32_t> kinds;
    for (Layer& layer : layers.layers) {
        const auto kind = static_cast<std::uint32_t>(kinds.size());
        layer.kind = kinds.emplace(shape[{layer.module, layer.stack, layer.number}], kind).first->second;
    }
}

void check_direction(const GraphModel& graph, const Layers& layers, const std::set<TextId>& repeated_stacks,
                     std::vector<Diagnostic>& notes) {
    Diagnostic warning;
    warning.severity = Severity::warning;
    warning.code = "ADP-MEMBER-005";
    std::size_t backward = 0;
    for (const Edge& edge : graph.edges()) {
        const Membership& from = layers.of[edge.source];
        const Membership& to = layers.of[edge.target];
        if (from.layer < 0 || to.layer < 0 || from.layer <= to.layer || from.stack != to.stack) continue;
        if (repeated_stacks.count(from.stack) != 0) continue;
        if (from.also == to.layer || to.also == from.layer || graph.vertex(edge.source).kind != VertexKind::op) continue;
        if (++backward > shown_edges) continue;
        const Vertex& target = graph.vertex(edge.target);
        warning.notes.push_back("line " + std::to_string(target.line) + ": %" + std::string{target.name} + " of layer " +
                                layer_text(to.layer) + " reads %" + std::string{graph.vertex(edge.source).name} + " of layer " +
                                layer_text(from.layer));
        if (backward == 1) warning.where = {graph.source().string(), target.line, 0};
    }
    if (backward == 0) return;
    warning.message = std::to_string(backward) + (backward == 1 ? " value goes" : " values go") + " from a later layer to an earlier one";
    warning.hint = "the model shares them across layers, or a node is in the wrong layer: `adpipe members DUMP --why NODE` explains one";
    notes.push_back(std::move(warning));
}

void check_numbers(const GraphModel& graph, const Layers& layers, std::vector<Diagnostic>& notes) {
    for (std::size_t i = 1; i < layers.layers.size(); ++i) {
        const Layer& before = layers.layers[i - 1];
        const Layer& layer = layers.layers[i];
        if (before.module != layer.module || before.stack != layer.stack || layer.number == before.number + 1) continue;
        Diagnostic note;
        note.severity = Severity::note;
        note.code = "ADP-MEMBER-006";
        const bool one = layer.number == before.number + 2;
        note.message = "module " + graph.modules()[layer.module].name + " has no node of layer" + (one ? " " : "s ") +
                       std::to_string(before.number + 1) + (one ? "" : " to " + std::to_string(layer.number - 1));
        note.where.file = graph.source().string();
        notes.push_back(std::move(note));
    }
}

}  // namespace

std::string describe(const GraphModel& graph, const Layers& layers) {
    std::size_t ops = 0;
    std::size_t undecided = 0;
    for (VertexId v = 0; v < graph.size(); ++v) {
        if (graph.vertex(v).kind != VertexKind::op) continue;
        ++ops;
        if (!layers.of[v].certain || layers.of[v].layer == layer_unknown) ++undecided;
    }
    std::string text = render::count_text(layers.layers.size(), "layer") + ", " + render::count_text(ops, "op");
    if (undecided != 0) text += "; " + std::to_string(undecided) + " that the text does not decide";
    return text;
}

void summarize_layers(const GraphModel& graph, Layers& layers) {
    using Key = std::tuple<std::uint16_t, TextId, LayerId>;
    std::map<Key, Layer> found;
    auto current = found.end();  // neighbours in the text are mostly in one layer
    for (VertexId v = 0; v < graph.size(); ++v) {
        const Membership& member = layers.of[v];
        if (member.layer < 0) continue;
        const Key key{graph.vertex(v).module, member.stack, member.layer};
        if (current == found.end() || current->first != key) current = found.try_emplace(key).first;
        Layer& layer = current->second;
        std::tie(layer.module, layer.stack, layer.number) = key;
        ++layer.vertex_count;
    }
    layers.layers.clear();
    for (auto& [key, layer] : found) layers.layers.push_back(std::move(layer));
    find_boundaries(graph, layers);
    find_kinds(graph, layers);
}

void check_invariants(const GraphModel& graph, const Layers& layers, const std::set<TextId>& repeated_stacks,
                      std::vector<Diagnostic>& notes) {
    check_direction(graph, layers, repeated_stacks, notes);
    check_numbers(graph, layers, notes);
}

}  // namespace adpipe::member
