#include "flowchart.hpp"

#include <adpipe/render/labels.hpp>
#include <adpipe/render/number.hpp>
#include <adpipe/render/outline.hpp>
#include <adpipe/render/palette.hpp>
#include <adpipe/render/text.hpp>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace adpipe::render_mermaid {

namespace {

using render::Block;
using render::FoldedEdge;
using render::LayerView;

class Flowchart {
public:
    Flowchart(const LayerView& view, render::Fold fold, std::string_view pipeline, Detail detail)
        : view_(view),
          pipeline_(pipeline),
          detail_(detail),
          folded_(render::fold_layer(view, fold)),
          outline_(render::outline_layer(view, folded_)),
          inputs_(render::group_inputs(folded_.inputs)) {}

    std::string text() {
        line("---");
        line("title: \"" + label_text(render::layer_title(view_, pipeline_) + time_suffix()) + "\"");
        line("---");
        line("flowchart TB");
        for (std::size_t i = 0; i < inputs_.size(); ++i) line("  in" + std::to_string(i) + "([\"" + label_text(inputs_[i].label) + "\"])");
        nodes();
        if (!folded_.outputs.empty()) line("  out([\"" + label_text("to " + render::destination_text(view_)) + "\"])");
        edges();
        classes();
        return std::move(out_);
    }
    std::size_t edge_count() const { return drawn_.size(); }

private:
    void line(const std::string& text) { out_ += text + "\n"; }

    std::string time_suffix() const { return view_.has_trace() ? " · " + render::time_line(view_) : std::string{}; }

    /// In the coarsest picture a block stands for all of its nodes.
    std::string id(VertexId v) const {
        const int block = outermost(outline_.block(v));
        return detail_ == Detail::blocks && block >= 0 ? "b" + std::to_string(block) : "n" + std::to_string(v);
    }
    int outermost(int block) const {
        while (block >= 0 && outline_.blocks[static_cast<std::size_t>(block)].parent >= 0) {
            block = outline_.blocks[static_cast<std::size_t>(block)].parent;
        }
        return block;
    }

    std::string node_text(VertexId v) const {
        const render::NodeLabel label = render::label_node(view_, v);
        std::string text = "<b>" + label_text(label.title) + "</b>";
        const auto kernels = view_.kernels_of(v);
        if (detail_ == Detail::titles) return text;
        if (!kernels.empty())
            text += "<br>" +
                    label_text(render::duration_text(view_.time_of(v)) + " · " + render::percent_text(view_.time_of(v), view_.times.sum));
        if (detail_ != Detail::kernels) return text;
        if (!label.type.empty()) text += "<br>" + label_text(label.type);
        for (const std::uint32_t i : kernels) {
            text += "<br>" + label_text(render::fit(view_.kernels[i].name, 36) + " " + render::duration_text(view_.kernels[i].time.median));
        }
        return text;
    }

    void nodes() {
        for (const VertexId v : folded_.nodes) {
            if (outline_.block(v) < 0) node(v, "  ");
        }
        for (std::size_t i = 0; i < outline_.blocks.size(); ++i) {
            if (outline_.blocks[i].parent < 0) block(static_cast<int>(i), "  ");
        }
    }

    void node(VertexId v, const std::string& indent) { line(indent + "n" + std::to_string(v) + "[\"" + node_text(v) + "\"]"); }

    void block(int index, const std::string& indent) {
        const Block& block_here = outline_.blocks[static_cast<std::size_t>(index)];
        if (detail_ == Detail::blocks) {
            const Nanoseconds time = time_of_block(index);
            std::string text = "<b>" + label_text(block_here.title) + "</b>";
            if (time > 0) text += "<br>" + label_text(render::duration_text(time) + " · " + render::percent_text(time, view_.times.sum));
            line(indent + "b" + std::to_string(index) + "[\"" + text + "\"]");
            return;
        }
        line(indent + "subgraph b" + std::to_string(index) + "[\"" + label_text(block_here.title) + "\"]");
        for (const VertexId v : block_here.nodes) node(v, indent + "  ");
        for (std::size_t i = 0; i < outline_.blocks.size(); ++i) {
            if (outline_.blocks[i].parent == index) block(static_cast<int>(i), indent + "  ");
        }
        line(indent + "end");
    }

    Nanoseconds time_of_block(int index) const {
        Nanoseconds time = 0;
        for (const VertexId v : folded_.nodes) {
            if (outline_.block(v) >= 0 && outermost(outline_.block(v)) == index) time += view_.time_of(v);
        }
        return time;
    }

    std::string source_id(VertexId v) const {
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            const auto& vertices = inputs_[i].vertices;
            if (std::find(vertices.begin(), vertices.end(), v) != vertices.end()) return "in" + std::to_string(i);
        }
        return id(v);
    }

    bool on_residual_stream(VertexId from, const std::string& to) const {
        const auto& spine = outline_.spine;
        const auto at = std::find(spine.begin(), spine.end(), from);
        if (at != spine.end()) return std::next(at) == spine.end() ? to == "out" : to == id(*std::next(at));
        const bool residual = std::any_of(folded_.inputs.begin(), folded_.inputs.end(), [&](const render::ExternalInput& input) {
            return input.vertex == from && input.kind == render::InputKind::residual;
        });
        return residual && !spine.empty() && to == id(spine.front());
    }

    void edge(VertexId from, const std::string& to, EdgeKind kind) {
        const std::string source = source_id(from);
        if (source == to || !drawn_.insert({source, to}).second) return;
        const std::string_view arrow = on_residual_stream(from, to) ? " ==> " : kind == EdgeKind::memory ? " -.-> " : " --> ";
        line("  " + source + std::string{arrow} + to);
    }

    void edges() {
        for (const FoldedEdge& folded : folded_.edges) edge(folded.from, id(folded.to), folded.kind);
        for (const FoldedEdge& folded : folded_.outputs) edge(folded.from, "out", folded.kind);
    }

    /// Heat as classes of nodes.
    void classes() {
        const auto scale = render::heat_scale();
        for (std::size_t i = 0; i < scale.size(); ++i) {
            std::string members;
            for (const VertexId v : folded_.nodes) {
                const bool shown = detail_ != Detail::blocks || outline_.block(v) < 0;
                if (!shown || view_.kernels_of(v).empty() || &render::heat(view_.time_of(v), view_.times.sum) != &scale[i]) continue;
                members += (members.empty() ? "" : ",") + ("n" + std::to_string(v));
            }
            if (members.empty()) continue;
            line("  classDef heat" + std::to_string(i) + " fill:" + std::string{scale[i].shade.fill} +
                 ",color:" + std::string{scale[i].shade.text} + ",stroke:#444");
            line("  class " + members + " heat" + std::to_string(i));
        }
    }

    const LayerView& view_;
    std::string_view pipeline_;
    Detail detail_;
    render::FoldedLayer folded_;
    render::Outline outline_;
    std::vector<render::InputGroup> inputs_;
    std::set<std::pair<std::string, std::string>> drawn_;
    std::string out_;
};

}  // namespace

std::string label_text(std::string_view text) {
    std::string out;
    for (const char c : render::visible_text(text)) {
        switch (c) {
            // Mermaid's entities have a # in the place of HTML's &.
            case '"': out += "#quot;"; break;
            case '#': out += "#35;"; break;
            case '<': out += "#lt;"; break;
            case '>': out += "#gt;"; break;
            case '&': out += "#amp;"; break;
            case '`': out += "#96;"; break;
            case '\\': out += "#92;"; break;
            case ';': out += "#59;"; break;
            default: out += c;
        }
    }
    return out;
}

std::string flowchart(const LayerView& view, render::Fold fold, std::string_view pipeline, Detail most) {
    std::string text;
    for (const Detail detail : {Detail::kernels, Detail::times, Detail::titles, Detail::blocks}) {
        if (detail < most) continue;
        // Folding saves more than leaving out: the coarser pictures fold whatever was asked for.
        Flowchart chart(view, detail == Detail::kernels ? fold : render::Fold::shape, pipeline, detail);
        text = chart.text();
        if (text.size() <= longest_text && chart.edge_count() <= most_edges) break;
    }
    return text;
}

}  // namespace adpipe::render_mermaid
