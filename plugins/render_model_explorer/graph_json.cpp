#include "graph_json.hpp"

#include <adpipe/kernel_names.hpp>
#include <adpipe/render/labels.hpp>
#include <adpipe/render/number.hpp>
#include <adpipe/render/outline.hpp>
#include <adpipe/render/palette.hpp>
#include <adpipe/render/text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace adpipe::render_model_explorer {

namespace {

using render::KernelUse;
using render::LayerView;

std::string text(std::string_view raw) { return render::visible_text(raw); }

/// A component of a namespace: Model Explorer splits at '/' and takes what follows the last ';'.
std::string component(std::string_view title) {
    std::string out;
    for (const char c : text(title)) {
        if (c == '/') out += "\\/";
        else out += c == ';' ? ',' : c;
    }
    return out;
}

Json attribute(std::string_view key, std::string_view value) { return {{"key", key}, {"value", text(value)}}; }

class GraphWriter {
public:
    GraphWriter(const LayerView& view, render::Fold fold)
        : view_(view), folded_(render::fold_layer(view, fold)), outline_(render::outline_layer(view, folded_)) {
        std::set<std::string> used;
        // Of all vertices, so that an id does not depend on the folding.
        for (const VertexId v : view.nodes) ids_[v] = unique_id(v, used);
        for (const VertexId v : view.borrowed) ids_[v] = unique_id(v, used);
        for (const render::ExternalInput& input : view.inputs) ids_[input.vertex] = unique_id(input.vertex, used);
    }

    Json json() {
        Json nodes = Json::array();
        for (const render::ExternalInput& input : folded_.inputs) nodes.push_back(input_node(input));
        for (const VertexId v : folded_.nodes) nodes.push_back(op_node(v));
        Json attributes = {{"source", text(render::source_line(view_))}};
        if (view_.has_trace()) {
            attributes["time"] = text(render::time_line(view_));
            attributes["steps"] = text(render::steps_line(view_));
            attributes["coverage"] = text(render::coverage_line(view_));
        }
        return {{"id", graph_id(view_)}, {"nodes", std::move(nodes)}, {"groupNodeAttributes", {{"", std::move(attributes)}}}};
    }

    const std::string& id(VertexId v) const { return ids_.at(v); }

private:
    /// Escaped names of two vertices may come out alike.
    std::string unique_id(VertexId v, std::set<std::string>& used) const {
        std::string id = text(view_.graph->vertex(v).name);
        while (!used.insert(id).second) id += "'";
        return id;
    }

    std::string name_space(VertexId v) const {
        std::string path;
        for (int block = outline_.block(v); block >= 0; block = outline_.blocks[static_cast<std::size_t>(block)].parent) {
            const std::string part = component(outline_.blocks[static_cast<std::size_t>(block)].title);
            path = path.empty() ? part : part + "/" + path;
        }
        return path;
    }

    Json output_metadata(const Vertex& vertex) const {
        Json outputs = Json::array();
        const auto types = output_types(vertex);
        for (std::size_t i = 0; i < types.size(); ++i) {
            const std::string shape = std::string{types[i].shape} + " " + std::string{types[i].dtype};
            outputs.push_back({{"id", std::to_string(i)}, {"attrs", Json::array({attribute("tensor_shape", shape)})}});
        }
        return outputs;
    }

    /// What the layers before hand on stands alone; the rest is one box that can be opened.
    Json input_node(const render::ExternalInput& input) const {
        const bool of_a_layer = input.kind == render::InputKind::residual || input.kind == render::InputKind::layer_value;
        const Vertex& vertex = view_.graph->vertex(input.vertex);
        return {{"id", id(input.vertex)},
                {"label", text(input.label)},
                {"namespace", of_a_layer ? "" : "inputs"},
                {"attrs", Json::array({attribute("name", vertex.name)})},
                {"outputsMetadata", output_metadata(vertex)}};
    }

    Json op_node(VertexId v) const {
        const Vertex& vertex = view_.graph->vertex(v);
        const render::NodeLabel label = render::label_node(view_, v);
        Json node = {{"id", id(v)}, {"label", text(label.title)}, {"namespace", name_space(v)}, {"attrs", attributes(v)}};
        node["incomingEdges"] = incoming(v);
        node["outputsMetadata"] = output_metadata(vertex);
        if (outline_.on_spine(v)) node["style"] = {{"borderColor", render::colour::residual}};
        return node;
    }

    Json attributes(VertexId v) const {
        const Vertex& vertex = view_.graph->vertex(v);
        const Membership& member = view_.membership(v);
        std::string group{group_text(member.group)};
        if (member.sub_group != 0) group += " / " + view_.layers->text(member.sub_group);
        Json list = Json::array({attribute("name", vertex.name), attribute("target", vertex.target), attribute("group", group),
                                 attribute("reason", view_.layers->text(member.reason)), attribute("line", std::to_string(vertex.line))});
        for (const VertexId weight : view_.weights_of(v)) {
            list.push_back(
                attribute("weight", std::string{view_.graph->vertex(weight).name} + "  " + std::string{view_.graph->vertex(weight).shape}));
        }
        const auto lane = outline_.auxiliary.find(v);
        if (lane != outline_.auxiliary.end())
            list.push_back(attribute("auxiliary stream", lane->second < 0 ? "yes" : std::to_string(lane->second)));
        for (const std::uint32_t i : view_.kernels_of(v)) {
            const KernelUse& kernel = view_.kernels[i];
            list.push_back(attribute("kernel", kernel.name + "  " + render::duration_text(kernel.time.median) + "  " +
                                                   std::string{evidence_text(kernel.evidence)}));
        }
        return list;
    }

    Json incoming(VertexId v) const {
        Json edges = Json::array();
        for (const render::FoldedEdge& edge : folded_.edges) {
            if (edge.to != v) continue;
            Json json = {{"sourceNodeId", id(edge.from)}, {"sourceNodeOutputId", "0"}, {"targetNodeInputId", std::to_string(edges.size())}};
            if (edge.kind == EdgeKind::memory) json["metadata"] = {{"through", "memory written in place"}};
            edges.push_back(std::move(json));
        }
        return edges;
    }

    const LayerView& view_;
    render::FoldedLayer folded_;
    render::Outline outline_;
    std::map<VertexId, std::string> ids_;
};

Json gradient() {
    Json steps = Json::array();
    const auto scale = render::heat_scale();
    for (std::size_t i = 0; i < scale.size(); ++i) {
        steps.push_back({{"stop", static_cast<double>(i) / static_cast<double>(scale.size() - 1)},
                         {"bgColor", scale[i].shade.fill},
                         {"textColor", scale[i].shade.text}});
    }
    return steps;
}

/// Each label has a colour of its own: Model Explorer counts labels by colour.
std::string_view evidence_colour(Evidence evidence) {
    switch (evidence) {
        case Evidence::lineage: return "#1f4e79";
        case Evidence::annotation: return "#3f7fb5";
        case Evidence::companion: return "#6fa8d6";
        case Evidence::sequence: return "#c9a227";
        case Evidence::name: return "#d98a5b";
        case Evidence::none: return "#9a9a9a";
    }
    return "#9a9a9a";
}

/// By KernelCategory; each its own, for the same reason.
constexpr std::array<std::string_view, kernel_category_count> category_colours{"#9a9a9a", "#1f4e79", "#b5532a", "#2e7d4f", "#7a5ca8",
                                                                               "#c9a227", "#3f9fb5", "#a8436e", "#5a6b2f", "#d98a5b",
                                                                               "#6f7f8f", "#88632b", "#4aa36a", "#5b62c4", "#c46bb0",
                                                                               "#35545c", "#8f2f2f"};

const KernelUse& longest_kernel(const LayerView& view, VertexId v) {
    const auto kernels = view.kernels_of(v);
    const auto longest = std::max_element(kernels.begin(), kernels.end(), [&](std::uint32_t a, std::uint32_t b) {
        return view.kernels[a].time.median < view.kernels[b].time.median;
    });
    return view.kernels[*longest];
}

/// `value_of` gives the {"value": …} of a node that launches kernels.
template <class ValueOf>
Json data_of(const std::vector<LayerView>& views, const std::string& name, const Json& more, ValueOf value_of) {
    Json file = Json::object();
    for (const LayerView& view : views) {
        const GraphWriter graph(view, render::Fold::none);
        Json results = Json::object();
        for (const VertexId v : view.nodes) {
            if (!view.kernels_of(v).empty()) results[graph.id(v)] = value_of(view, v);
        }
        Json data = {{"name", name}, {"results", std::move(results)}};
        data.update(more);
        file[graph_id(view)] = std::move(data);
    }
    return file;
}

}  // namespace

std::string graph_id(const LayerView& view) {
    const std::string stack = view.stack().empty() ? std::string{} : component(view.stack()) + "_";
    return stack + "layer_" + layer_text(view.number());
}

Json graph_json(const LayerView& view, render::Fold fold) { return GraphWriter(view, fold).json(); }

std::vector<std::pair<std::string, Json>> node_data(const std::vector<LayerView>& views) {
    if (views.empty() || !views.front().has_trace()) return {};
    const Json heat = {{"gradient", gradient()}};
    const KernelNames& names = KernelNames::built_in();
    return {
        {"time", data_of(views, "median µs", heat,
                         [](const LayerView& view, VertexId v) {
                             return Json{{"value", static_cast<double>(view.time_of(v)) / 1e3}};
                         })},
        {"share", data_of(views, "% of the layer", heat,
                          [](const LayerView& view, VertexId v) {
                              return Json{{"value", 100.0 * static_cast<double>(view.time_of(v)) /
                                                        static_cast<double>(std::max<Nanoseconds>(1, view.times.sum))}};
                          })},
        {"evidence",
         data_of(views, "evidence", Json::object(),
                 [](const LayerView& view, VertexId v) {
                     const Evidence evidence = longest_kernel(view, v).evidence;
                     return Json{{"value", evidence_text(evidence)}, {"bgColor", evidence_colour(evidence)}, {"textColor", "#ffffff"}};
                 })},
        {"confidence",
         data_of(views, "confidence", Json::object(),
                 [](const LayerView& view, VertexId v) {
                     return Json{{"value", std::round(static_cast<double>(longest_kernel(view, v).confidence) * 1000) / 1000}};
                 })},
        {"category",
         data_of(views, "what its longest kernel does", Json::object(),
                 [&names](const LayerView& view, VertexId v) {
                     const KernelCategory category = names.decode(view.trace().string(longest_kernel(view, v).full_name)).category;
                     return Json{{"value", category_text(category)},
                                 {"bgColor", category_colours[static_cast<std::size_t>(category)]},
                                 {"textColor", "#ffffff"}};
                 })},
    };
}

}  // namespace adpipe::render_model_explorer
