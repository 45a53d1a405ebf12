#include "report.hpp"

#include <adpipe/render/labels.hpp>
#include <adpipe/render/number.hpp>
#include <adpipe/render/outline.hpp>
#include <adpipe/render/text.hpp>
#include <adpipe/render/text_table.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace adpipe::render_table {

namespace {

using render::Emphasis;
using render::KernelUse;
using render::LayerView;
using render::Spread;
using render::TextTable;

/// One line of the table of kernels, for every format.
struct Line {
    std::string node;    ///< empty on the second and further kernels of a node
    std::string kernel;
    std::int64_t stream = -1;
    Spread time;
    std::string evidence;
};
struct Part {
    std::string head;
    Nanoseconds time = 0;
    std::vector<Line> lines;
};

std::vector<Part> parts_of(const LayerView& view, render::Fold fold) {
    const render::FoldedLayer folded = render::fold_layer(view, fold);
    const render::Outline outline = render::outline_layer(view, folded);
    std::vector<Part> parts;
    for (const render::Section& section : render::sections_of(view, folded, outline)) {
        Part part{section.head, 0, {}};
        for (const VertexId v : section.nodes) {
            std::string node = render::label_node(view, v).title;
            for (const std::uint32_t i : view.kernels_of(v)) {
                const KernelUse& kernel = view.kernels[i];
                part.time += kernel.time.median;
                part.lines.push_back({std::exchange(node, {}), kernel.name, kernel.stream, kernel.time, std::string{evidence_text(kernel.evidence)}});
            }
        }
        if (!part.lines.empty()) parts.push_back(std::move(part));
    }
    Part nowhere{"On no node", view.times.unattributed, {}};
    for (const KernelUse& kernel : view.kernels) {
        if (kernel.node == no_vertex) nowhere.lines.push_back({"-", kernel.name, kernel.stream, kernel.time, std::string{evidence_text(kernel.evidence)}});
    }
    if (!nowhere.lines.empty()) parts.push_back(std::move(nowhere));
    return parts;
}

/// "47 nodes: mla 21, moe 11, norm 8".
std::string nodes_line(const LayerView& view) {
    std::map<Group, std::size_t> counts;
    for (const VertexId v : view.nodes) ++counts[view.membership(v).group];
    std::vector<std::pair<Group, std::size_t>> sorted(counts.begin(), counts.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string line = render::count_text(view.nodes.size(), "node");
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        line += (i == 0 ? ": " : ", ") + std::string{group_text(sorted[i].first)} + " " + render::count_text(sorted[i].second);
    }
    return line;
}

std::string value_text(const LayerView& view, VertexId v) {
    const Vertex& vertex = view.graph->vertex(v);
    const std::string type = render::type_text(vertex);
    return "%" + std::string{vertex.name} + (type.empty() ? "" : "  " + type);
}

/// What feeds the layer and what it feeds: (label, text) lines.
std::vector<std::pair<std::string, std::string>> boundary_lines(const LayerView& view) {
    std::vector<std::pair<std::string, std::string>> lines;
    std::string others;
    for (const render::InputGroup& group : render::group_inputs(view.inputs)) {
        if (group.kind == render::InputKind::residual) {
            for (const VertexId v : group.vertices) lines.push_back({"in", value_text(view, v) + "  " + group.label});
        } else {
            others += (others.empty() ? "" : ", ") + group.label;
            if (group.vertices.size() > 1) others += " (" + std::to_string(group.vertices.size()) + ")";
        }
    }
    if (!others.empty()) lines.push_back({lines.empty() ? "in" : "", others});
    for (const VertexId v : view.boundary_out) {
        lines.push_back({"out", value_text(view, v) + "  " + (view.next >= 0 ? "to " : "") + render::destination_text(view)});
    }
    return lines;
}

std::string spread_text(const Spread& spread) {
    std::string text = render::duration_text(spread.median);
    if (spread.count > 1) text += " (" + render::duration_text(spread.minimum) + " to " + render::duration_text(spread.maximum) + ")";
    return text;
}

/// Totals, shown to add up: (label, text) lines.
std::vector<std::pair<std::string, std::string>> total_lines(const LayerView& view) {
    const render::LayerTimes& times = view.times;
    std::vector<std::pair<std::string, std::string>> lines;
    lines.push_back({"sum", render::duration_text(times.sum) + " = " + render::duration_text(times.attributed) + " on nodes + " +
                                render::duration_text(times.unattributed) + " on none; medians of " + render::count_text(view.kernels.size(), "kernel")});
    lines.push_back({"per step", "sum " + spread_text(times.step_sum) + ", wall " + spread_text(times.wall)});
    for (const render::Unattributed& entry : times.unattributed_by_reason) {
        lines.push_back({"on no node", render::duration_text(entry.time) + ", " + render::count_text(entry.kernels, "kernel") + ": " +
                                           (entry.reason.empty() ? "no reason given" : entry.reason)});
    }
    if (times.outside > 0) {
        lines.push_back({"in no layer", render::duration_text(times.outside) + " of each step is in no known layer, so in none of their sums"});
        for (const render::Unattributed& entry : times.outside_by_reason) {
            lines.push_back({"", render::duration_text(entry.time) + ", " + render::count_text(entry.kernels, "kernel") + ": " +
                                     (entry.reason.empty() ? "no reason given" : entry.reason)});
        }
    }
    return lines;
}

Emphasis emphasis_of(Nanoseconds part, Nanoseconds whole) {
    if (whole <= 0) return Emphasis::none;
    const double share = static_cast<double>(part) / static_cast<double>(whole);
    return share >= 0.08 ? Emphasis::hot : share >= 0.04 ? Emphasis::warm : Emphasis::none;
}

std::string labelled(const std::vector<std::pair<std::string, std::string>>& lines, int label_width, int width, bool colour) {
    std::string out;
    for (const auto& [label, text] : lines) {
        out += render::emphasised(render::pad_right(label, label_width), Emphasis::quiet, colour) + "  " +
               render::fit(render::visible_text(text), width - label_width - 2) + "\n";
    }
    return out;
}

std::string kernels_table(const LayerView& view, render::Fold fold, int width, bool colour) {
    const bool streams = view.times.streams.size() > 1;
    std::vector<TextTable::Column> columns{{"node", false, 16, 60}, {"kernel", false, 16, 60}};
    if (streams) columns.push_back({.head = "stream", .right = true, .gap = 1});
    for (const char* head : {"median", "min", "max", "share"}) columns.push_back({.head = head, .right = true, .gap = 1});
    columns.push_back({"evidence"});
    TextTable table(columns);
    for (const Part& part : parts_of(view, fold)) {
        std::vector<TextTable::Cell> head{{part.head, Emphasis::strong}, {}};
        if (streams) head.push_back({});
        head.push_back({render::microseconds_text(part.time), Emphasis::strong});
        head.insert(head.end(), {TextTable::Cell{}, TextTable::Cell{}});
        head.push_back({render::percent_text(part.time, view.times.sum), Emphasis::strong});
        table.add_heading(std::move(head));
        for (const Line& line : part.lines) {
            std::vector<TextTable::Cell> cells{{line.node.empty() ? "" : "  " + line.node}, {line.kernel}};
            if (streams) cells.push_back({line.stream < 0 ? "-" : std::to_string(line.stream)});
            cells.push_back({render::microseconds_text(line.time.median)});
            cells.push_back({render::microseconds_text(line.time.minimum)});
            cells.push_back({render::microseconds_text(line.time.maximum)});
            cells.push_back({render::percent_text(line.time.median, view.times.sum), emphasis_of(line.time.median, view.times.sum)});
            cells.push_back({line.evidence, Emphasis::quiet});
            table.add_row(std::move(cells));
        }
    }
    table.add_rule();
    std::vector<TextTable::Cell> sum{{"sum", Emphasis::strong}, {}};
    if (streams) sum.push_back({});
    sum.push_back({render::microseconds_text(view.times.sum), Emphasis::strong});
    sum.insert(sum.end(), {TextTable::Cell{}, TextTable::Cell{}});
    sum.push_back({"100 %", Emphasis::strong});
    table.add_heading(std::move(sum));
    return table.text(width, colour);
}

/// Without a trace: the nodes themselves.
std::string nodes_table(const LayerView& view, render::Fold fold, int width, bool colour) {
    const render::FoldedLayer folded = render::fold_layer(view, fold);
    const render::Outline outline = render::outline_layer(view, folded);
    TextTable table({{"node", false, 16, 60}, {"op or weight", false, 12, 60}, {"type", false, 10, 50}, {"name", false, 12, 80}});
    for (const render::Section& section : render::sections_of(view, folded, outline)) {
        table.add_heading({{section.head, Emphasis::strong}});
        for (const VertexId v : section.nodes) {
            const render::NodeLabel label = render::label_node(view, v);
            table.add_row({{"  " + label.title}, {label.detail}, {label.type, Emphasis::quiet},
                           {"%" + std::string{view.graph->vertex(v).name}, Emphasis::quiet}});
        }
    }
    return table.text(width, colour);
}

}  // namespace

std::string terminal_report(const LayerView& view, render::Fold fold, std::string_view pipeline, const Terminal& terminal) {
    const int width = std::max(60, terminal.is_terminal ? terminal.columns : 100);
    const bool colour = terminal.colour;
    std::string out = render::emphasised(render::fit(render::visible_text(render::layer_title(view, pipeline)), width), Emphasis::strong, colour) + "\n";
    std::vector<std::pair<std::string, std::string>> head{{"nodes", nodes_line(view)}};
    for (auto& line : boundary_lines(view)) head.push_back(std::move(line));
    if (view.has_trace()) {
        head.push_back({"window", view.attribution->window->description});
        head.push_back({"shown", render::steps_line(view) + ", in µs"});
    }
    out += labelled(head, 6, width, colour) + "\n";
    if (!view.has_trace()) return out + nodes_table(view, fold, width, colour);
    if (view.kernels.empty()) return out + "the chosen steps hold no kernel of this layer\n" + labelled(total_lines(view), 11, width, colour);
    out += kernels_table(view, fold, width, colour) + "\n";
    return out + labelled(total_lines(view), 11, width, colour);
}

std::string markdown_report(const LayerView& view, render::Fold fold, std::string_view pipeline) {
    using render::markdown_cell;
    std::string out = "### " + markdown_cell(render::layer_title(view, pipeline)) + "\n\n";
    for (const auto& [label, text] : boundary_lines(view)) {
        out += "- " + (label.empty() ? std::string{"also in"} : label) + ": " + markdown_cell(text) + "\n";
    }
    out += "- " + markdown_cell(nodes_line(view)) + "\n";
    if (!view.has_trace()) return out;
    out += "- window: " + markdown_cell(view.attribution->window->description) + "\n";
    out += "- shown: " + markdown_cell(render::steps_line(view)) + "\n\n";
    out += "| part | node | kernel | stream | median µs | min | max | share | evidence |\n";
    out += "|---|---|---|---:|---:|---:|---:|---:|---|\n";
    for (const Part& part : parts_of(view, fold)) {
        std::string head = part.head;
        for (const Line& line : part.lines) {
            out += "| " + markdown_cell(std::exchange(head, {})) + " | " + markdown_cell(line.node) + " | " + markdown_cell(line.kernel) +
                   " | " + (line.stream < 0 ? "-" : std::to_string(line.stream)) + " | " + render::microseconds_text(line.time.median) +
                   " | " + render::microseconds_text(line.time.minimum) + " | " + render::microseconds_text(line.time.maximum) + " | " +
                   render::percent_text(line.time.median, view.times.sum) + " | " + line.evidence + " |\n";
        }
    }
    out += "| **sum** | | | | **" + render::microseconds_text(view.times.sum) + "** | | | **100 %** | |\n\n";
    for (const auto& [label, text] : total_lines(view)) {
        out += "- " + (label.empty() ? std::string{} : label + ": ") + markdown_cell(text) + "\n";
    }
    return out;
}

}  // namespace adpipe::render_table
