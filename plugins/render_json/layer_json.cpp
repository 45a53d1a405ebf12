#include "layer_json.hpp"

#include <adpipe/render/text.hpp>

#include <cmath>
#include <set>
#include <utility>

namespace adpipe::render_json {

namespace {

using render::ExternalInput;
using render::KernelUse;
using render::LayerView;
using render::Spread;

Json spread_json(const Spread& spread) {
    return {{"n", spread.count},       {"min", spread.minimum},
            {"median", spread.median}, {"mean", std::llround(spread.mean())},
            {"max", spread.maximum},   {"std", std::llround(spread.deviation)}};
}

/// Ids of the values that `v` consumes, each once, in the order of its arguments.
Json consumed_ids(const LayerView& view, VertexId v, const std::set<VertexId>& inputs) {
    Json ids = Json::array();
    std::set<VertexId> seen;
    for (const Edge& edge : view.graph->inputs(v)) {
        const bool shown = view.contains(edge.source) || inputs.count(edge.source) != 0;
        if (edge.kind != EdgeKind::data || !shown || !seen.insert(edge.source).second) continue;
        ids.push_back(json_text(view.graph->vertex(edge.source).name));
    }
    return ids;
}

Json weights_json(const LayerView& view, VertexId v) {
    Json weights = Json::array();
    std::set<VertexId> seen;
    for (const Edge& edge : view.graph->inputs(v)) {
        const Vertex& weight = view.graph->vertex(edge.source);
        if (weight.kind != VertexKind::weight || !seen.insert(edge.source).second) continue;
        weights.push_back({{"name", json_text(weight.name)}, {"shape", json_text(weight.shape)}, {"dtype", json_text(weight.dtype)}});
    }
    return weights;
}

Json trace_kernels(const LayerView& view, VertexId v) {
    Json kernels = Json::array();
    for (const std::uint32_t i : view.kernels_of(v)) {
        const KernelUse& kernel = view.kernels[i];
        kernels.push_back({{"kernel", json_text(kernel.name)},
                           {"duration_us", microseconds(kernel.time.median, 3)},
                           {"x_duration_ns", spread_json(kernel.time)},
                           {"x_stream", kernel.stream},
                           {"x_evidence", evidence_text(kernel.evidence)},
                           {"x_confidence", std::round(static_cast<double>(kernel.confidence) * 1000) / 1000},
                           {"x_reason", json_text(view.attribution->texts[kernel.reason])}});
    }
    return kernels;
}

/// Kernels that serve this node too; their time is with the other node.
Json shared_kernels(const LayerView& view, VertexId v) {
    Json kernels = Json::array();
    for (const std::uint32_t i : view.shared_kernels_of(v)) {
        const KernelUse& kernel = view.kernels[i];
        kernels.push_back({{"kernel", json_text(kernel.name)}, {"counted_on", json_text(view.graph->vertex(kernel.node).name)}});
    }
    return kernels;
}

void add_metrics(const LayerView& view, VertexId v, Json& node) {
    Json values = Json::object();
    for (const auto& metrics : view.metrics) {
        for (const MetricColumn& column : metrics->columns) {
            const double value = v < column.by_vertex.size() ? column.by_vertex[v] : std::nan("");
            if (std::isfinite(value)) values[json_text(column.name)] = {{"value", value}, {"unit", json_text(column.unit)}};
        }
    }
    if (!values.empty()) node["x_metrics"] = std::move(values);
}

Json node_json(const LayerView& view, VertexId v, const std::set<VertexId>& inputs) {
    const Vertex& vertex = view.graph->vertex(v);
    const Membership& member = view.membership(v);
    Json node = {{"id", json_text(vertex.name)},
                 {"op", json_text(vertex.target)},
                 {"shape", json_text(vertex.shape)},
                 {"dtype", json_text(vertex.dtype)},
                 {"group", group_text(member.group)}};
    if (member.sub_group != 0) node["sub_group"] = json_text(view.layers->text(member.sub_group));
    node["inputs"] = consumed_ids(view, v, inputs);
    node["weight_inputs"] = weights_json(view, v);
    if (view.has_trace()) {
        node["trace_kernels"] = trace_kernels(view, v);
        Json shared = shared_kernels(view, v);
        if (!shared.empty()) node["x_shared_kernels"] = std::move(shared);
    }
    node["x_line"] = vertex.line;
    node["x_reason"] = json_text(view.layers->text(member.reason));
    if (!member.certain) node["x_certain"] = false;
    if (member.also != layer_unknown) node["x_also_layer"] = layer_text(member.also);
    add_metrics(view, v, node);
    return node;
}

Json edges_json(const LayerView& view) {
    Json edges = Json::array();
    std::set<std::tuple<VertexId, VertexId, EdgeKind>> seen;
    for (const Edge& edge : view.edges) {
        if (!seen.insert({edge.source, edge.target, edge.kind}).second) continue;
        Json json = {{"from", json_text(view.graph->vertex(edge.source).name)}, {"to", json_text(view.graph->vertex(edge.target).name)}};
        if (edge.kind == EdgeKind::memory) json["x_kind"] = "memory";
        edges.push_back(std::move(json));
    }
    return edges;
}

Json input_json(const LayerView& view, const ExternalInput& input) {
    const Vertex& vertex = view.graph->vertex(input.vertex);
    Json json = {{"id", json_text(vertex.name)}, {"label", json_text(input.label)}, {"shape", json_text(vertex.shape)}};
    json["x_dtype"] = json_text(vertex.dtype);
    return json;
}

Json unattributed_json(const std::vector<render::Unattributed>& list) {
    Json json = Json::array();
    for (const render::Unattributed& entry : list) {
        json.push_back({{"reason", json_text(entry.reason)}, {"kernels", entry.kernels}, {"duration_ns", entry.time}});
    }
    return json;
}

Json trace_summary(const LayerView& view) {
    const render::LayerTimes& times = view.times;
    return {{"total_duration_us", microseconds(times.sum, 3)},
            {"kernel_count", view.kernels.size()},
            {"num_streams", times.streams.size()},
            {"x_attributed_ns", times.attributed},
            {"x_unattributed_ns", times.unattributed},
            {"x_unattributed", unattributed_json(times.unattributed_by_reason)},
            {"x_sum_per_step_ns", spread_json(times.step_sum)},
            {"x_wall_per_step_ns", spread_json(times.wall)},
            {"x_outside_layers_ns", times.outside},
            {"x_outside_layers", unattributed_json(times.outside_by_reason)},
            {"x_window", json_text(view.attribution->window->description)},
            {"x_simulated", view.trace().simulated}};
}

Json names_json(const LayerView& view, const std::vector<VertexId>& vertices) {
    Json names = Json::array();
    for (const VertexId v : vertices) names.push_back(json_text(view.graph->vertex(v).name));
    return names;
}

}  // namespace

double microseconds(Nanoseconds duration, int decimals) {
    const double scale = std::pow(10.0, decimals);
    return std::round(static_cast<double>(duration) / 1000.0 * scale) / scale;
}

std::string json_text(std::string_view text) { return render::visible_text(text); }

Json layer_json(const LayerView& view) {
    std::set<VertexId> inputs;
    for (const ExternalInput& input : view.inputs) inputs.insert(input.vertex);
    Json json = {{"layer", view.number()}, {"source_file", json_text(view.graph->source().filename().string())}};
    json["x_module"] = json_text(view.module().name);
    if (!view.stack().empty()) json["x_stack"] = json_text(view.stack());
    json["x_boundary_in"] = names_json(view, view.boundary_in);
    json["x_boundary_out"] = names_json(view, view.boundary_out);
    json["nodes"] = Json::array();
    for (const VertexId v : view.nodes) json["nodes"].push_back(node_json(view, v, inputs));
    json["edges"] = edges_json(view);
    json["external_inputs"] = Json::array();
    for (const ExternalInput& input : view.inputs) json["external_inputs"].push_back(input_json(view, input));
    if (view.has_trace()) json["trace_summary"] = trace_summary(view);
    return json;
}

}  // namespace adpipe::render_json
