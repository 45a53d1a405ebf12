#include <adpipe/render/labels.hpp>

#include <adpipe/render/number.hpp>
#include <adpipe/render/op_facts.hpp>

#include <algorithm>
#include <set>

namespace adpipe::render {

namespace {

/// Roles of the weights, without the scales that belong to them; the weight proper first.
std::vector<std::string> weight_roles(const LayerView& view, VertexId v) {
    std::vector<std::string> roles;
    const auto add = [&](bool proper) {
        for (const VertexId weight : view.weights_of(v)) {
            const std::string_view name = view.graph->vertex(weight).name;
            const bool is_proper = name.ends_with("weight");
            const bool is_scale = name.find("scale") != std::string_view::npos;
            if (is_proper != proper || is_scale) continue;
            std::string role = weight_role(name, view.number());
            if (std::find(roles.begin(), roles.end(), role) == roles.end()) roles.push_back(std::move(role));
        }
    };
    add(true);
    add(false);
    return roles;
}

std::string joined(const std::vector<std::string>& words, std::size_t limit) {
    std::string text;
    for (std::size_t i = 0; i < words.size() && i < limit; ++i) text += (i == 0 ? "" : ", ") + words[i];
    if (words.size() > limit) text += ", … (" + std::to_string(words.size()) + ")";
    return text;
}

bool has_several_stacks(const LayerView& view) {
    return std::any_of(view.layers->layers.begin(), view.layers->layers.end(),
                       [&](const Layer& layer) { return layer.module == view.layer->module && layer.stack != view.layer->stack; });
}

}  // namespace

std::string type_text(const Vertex& vertex) {
    const std::vector<TensorType> types = output_types(vertex);
    const bool alike = types.size() > 1 && std::all_of(types.begin(), types.end(), [&](const TensorType& type) {
                           return type.shape == types[0].shape && type.dtype == types[0].dtype;
                       });
    if (alike) return std::to_string(types.size()) + " × " + std::string{types[0].shape} + " " + short_dtype(types[0].dtype);
    const bool has_shape = !vertex.shape.empty() && vertex.shape != "?";
    const std::string dtype = short_dtype(vertex.dtype);
    if (!has_shape) return {};
    return dtype.empty() ? std::string{vertex.shape} : std::string{vertex.shape} + " " + dtype;
}

NodeLabel label_node(const LayerView& view, VertexId v) {
    const Vertex& vertex = view.graph->vertex(v);
    const std::string op{bare_op(vertex.op)};
    const std::vector<std::string> roles = weight_roles(view, v);
    NodeLabel label{op, joined(roles, 2), type_text(vertex)};
    if (is_named_by_weight(vertex.op) && !roles.empty()) {
        label.title = roles.front();
        label.detail = op;
    }
    return label;
}

std::string layer_title(const LayerView& view, std::string_view pipeline) {
    std::string title{pipeline};
    if (!title.empty()) title += " · ";
    if (has_several_stacks(view) && !view.stack().empty()) title += view.stack() + " ";
    return title + "layer " + layer_text(view.number());
}

std::string steps_line(const LayerView& view) {
    if (!view.has_trace()) return {};
    const StepsText steps = describe_steps(view);
    std::string line = steps.phase;
    if (!steps.batch_size.empty()) line += " · batch size " + steps.batch_size;
    line += view.times.steps.size() == 1 ? " · 1 " : " · median of ";
    return view.times.steps.size() == 1 ? line + steps.counted.substr(2) : line + steps.counted;
}

std::string time_line(const LayerView& view) {
    if (!view.has_trace()) return {};
    return "sum " + duration_text(view.times.sum) + " · wall " + duration_text(view.times.wall.median);
}

std::string coverage_line(const LayerView& view) {
    if (!view.has_trace()) return {};
    std::string line = count_text(view.kernels.size(), "kernel");
    if (!view.times.streams.empty()) line += " on " + count_text(view.times.streams.size(), "stream");
    if (view.kernels.empty()) return line;
    if (view.times.unattributed == 0) return line + ", all on nodes";
    return line + ", " + duration_text(view.times.unattributed) + " (" + percent_text(view.times.unattributed, view.times.sum) +
           ") on no node";
}

std::string source_line(const LayerView& view) {
    std::string line = view.graph->source().filename().string();
    if (!view.module().name.empty()) line += ", " + view.module().name;
    if (view.has_trace()) {
        line += " · " + view.trace().file.filename().string();
        if (view.trace().simulated) line += " (simulated)";
    }
    return line;
}

std::string destination_text(const LayerView& view) { return view.next >= 0 ? "layer " + layer_text(view.next) : "behind the last layer"; }

std::vector<InputGroup> group_inputs(const std::vector<ExternalInput>& inputs, std::size_t limit) {
    std::vector<InputGroup> groups;
    std::set<VertexId> seen;
    std::size_t unnamed = 0;
    for (const ExternalInput& input : inputs) {
        if (!seen.insert(input.vertex).second) continue;
        const auto same_label = [&](const InputGroup& group) { return group.kind == input.kind && group.label == input.label; };
        auto group = std::find_if(groups.begin(), groups.end(), same_label);
        const bool is_unnamed = input.kind == InputKind::other || input.kind == InputKind::layer_value;
        if (group == groups.end() && is_unnamed && ++unnamed > limit) {
            group = std::find_if(groups.begin(), groups.end(), [](const InputGroup& g) { return g.label == "further inputs"; });
            if (group == groups.end()) group = groups.insert(group, {InputKind::other, "further inputs", {}});
        }
        if (group == groups.end()) group = groups.insert(group, {input.kind, input.label, {}});
        group->vertices.push_back(input.vertex);
    }
    std::stable_sort(groups.begin(), groups.end(), [](const InputGroup& a, const InputGroup& b) { return a.kind < b.kind; });
    return groups;
}

}  // namespace adpipe::render
