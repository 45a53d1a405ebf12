#include <adpipe/render/layer_view.hpp>

#include <adpipe/diagnostic.hpp>
#include <adpipe/render/op_facts.hpp>

#include "render/external_inputs.hpp"
#include "render/layer_kernels.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace adpipe::render {

namespace {

bool same_stack(const Layer& a, const Layer& b) { return a.module == b.module && a.stack == b.stack; }

/// The layer before (or after) `layer` in its stack, or nullptr.
const Layer* neighbour(const Layers& layers, const Layer& layer, int direction) {
    const Layer* best = nullptr;
    for (const Layer& other : layers.layers) {
        if (!same_stack(other, layer)) continue;
        if (direction < 0 ? other.number >= layer.number : other.number <= layer.number) continue;
        const bool nearer = best == nullptr || (direction < 0 ? other.number > best->number : other.number < best->number);
        if (nearer) best = &other;
    }
    return best;
}

bool is_in_layer(const Layers& layers, const Layer& layer, VertexId v) {
    const Membership& member = layers.of[v];
    return member.layer == layer.number && member.stack == layer.stack;
}

void collect_nodes(LayerView& view) {
    const GraphModule& module = view.module();
    for (VertexId v = module.begin; v < module.end; ++v) {
        if (view.graph->vertex(v).kind != VertexKind::op) continue;
        const Membership& member = view.membership(v);
        if (is_in_layer(*view.layers, *view.layer, v)) {
            view.nodes.push_back(v);
        } else if (member.also == view.layer->number && member.stack == view.layer->stack && member.layer == view.next) {
            view.borrowed.push_back(v);
        }
    }
}

/// Values of outside that ops of the layer read, by first use.
std::vector<VertexId> outside_sources(const LayerView& view) {
    std::vector<VertexId> sources;
    std::unordered_set<VertexId> seen;
    for (const VertexId node : view.nodes) {
        for (const Edge& edge : view.graph->inputs(node)) {
            const Vertex& source = view.graph->vertex(edge.source);
            const bool is_weight = source.kind == VertexKind::weight && !is_shared_table(source);
            if (is_weight || view.contains(edge.source)) continue;
            if (seen.insert(edge.source).second) sources.push_back(edge.source);
        }
    }
    return sources;
}

/// For a first layer, whose input no other layer hands on: the latest outside value of the type of what the layer hands on.
std::vector<VertexId> first_boundary(const LayerView& view, const std::vector<VertexId>& sources) {
    if (view.boundary_out.empty()) return {};
    const Vertex& out = view.graph->vertex(view.boundary_out.front());
    VertexId best = no_vertex;
    for (const VertexId v : sources) {
        const Vertex& vertex = view.graph->vertex(v);
        const bool same_type = vertex.shape == out.shape && !vertex.shape.empty() && vertex.shape != "?";
        const bool can_be = vertex.kind == VertexKind::op || vertex.kind == VertexKind::placeholder;
        if (can_be && same_type && view.membership(v).layer < 0 && (best == no_vertex || v > best)) best = v;
    }
    return best == no_vertex ? std::vector<VertexId>{} : std::vector<VertexId>{best};
}

/// For a last layer: what the ops behind it read.
std::vector<VertexId> last_boundary(const LayerView& view) {
    std::vector<VertexId> out;
    for (const VertexId node : view.nodes) {
        const auto edges = view.graph->outputs(node);
        const bool leaves = std::any_of(edges.begin(), edges.end(), [&](const Edge& edge) {
            return edge.kind == EdgeKind::data && !view.contains(edge.target) && view.membership(edge.target).layer < 0;
        });
        if (leaves) out.push_back(node);
    }
    return out;
}

void find_boundaries(LayerView& view, const std::vector<VertexId>& sources) {
    view.boundary_out = view.layer->boundary_out;
    if (view.boundary_out.empty()) view.boundary_out = last_boundary(view);
    if (const Layer* before = neighbour(*view.layers, *view.layer, -1)) {
        for (const VertexId v : before->boundary_out) {
            if (std::find(sources.begin(), sources.end(), v) != sources.end()) view.boundary_in.push_back(v);
        }
    }
    if (view.boundary_in.empty()) view.boundary_in = first_boundary(view, sources);
}

void collect_edges(LayerView& view) {
    std::unordered_set<VertexId> sources;
    for (const ExternalInput& input : view.inputs) sources.insert(input.vertex);
    for (const VertexId node : view.nodes) {
        for (const Edge& edge : view.graph->inputs(node)) {
            if (view.contains(edge.source) || sources.count(edge.source) != 0) view.edges.push_back(edge);
        }
    }
}

[[noreturn]] void throw_other_graph(std::string_view what) {
    throw Error("ADP-RND-003", std::string{what} + " belongs to another graph than the one to draw",
                "wire the stages with `from:` so that all of them read the same graph");
}

void append_words(std::string& text, const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
        text += words[i];
    }
}

void add_once(std::vector<std::string>& words, std::string word) {
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(std::move(word));
}

}  // namespace

bool LayerView::contains(VertexId v) const noexcept {
    return graph->vertex(v).kind == VertexKind::op && graph->vertex(v).module == layer->module && is_in_layer(*layers, *layer, v);
}

std::span<const std::uint32_t> LayerView::kernels_of(VertexId v) const noexcept {
    const auto found = kernels_by_node.find(v);
    if (found == kernels_by_node.end()) return {};
    return found->second;
}

std::vector<std::uint32_t> LayerView::shared_kernels_of(VertexId v) const {
    std::vector<std::uint32_t> shared;
    for (std::uint32_t i = 0; i < kernels.size(); ++i) {
        const auto& also = kernels[i].also;
        if (std::find(also.begin(), also.end(), v) != also.end()) shared.push_back(i);
    }
    return shared;
}

Nanoseconds LayerView::time_of(VertexId v) const noexcept {
    Nanoseconds sum = 0;
    for (const std::uint32_t i : kernels_of(v)) sum += kernels[i].time.median;
    return sum;
}

std::vector<VertexId> LayerView::weights_of(VertexId v) const {
    std::vector<VertexId> weights;
    for (const Edge& edge : graph->inputs(v)) {
        VertexId source = edge.source;
        for (int steps = 0; steps < 16 && graph->vertex(source).kind == VertexKind::op && is_shape_only(*graph, source); ++steps) {
            const auto sources = graph->inputs(source);
            if (sources.empty()) break;
            source = sources.front().source;
        }
        const bool is_weight = graph->vertex(source).kind == VertexKind::weight;
        if (is_weight && std::find(weights.begin(), weights.end(), source) == weights.end()) weights.push_back(source);
    }
    return weights;
}

std::vector<LayerId> LayerView::other_readers_of(VertexId v) const {
    std::vector<LayerId> readers;
    for (const Edge& edge : graph->outputs(v)) {
        const LayerId reader = membership(edge.target).layer;
        const bool elsewhere = reader != number() && reader != next && (reader >= 0 || reader == layer_epilogue);
        if (edge.kind == EdgeKind::data && elsewhere) readers.push_back(reader);
    }
    std::sort(readers.begin(), readers.end());
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
    return readers;
}

struct LayerViews::Occurrences {
    KernelsByLayer by_layer;
};

LayerViews::LayerViews(std::shared_ptr<const GraphModel> graph, std::shared_ptr<const Layers> layers,
                       std::shared_ptr<const Attribution> attribution, std::vector<std::shared_ptr<const Metrics>> metrics)
    : graph_(std::move(graph)),
      layers_(std::move(layers)),
      attribution_(std::move(attribution)),
      metrics_(std::move(metrics)),
      occurrences_(std::make_unique<Occurrences>()) {
    const std::uint64_t digest = graph_->digest();
    if (layers_->graph_digest != digest || layers_->of.size() != graph_->size()) throw_other_graph("the membership");
    if (attribution_ && attribution_->graph_digest != digest) throw_other_graph("the attribution");
    for (const auto& metric : metrics_) {
        if (metric->graph_digest != digest) throw_other_graph("a metric");
    }
    if (attribution_) occurrences_->by_layer = KernelsByLayer(*graph_, *layers_, *attribution_);
}

LayerViews::~LayerViews() = default;

LayerView LayerViews::view(const Layer& layer) const {
    LayerView view;
    view.graph = graph_;
    view.layers = layers_;
    view.attribution = attribution_;
    view.metrics = metrics_;
    view.layer = &layer;
    const Layer* after = neighbour(*layers_, layer, +1);
    view.next = after != nullptr ? after->number : layer_epilogue;
    collect_nodes(view);
    const std::vector<VertexId> sources = outside_sources(view);
    find_boundaries(view, sources);
    for (const VertexId v : sources) view.inputs.push_back(describe_input(view, v));
    collect_edges(view);
    if (attribution_) occurrences_->by_layer.fill(view);
    return view;
}

std::uint32_t LayerViews::layers_with_kernels() const noexcept { return occurrences_->by_layer.layers_with_kernels(); }

StepsText describe_steps(const LayerView& view) {
    StepsText text;
    if (!view.has_trace()) return text;
    std::vector<std::string> phases;
    std::vector<std::string> sizes;
    std::vector<std::string> graphs;
    bool all_replays = true;
    for (const std::uint32_t i : view.times.steps) {
        const Step& step = view.attribution->window->steps[i];
        add_once(phases, std::string{phase_text(step.phase)});
        if (step.batch_size >= 0) add_once(sizes, std::to_string(step.batch_size));
        if (step.graph != no_id) add_once(graphs, std::to_string(step.graph));
        all_replays = all_replays && step.replay;
    }
    append_words(text.phase, phases);
    append_words(text.batch_size, sizes);
    append_words(text.graph, graphs);
    const std::size_t count = view.times.steps.size();
    text.counted = std::to_string(count) + (all_replays ? " replay" : " step") + (count == 1 ? "" : "s");
    return text;
}

}  // namespace adpipe::render
