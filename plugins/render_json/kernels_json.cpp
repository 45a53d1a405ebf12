#include "layer_json.hpp"

#include <set>

namespace adpipe::render_json {

namespace {

using render::KernelUse;
using render::LayerView;

/// The graph of the chosen steps, where they are replays of one.
Json graph_id(const LayerView& view) {
    std::set<std::uint64_t> graphs;
    for (const std::uint32_t i : view.times.steps) graphs.insert(view.attribution->window->steps[i].graph);
    if (graphs.size() != 1 || *graphs.begin() == no_id) return nullptr;
    return *graphs.begin();
}

std::size_t unique_graph_nodes(const LayerView& view) {
    const Trace& trace = view.trace();
    if (trace.kernels.graph_node.empty()) return 0;
    std::set<std::uint64_t> nodes;
    for (const std::uint32_t i : view.times.steps) {
        for (const std::uint32_t kernel : view.attribution->window->steps[i].kernels) {
            if (trace.kernels.graph_node[kernel] != no_id) nodes.insert(trace.kernels.graph_node[kernel]);
        }
    }
    return nodes.size();
}

Json kernel_json(const LayerView& view, const KernelUse& kernel, std::size_t index) {
    Json json = {{"index", index},
                 {"kernel", json_text(kernel.name)},
                 {"full_name", json_text(view.trace().string(kernel.full_name))},
                 {"duration_ns", kernel.time.median},
                 {"duration_us", microseconds(kernel.time.median, 1)},
                 {"stream_id", kernel.stream}};
    json["x_node"] = nullptr;
    if (kernel.node != no_vertex) json["x_node"] = json_text(view.graph->vertex(kernel.node).name);
    json["x_evidence"] = evidence_text(kernel.evidence);
    json["x_min_ns"] = kernel.time.minimum;
    json["x_max_ns"] = kernel.time.maximum;
    json["x_steps"] = kernel.time.count;
    return json;
}

}  // namespace

Json kernels_json(const LayerView& view, std::uint32_t layers_with_kernels) {
    Json kernels = Json::array();
    for (std::size_t i = 0; i < view.kernels.size(); ++i) kernels.push_back(kernel_json(view, view.kernels[i], i));
    Json layer = {{"layer", view.number()},
                  {"num_streams", view.times.streams.size()},
                  {"stream_ids", view.times.streams},
                  {"kernel_count", view.kernels.size()},
                  {"total_duration_ns", view.times.sum},
                  {"total_duration_us", microseconds(view.times.sum, 1)},
                  {"kernels", std::move(kernels)}};
    Json json = {{"source", json_text(view.trace().file.filename().string())},
                 {"graph_id", graph_id(view)},
                 {"unique_graph_nodes", unique_graph_nodes(view)},
                 {"num_replays", view.times.steps.size()},
                 {"num_layers_detected", layers_with_kernels}};
    json["layers"] = {{layer_text(view.number()), std::move(layer)}};
    return json;
}

}  // namespace adpipe::render_json
