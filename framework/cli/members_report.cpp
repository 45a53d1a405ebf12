#include "cli/members_report.hpp"

#include "cli/console.hpp"

#include <algorithm>

namespace adpipe::cli {

namespace {

bool is_size(const Vertex& vertex) {
    return vertex.dtype == "SymInt" || vertex.dtype == "int" || vertex.op.find("sym_size") != std::string_view::npos;
}

bool in_stack(const GraphModel& graph, const Layers& layers, VertexId v, const Layer& layer) {
    return graph.vertex(v).module == layer.module && layers.of[v].stack == layer.stack && layers.of[v].layer >= 0;
}

/// What a later layer returns to this one (the sum of a fused add and norm) lies after the boundary.
bool comes_from_later(const GraphModel& graph, const Layers& layers, VertexId v, const Layer& layer) {
    const auto inputs = graph.inputs(v);
    return std::any_of(inputs.begin(), inputs.end(), [&](const Edge& use) {
        return in_stack(graph, layers, use.source, layer) && layers.of[use.source].layer > layer.number;
    });
}

/// Walks from the values of a layer and all before it, along uses, without the boundary's values and without sizes.
class Walk {
public:
    Walk(const GraphModel& graph, const Layers& layers) : graph_(graph), layers_(layers), seen_(graph.size(), 0) {}

    std::optional<VertexId> find_leak(const Layer& layer) {
        ++round_;
        std::vector<VertexId> queue;
        for (const VertexId v : layer.boundary_out) seen_[v] = round_;
        const GraphModule& module = graph_.modules()[layer.module];
        for (VertexId v = module.begin; v < module.end; ++v) {
            if (!in_stack(graph_, layers_, v, layer) || layers_.of[v].layer > layer.number) continue;
            if (graph_.vertex(v).kind == VertexKind::op && !comes_from_later(graph_, layers_, v, layer)) visit(v, queue);
        }
        while (!queue.empty()) {
            const VertexId v = queue.back();
            queue.pop_back();
            if (in_stack(graph_, layers_, v, layer) && layers_.of[v].layer > layer.number) return v;
            for (const Edge& use : graph_.outputs(v)) visit(use.target, queue);
        }
        return std::nullopt;
    }

private:
    void visit(VertexId v, std::vector<VertexId>& queue) {
        if (seen_[v] == round_ || is_size(graph_.vertex(v))) return;
        seen_[v] = round_;
        queue.push_back(v);
    }

    const GraphModel& graph_;
    const Layers& layers_;
    std::vector<std::uint32_t> seen_;
    std::uint32_t round_ = 0;
};

std::string name_of(const GraphModel& graph, VertexId v) { return "%" + std::string{graph.vertex(v).name}; }

std::string place(const Layers& layers, VertexId v) {
    const Membership& member = layers.of[v];
    std::string text = member.layer >= 0 ? "layer " + layer_text(member.layer) : layer_text(member.layer);
    if (member.also != layer_unknown) text += " (also " + layer_text(member.also) + ")";
    if (member.stack != 0) text += " of " + layers.text(member.stack);
    return text;
}

constexpr std::size_t shown_neighbours = 12;

std::string neighbours(const GraphModel& graph, const Layers& layers, std::vector<VertexId> of, std::string_view title) {
    std::vector<std::vector<std::string>> rows;
    const std::size_t count = of.size();
    if (count > shown_neighbours) of.resize(shown_neighbours);
    for (const VertexId v : of) {
        rows.push_back({std::string{rows.empty() ? title : ""}, name_of(graph, v), place(layers, v), layers.text(layers.of[v].reason)});
    }
    std::string text = aligned(rows, "  ");
    if (count > shown_neighbours) text += "  … and " + std::to_string(count - shown_neighbours) + " more\n";
    return text;
}

}  // namespace

std::vector<BoundaryProof> prove_boundaries(const GraphModel& graph, const Layers& layers) {
    std::vector<BoundaryProof> proofs;
    Walk walk(graph, layers);
    for (std::size_t i = 0; i + 1 < layers.layers.size(); ++i) {
        const Layer& layer = layers.layers[i];
        const Layer& next = layers.layers[i + 1];
        if (next.module != layer.module || next.stack != layer.stack) continue;
        proofs.push_back({&layer, layer.boundary_out, walk.find_leak(layer)});
    }
    return proofs;
}

std::vector<std::vector<std::string>> boundary_rows(const GraphModel& graph, const Layers& layers) {
    std::vector<std::vector<std::string>> rows;
    for (const BoundaryProof& proof : prove_boundaries(graph, layers)) {
        std::string values;
        for (const VertexId v : proof.values) values += (values.empty() ? "" : ",") + std::string{graph.vertex(v).name};
        const std::string verdict = proof.leak ? "not separated: reaches " + name_of(graph, *proof.leak) : "separates";
        rows.push_back({tsv_text(graph.modules()[proof.layer->module].name), tsv_text(layers.text(proof.layer->stack)),
                        layer_text(proof.layer->number), tsv_text(values), tsv_text(verdict)});
    }
    return rows;
}

std::string explain_vertex(const GraphModel& graph, const Layers& layers, VertexId v) {
    const Vertex& vertex = graph.vertex(v);
    const Membership& member = layers.of[v];
    std::string text = name_of(graph, v);
    if (!vertex.op.empty()) text += ", " + std::string{vertex.op};
    text += ", line " + std::to_string(vertex.line) + ", module " + graph.modules()[vertex.module].name + "\n";
    text += "  " + place(layers, v) + ": " + layers.text(member.reason) + (member.certain ? "" : " (not certain)") + "\n";
    const std::string& sub_group = layers.text(member.sub_group);
    text += "  group " + std::string{group_text(member.group)} + (sub_group.empty() ? "" : ", " + sub_group) + "\n";
    std::vector<VertexId> reads;
    for (const Edge& use : graph.inputs(v)) reads.push_back(use.source);
    std::vector<VertexId> readers;
    for (const Edge& use : graph.outputs(v)) readers.push_back(use.target);
    text += neighbours(graph, layers, std::move(reads), "reads");
    text += neighbours(graph, layers, std::move(readers), "read by");
    return text;
}

}  // namespace adpipe::cli
