#include "layer_dot.hpp"

#include "node_table.hpp"

#include <adpipe/render/labels.hpp>
#include <adpipe/render/number.hpp>
#include <adpipe/render/outline.hpp>
#include <adpipe/render/palette.hpp>
#include <adpipe/render/text.hpp>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace adpipe::render_dot {

namespace {

using render::Block;
using render::FoldedEdge;
using render::InputGroup;
using render::LayerView;
namespace colour = render::colour;

constexpr std::size_t large_layer = 250;  ///< nodes from which on curved edges, and the best of places, take dot too long
constexpr std::size_t huge_layer = 500;   ///< and from which on edges around nodes do

/// Lines of a tooltip: each escaped, joined by Graphviz' line break.
std::string tooltip(const std::vector<std::string>& lines) {
    std::string text = "\"";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string quoted = render::dot_string(lines[i]);
        text += (i == 0 ? "" : "\\n") + quoted.substr(1, quoted.size() - 2);
    }
    return text + '"';
}

class Picture {
public:
    Picture(const LayerView& view, render::Fold fold, std::string_view pipeline, const Links& links)
        : view_(view),
          pipeline_(pipeline),
          links_(links),
          folded_(render::fold_layer(view, fold)),
          outline_(render::outline_layer(view, folded_)),
          inputs_(render::group_inputs(folded_.inputs)) {}

    std::string text() {
        out_ = "digraph layer {\n";
        graph_attributes();
        draw_inputs();
        for (const VertexId v : outline_.spine) draw_node(v, "  ", true);
        draw_branches();
        draw_output();
        draw_edges();
        draw_unattributed();
        // Last, since clusters inherit what stands before them.
        line("  ", {"label=<", title(), ">; labelloc=t; labeljust=l;"});
        out_ += "}\n";
        return std::move(out_);
    }

private:
    void line(std::string_view indent, std::initializer_list<std::string_view> parts) {
        out_ += indent;
        for (const std::string_view part : parts) out_ += part;
        out_ += '\n';
    }

    void graph_attributes() {
        // With bounds for its network simplex, dot draws in seconds what took it minutes: a scan that was unrolled into a thousand edges.
        const std::size_t nodes = folded_.nodes.size();
        const std::string_view splines = nodes > huge_layer ? "line" : nodes > large_layer ? "polyline" : "true";
        const std::string_view bounds = nodes > large_layer ? ", nslimit=1, nslimit1=1, mclimit=0.3" : "";
        line("  ", {"graph [rankdir=TB, newrank=true, compound=true, nodesep=0.2, ranksep=0.25, pad=0.3, splines=", splines, bounds,
                    ", bgcolor=\"", colour::background, "\", fontname=\"Helvetica,Arial,sans-serif\", tooltip=\" \"];"});
        line("  ", {"node [shape=plain, fontname=\"Helvetica,Arial,sans-serif\", fontsize=11];"});
        line("  ", {"edge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=9, color=\"", colour::edge, "\", arrowsize=0.6];"});
    }

    static std::string id(VertexId v) { return "n" + std::to_string(v); }

    std::vector<std::string> describe(VertexId v) const {
        const Vertex& vertex = view_.graph->vertex(v);
        const Membership& member = view_.membership(v);
        std::vector<std::string> lines{"%" + std::string{vertex.name}, std::string{vertex.target}};
        std::string place = std::string{group_text(member.group)};
        if (member.sub_group != 0) place += " / " + view_.layers->text(member.sub_group);
        if (member.reason != 0) place += ": " + view_.layers->text(member.reason);
        lines.push_back(place);
        lines.push_back("line " + std::to_string(vertex.line));
        for (const std::uint32_t i : view_.kernels_of(v)) {
            const render::KernelUse& kernel = view_.kernels[i];
            lines.push_back(kernel.name + ": median " + render::duration_text(kernel.time.median) + " (" +
                            render::duration_text(kernel.time.minimum) + " to " + render::duration_text(kernel.time.maximum) + "), " +
                            std::string{evidence_text(kernel.evidence)});
        }
        return lines;
    }

    void draw_node(VertexId v, std::string_view indent, bool spine = false) {
        line(indent,
             {id(v), " [label=<", node_table(view_, outline_, v), ">, tooltip=", tooltip(describe(v)), spine ? ", group=spine" : "", "];"});
    }

    void draw_inputs() {
        if (inputs_.empty()) return;
        line("  ", {"{ rank=min;"});
        for (std::size_t i = 0; i < inputs_.size(); ++i) draw_input(inputs_[i], i);
        // The residual stream comes in on the left, so that the spine runs there.
        for (std::size_t i = 1; i < inputs_.size(); ++i) {
            line("    ", {"in", std::to_string(i - 1), " -> in", std::to_string(i), " [style=invis];"});
        }
        line("  ", {"}"});
    }

    void draw_input(const InputGroup& group, std::size_t index) {
        const bool residual = group.kind == render::InputKind::residual;
        const std::string_view ink = residual ? colour::residual_text : colour::text;
        const Vertex& first = view_.graph->vertex(group.vertices.front());
        const std::string detail = group.vertices.size() == 1 ? std::string{first.name}
                                                              : render::count_text(group.vertices.size(), "value");
        std::vector<std::string> lines;
        for (const VertexId v : group.vertices) {
            const Vertex& vertex = view_.graph->vertex(v);
            lines.push_back("%" + std::string{vertex.name} + "  " + std::string{vertex.shape} + "  " + std::string{vertex.dtype});
        }
        line("    ", {"in", std::to_string(index), " [shape=box, style=\"rounded,filled\", margin=\"0.12,0.06\", fillcolor=\"",
                      residual ? colour::residual : colour::input_fill, "\", color=\"#777777\", label=<",
                      font(render::fit(render::visible_text(group.label), 40), 11, ink, true), "<BR/>",
                      font(render::fit_middle(render::visible_text(detail), 32), 9, ink), ">, tooltip=", tooltip(lines),
                      residual ? ", group=spine" : "", residual ? link_attribute(links_.before) : std::string{}, "];"});
    }

    /// All branches stand in one frame without border, which keeps them on one side of the spine.
    void draw_branches() {
        line("  ", {"subgraph cluster_branches { label=\"\"; pencolor=\"transparent\"; margin=4;"});
        for (const VertexId v : folded_.nodes) {
            if (outline_.block(v) < 0 && !outline_.on_spine(v)) draw_node(v, "    ");
        }
        for (std::size_t i = 0; i < outline_.blocks.size(); ++i) {
            if (outline_.blocks[i].parent < 0) draw_block(static_cast<int>(i), "    ");
        }
        line("  ", {"}"});
    }

    void draw_block(int index, const std::string& indent) {
        const Block& block = outline_.blocks[static_cast<std::size_t>(index)];
        const render::BlockColours colours = render::block_colours(block.kind);
        const bool outer = block.parent < 0;
        line(indent, {"subgraph cluster_", std::to_string(index), " { label=<", font(block.title, outer ? 13 : 11, colour::text, true),
                      ">; labeljust=l; style=\"rounded,filled\"; fillcolor=\"", outer ? colours.outer : colours.inner, "\"; pencolor=\"",
                      colours.border, "\"; margin=", outer ? "12" : "8", ";"});
        const std::string inner = indent + "  ";
        std::map<std::int64_t, std::vector<VertexId>> lanes;
        for (const VertexId v : block.nodes) {
            const auto lane = outline_.auxiliary.find(v);
            if (lane == outline_.auxiliary.end()) draw_node(v, inner);
            else lanes[lane->second].push_back(v);
        }
        for (const auto& [stream, nodes] : lanes) draw_lane(index, stream, nodes, inner);
        for (std::size_t i = 0; i < outline_.blocks.size(); ++i) {
            if (outline_.blocks[i].parent == index) draw_block(static_cast<int>(i), inner);
        }
        line(indent, {"}"});
    }

    void draw_lane(int block, std::int64_t stream, const std::vector<VertexId>& nodes, const std::string& indent) {
        const std::string number = stream < 0 ? std::string{} : " " + std::to_string(stream);
        line(indent,
             {"subgraph cluster_", std::to_string(block), "_stream", stream < 0 ? "" : std::to_string(stream), " { label=<<I>",
              font("auxiliary stream" + number, 10, colour::quiet_text), "</I>>; labeljust=l; style=\"dashed,filled\"; fillcolor=\"",
              colour::auxiliary_fill, "\"; pencolor=\"", colour::auxiliary_border, "\"; margin=8;"});
        for (const VertexId v : nodes) draw_node(v, indent + "  ");
        line(indent, {"}"});
    }

    void draw_output() {
        if (folded_.outputs.empty()) return;
        std::vector<std::string> names;
        for (const FoldedEdge& edge : folded_.outputs) names.push_back(std::string{view_.graph->vertex(edge.to).name});
        std::string where = render::destination_text(view_);
        if (view_.next >= 0) where = "to " + where;
        line("  ", {"out [shape=box, style=\"rounded,filled\", margin=\"0.12,0.06\", group=spine, fillcolor=\"", colour::residual,
                    "\", color=\"#777777\", label=<", font(where, 11, colour::residual_text, true), "<BR/>",
                    font(render::fit_middle(render::visible_text(names.front()), 32), 9, colour::residual_text),
                    ">, tooltip=", tooltip(names), link_attribute(links_.after), "];"});
    }

    bool spine_edge(VertexId from, VertexId to) const {
        const auto& spine = outline_.spine;
        const auto at = std::find(spine.begin(), spine.end(), to);
        if (at == spine.end()) return false;
        return at == spine.begin() ? is_residual_input(from) : *std::prev(at) == from;
    }

    bool is_residual_input(VertexId v) const {
        return std::any_of(folded_.inputs.begin(), folded_.inputs.end(), [&](const render::ExternalInput& input) {
            return input.vertex == v && input.kind == render::InputKind::residual;
        });
    }

    std::string residual_style() const {
        return "penwidth=3.5, weight=100, arrowsize=0.8, color=\"" + std::string{colour::residual} + "\"";
    }

    int outermost(int block) const {
        const int parent = block < 0 ? -1 : outline_.blocks[static_cast<std::size_t>(block)].parent;
        return parent < 0 ? block : parent;
    }

    /// Edges inside a block are short, and a block stands near what feeds it rather than near what it feeds.
    int edge_weight(VertexId from, VertexId to) const {
        const int a = outline_.block(from);
        const int b = outline_.block(to);
        if (a == b) return a < 0 ? 2 : 8;
        if (b >= 0 && a != b && a != outermost(b) && !(a >= 0 && outermost(a) == outermost(b))) return 4;
        return a >= 0 && b >= 0 && outermost(a) == outermost(b) ? 2 : 1;
    }

    std::string edge_tooltip(VertexId from, const FoldedEdge& edge) const {
        std::vector<std::string> lines{"%" + std::string{view_.graph->vertex(from).name}};
        for (const VertexId v : edge.through) {
            const Vertex& vertex = view_.graph->vertex(v);
            lines.push_back("%" + std::string{vertex.name} + " = " + std::string{vertex.target} + "  " + render::type_text(vertex));
        }
        lines.push_back("%" + std::string{view_.graph->vertex(edge.to).name});
        return tooltip(lines);
    }

    void draw_edges() {
        std::set<std::pair<std::size_t, VertexId>> drawn;
        for (const FoldedEdge& edge : folded_.edges) {
            std::string style;
            if (edge.kind == EdgeKind::memory) style = "style=dashed, ";
            const std::size_t group = input_group_of(edge.from);
            const bool from_input = group < inputs_.size();
            if (from_input && !drawn.insert({group, edge.to}).second) continue;
            if (spine_edge(edge.from, edge.to)) {
                style += residual_style();
            } else if (from_input) {
                const bool residual = inputs_[group].kind == render::InputKind::residual;
                style += residual ? "penwidth=1.5, color=\"" + std::string{colour::residual} + "\""
                                  : "penwidth=0.8, color=\"" + std::string{colour::input_edge} + "\"";
            } else {
                style += "weight=" + std::to_string(edge_weight(edge.from, edge.to));
            }
            const std::string from = from_input ? "in" + std::to_string(group) : id(edge.from);
            line("  ", {from, " -> ", id(edge.to), " [", style, ", edgetooltip=", edge_tooltip(edge.from, edge), "];"});
        }
        std::set<VertexId> sources;
        for (const FoldedEdge& edge : folded_.outputs) {
            if (sources.insert(edge.from).second) line("  ", {id(edge.from), " -> out [", residual_style(), "];"});
        }
    }

    std::size_t input_group_of(VertexId v) const {
        std::size_t i = 0;
        while (i < inputs_.size() && std::find(inputs_[i].vertices.begin(), inputs_[i].vertices.end(), v) == inputs_[i].vertices.end()) ++i;
        return i;
    }

    void draw_unattributed() {
        const std::string table = unattributed_table(view_);
        if (table.empty()) return;
        line("  ", {"unattributed [label=<", table, ">];"});
        if (!folded_.outputs.empty()) line("  ", {"{ rank=same; out -> unattributed [style=invis]; }"});
    }

    static std::string row(std::string_view content) { return "<TR><TD ALIGN=\"LEFT\">" + std::string{content} + "</TD></TR>"; }

    std::string title() const {
        std::string rows = row(font(render::layer_title(view_, pipeline_), 22, colour::text, true));
        if (view_.has_trace()) {
            rows += row(font(render::steps_line(view_) + " · ", 13, colour::text) + font(render::time_line(view_), 13, colour::text, true) +
                        font(" · " + render::coverage_line(view_), 13, colour::text));
        }
        rows += row(font(render::source_line(view_), 10, colour::quiet_text));
        rows += row(legend());
        return R"(<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="2">)" + rows + "</TABLE>";
    }

    std::string legend() const {
        std::string cells;
        const auto add = [&](std::string_view attributes, const std::string& content) {
            cells += "<TD " + std::string{attributes} + ">" + content + "</TD>";
        };
        const auto quiet = [](std::string_view text) { return font(text, 9, colour::quiet_text); };
        if (!view_.kernels.empty()) {
            add("", quiet("share of the layer’s time"));
            for (const render::HeatStep& step : render::heat_scale()) {
                add("BORDER=\"1\" COLOR=\"#999999\" BGCOLOR=\"" + std::string{step.shade.fill} + "\"",
                    font(step.label, 9, step.shade.text));
            }
            std::set<std::string_view> styles;
            for (const render::KernelUse& kernel : view_.kernels) styles.insert(evidence_style(kernel.evidence));
            add("", quiet("   evidence"));
            const std::pair<std::string_view, std::string_view> known[] = {{"SOLID", "lineage, annotation"},
                                                                           {"DASHED", "companion, sequence"},
                                                                           {"DOTTED", "name"}};
            for (const auto& [style, meaning] : known) {
                if (styles.count(style) != 0) {
                    add("", R"(<TABLE BORDER="1" CELLBORDER="0" CELLSPACING="0" CELLPADDING="2" COLOR="#777777" STYLE=")" +
                                std::string{style} + "\"><TR><TD>" + quiet(meaning) + "</TD></TR></TABLE>");
                }
            }
        }
        const bool has_memory = std::any_of(folded_.edges.begin(), folded_.edges.end(),
                                            [](const FoldedEdge& edge) { return edge.kind == EdgeKind::memory; });
        if (has_memory) add("", quiet("   dashed arrow: through memory written in place"));
        if (cells.empty()) add("", quiet("no trace: structure only"));
        return R"(<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="2" CELLPADDING="2"><TR>)" + cells + "</TR></TABLE>";
    }

    const LayerView& view_;
    std::string_view pipeline_;
    const Links& links_;
    render::FoldedLayer folded_;
    render::Outline outline_;
    std::vector<InputGroup> inputs_;
    std::string out_;
};

}  // namespace

std::string layer_dot(const LayerView& view, render::Fold fold, std::string_view pipeline, const Links& links) {
    return Picture(view, fold, pipeline, links).text();
}

std::string link_attribute(std::string_view file) { return file.empty() ? std::string{} : ", URL=" + render::dot_string(file); }

}  // namespace adpipe::render_dot
