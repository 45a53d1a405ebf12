#include "page.hpp"

#include <adpipe/render/labels.hpp>
#include <adpipe/render/number.hpp>
#include <adpipe/render/op_facts.hpp>
#include <adpipe/render/outline.hpp>
#include <adpipe/render/palette.hpp>
#include <adpipe/render/text.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace adpipe::render_html {

namespace {

using Json = nlohmann::ordered_json;
using render::KernelUse;
using render::LayerView;

std::string text(std::string_view raw) { return render::visible_text(raw); }

/// Full kernel names, each once in the page.
class FullNames {
public:
    std::size_t id(const std::string& name) {
        const auto [entry, is_new] = ids_.try_emplace(name, names_.size());
        if (is_new) names_.push_back(text(name));
        return entry->second;
    }
    Json json() const { return names_; }

private:
    std::map<std::string, std::size_t> ids_;
    std::vector<std::string> names_;
};

std::string_view kind_text(render::BlockKind kind) {
    switch (kind) {
        case render::BlockKind::attention: return "attention";
        case render::BlockKind::feed_forward: return "feed-forward";
        case render::BlockKind::mamba: return "mamba";
        case render::BlockKind::gated_delta_net: return "gated-delta-net";
    }
    return "attention";
}

class LayerData {
public:
    LayerData(const LayerView& view, std::string_view pipeline, FullNames& full_names)
        : view_(view),
          pipeline_(pipeline),
          full_names_(full_names),
          all_(render::fold_layer(view, render::Fold::none)),
          outline_(render::outline_layer(view, all_)),
          folded_(render::fold_layer(view, render::Fold::shape)),
          spine_(render::outline_layer(view, folded_).spine),
          groups_(render::group_inputs(view.inputs)) {
        for (std::size_t i = 0; i < all_.nodes.size(); ++i) index_[all_.nodes[i]] = static_cast<int>(i);
        for (std::size_t i = 0; i < groups_.size(); ++i) {
            for (const VertexId v : groups_[i].vertices) index_.emplace(v, -1 - static_cast<int>(i));
        }
    }

    Json json() {
        Json layer = {{"title", text(render::layer_title(view_, pipeline_))},
                      {"next", text((view_.next >= 0 ? "to " : "") + render::destination_text(view_))},
                      {"counts", counts()},
                      {"streams", view_.times.streams},
                      {"spine", indices(spine_)},
                      {"outs", indices(view_.boundary_out)},
                      {"outNames", names(view_.boundary_out)}};
        layer["blocks"] = Json::array();
        for (const render::Block& block : outline_.blocks) {
            layer["blocks"].push_back({{"title", block.title}, {"kind", kind_text(block.kind)}, {"parent", block.parent}});
        }
        layer["inputs"] = Json::array();
        for (const render::InputGroup& group : groups_) layer["inputs"].push_back(input(group));
        layer["nodes"] = Json::array();
        for (const VertexId v : all_.nodes) layer["nodes"].push_back(node(v));
        layer["edges"] = edges();
        layer["kernels"] = Json::array();
        for (const KernelUse& use : view_.kernels) layer["kernels"].push_back(kernel(use));
        layer["stepSums"] = view_.times.step_sums;
        layer["stepWalls"] = view_.times.step_walls;
        layer["unattributed"] = reasons(view_.times.unattributed_by_reason);
        layer["outside"] = reasons(view_.times.outside_by_reason);
        return layer;
    }

private:
    std::string counts() const {
        std::map<Group, std::size_t> count;
        for (const VertexId v : view_.nodes) ++count[view_.membership(v).group];
        std::string line = render::count_text(view_.nodes.size());
        for (const auto& [group, number] : count) line += ", " + std::string{group_text(group)} + " " + std::to_string(number);
        return line;
    }

    Json indices(const std::vector<VertexId>& vertices) const {
        Json list = Json::array();
        for (const VertexId v : vertices) {
            const auto found = index_.find(v);
            if (found != index_.end() && found->second >= 0) list.push_back(found->second);
        }
        return list;
    }

    Json names(const std::vector<VertexId>& vertices) const {
        Json list = Json::array();
        for (const VertexId v : vertices) list.push_back(text(view_.graph->vertex(v).name));
        return list;
    }

    Json input(const render::InputGroup& group) const {
        Json types = Json::array();
        for (const VertexId v : group.vertices) types.push_back(text(render::type_text(view_.graph->vertex(v))));
        const bool residual = group.kind == render::InputKind::residual;
        return {{"label", text(group.label)},
                {"kind", residual ? "residual" : "other"},
                {"names", names(group.vertices)},
                {"types", types}};
    }

    Json node(VertexId v) const {
        const Vertex& vertex = view_.graph->vertex(v);
        const Membership& member = view_.membership(v);
        const render::NodeLabel label = render::label_node(view_, v);
        const auto lane = outline_.auxiliary.find(v);
        const bool foldable = std::find(folded_.nodes.begin(), folded_.nodes.end(), v) == folded_.nodes.end();
        const std::string detail = view_.contains(v) ? label.detail : "counted in layer " + layer_text(member.layer);
        Json readers = Json::array();
        for (const LayerId reader : view_.other_readers_of(v))
            readers.push_back(reader >= 0 ? "layer " + layer_text(reader) : "the epilogue");
        return {{"n", text(vertex.name)},
                {"o", text(vertex.target)},
                {"t", text(label.title)},
                {"d", text(detail)},
                {"y", text(label.type)},
                {"g", group_text(member.group)},
                {"s", text(view_.layers->text(member.sub_group))},
                {"r", text(view_.layers->text(member.reason))},
                {"c", member.certain},
                {"l", vertex.line},
                {"w", names(view_.weights_of(v))},
                {"b", outline_.block(v)},
                {"f", foldable},
                {"a", lane == outline_.auxiliary.end() ? Json(nullptr) : Json(lane->second)},
                {"k", view_.kernels_of(v)},
                {"sh", view_.shared_kernels_of(v)},
                {"also", readers}};
    }

    /// [from, to, kind, argument]; kind 0: data, 1: through memory written in place, 2: a name whose value was overwritten since.
    Json edges() const {
        Json list = Json::array();
        for (const VertexId v : all_.nodes) {
            for (const Edge& edge : view_.graph->inputs(v)) {
                const auto from = index_.find(edge.source);
                if (from == index_.end()) continue;
                const int kind = edge.kind == EdgeKind::memory ? 1 : render::is_overwritten(*view_.graph, edge.source, v) ? 2 : 0;
                list.push_back({from->second, index_.at(v), kind, edge.argument});
            }
        }
        return list;
    }

    Json kernel(const KernelUse& use) {
        const Trace& trace = view_.trace();
        const std::size_t steps = view_.times.steps.size();
        Json starts = std::vector<Json>(steps, nullptr);
        Json durations = std::vector<Json>(steps, nullptr);
        for (const std::uint32_t execution : use.executions) {
            const std::size_t step = position_of_step(view_.attribution->window->step_of_kernel[execution]);
            if (step >= steps) continue;
            starts[step] = trace.kernels.start[execution] - first_start(step);
            durations[step] = trace.kernels.end[execution] - trace.kernels.start[execution];
        }
        const auto node = index_.find(use.node);
        return {{"n", text(use.name)},
                {"full", full_names_.id(trace.string(use.full_name))},
                {"s", use.stream},
                {"nd", node == index_.end() ? -1 : node->second},
                {"e", static_cast<int>(use.evidence)},
                {"c", std::round(static_cast<double>(use.confidence) * 1000) / 1000},
                {"r", text(view_.attribution->texts[use.reason])},
                {"st", std::move(starts)},
                {"du", std::move(durations)}};
    }

    std::size_t position_of_step(std::uint32_t step) const {
        const auto& steps = view_.times.steps;
        return static_cast<std::size_t>(std::find(steps.begin(), steps.end(), step) - steps.begin());
    }

    /// Start of the layer's first kernel in a step.
    Nanoseconds first_start(std::size_t step) {
        if (first_starts_.empty()) {
            first_starts_.assign(view_.times.steps.size(), std::numeric_limits<Nanoseconds>::max());
            for (const KernelUse& use : view_.kernels) {
                for (const std::uint32_t execution : use.executions) {
                    const std::size_t at = position_of_step(view_.attribution->window->step_of_kernel[execution]);
                    if (at < first_starts_.size()) {
                        first_starts_[at] = std::min(first_starts_[at], view_.trace().kernels.start[execution]);
                    }
                }
            }
        }
        return first_starts_[step];
    }

    static Json reasons(const std::vector<render::Unattributed>& list) {
        Json json = Json::array();
        for (const render::Unattributed& entry : list)
            json.push_back({{"ns", entry.time}, {"n", entry.kernels}, {"reason", text(entry.reason)}});
        return json;
    }

    const LayerView& view_;
    std::string_view pipeline_;
    FullNames& full_names_;
    render::FoldedLayer all_;
    render::Outline outline_;
    render::FoldedLayer folded_;
    std::vector<VertexId> spine_;
    std::vector<render::InputGroup> groups_;
    std::map<VertexId, int> index_;
    std::vector<Nanoseconds> first_starts_;
};

Json step_names(const LayerView& view) {
    Json names = Json::array();
    if (!view.has_trace()) return names;
    for (const std::uint32_t i : view.times.steps) {
        const Step& step = view.attribution->window->steps[i];
        std::string name = (step.replay ? "replay " : "step ") + std::to_string(step.number);
        if (step.batch_size >= 0) name += ", batch size " + std::to_string(step.batch_size);
        names.push_back(std::move(name));
    }
    return names;
}

Json heat_scale() {
    Json scale = Json::array();
    for (const render::HeatStep& step : render::heat_scale()) {
        scale.push_back({{"from", step.from}, {"fill", step.shade.fill}, {"text", step.shade.text}});
    }
    return scale;
}

Json evidence_names() {
    Json names = Json::array();
    for (int i = 0; i <= static_cast<int>(Evidence::none); ++i) names.push_back(evidence_text(static_cast<Evidence>(i)));
    return names;
}

/// One entry for each layer of the model; `index` is its place in the page, or -1.
Json strip(const PageInput& input) {
    Json list = Json::array();
    for (const LayerView& view : input.all) {
        const auto shown = std::find_if(input.layers.begin(), input.layers.end(),
                                        [&](const LayerView& l) { return l.layer == view.layer; });
        list.push_back({{"title", text(render::layer_title(view, ""))},
                        {"number", view.number()},
                        {"sum", view.times.sum},
                        {"wall", view.times.wall.median},
                        {"index", shown == input.layers.end() ? -1 : static_cast<int>(shown - input.layers.begin())}});
    }
    return list;
}

}  // namespace

Json page_data(const PageInput& input) {
    FullNames full_names;
    Json layers = Json::array();
    for (const LayerView& view : input.layers) layers.push_back(LayerData(view, input.pipeline, full_names).json());
    const LayerView& first = input.layers.front();
    return {{"start", 0},
            {"source", text(render::source_line(first))},
            {"stepsLine", text(render::steps_line(first))},
            {"steps", step_names(first)},
            {"heat", heat_scale()},
            {"evidence", evidence_names()},
            {"fullNames", full_names.json()},
            {"strip", strip(input)},
            {"layers", std::move(layers)}};
}

}  // namespace adpipe::render_html
