#include "report.hpp"

#include <adpipe/render/labels.hpp>
#include <adpipe/render/number.hpp>
#include <adpipe/render/outline.hpp>
#include <adpipe/render/report.hpp>
#include <adpipe/render/text.hpp>
#include <adpipe/render/text_table.hpp>

#include <algorithm>
#include <utility>

namespace adpipe::render_table {

namespace {

using render::Emphasis;
using render::LayerView;
using render::TextTable;

Emphasis emphasis_of(Nanoseconds part, Nanoseconds whole) {
    if (whole <= 0) return Emphasis::none;
    const double share = static_cast<double>(part) / static_cast<double>(whole);
    return share >= 0.08 ? Emphasis::hot : share >= 0.04 ? Emphasis::warm : Emphasis::none;
}

std::string labelled(const std::vector<render::LabelledText>& lines, int label_width, int width, bool colour) {
    std::string out;
    for (const auto& [label, text] : lines) {
        std::string head = render::emphasised(render::pad_right(label, label_width), Emphasis::quiet, colour) + "  ";
        for (const std::string& line : render::wrapped(render::visible_text(text), width - label_width - 2)) {
            out.append(head).append(line).append("\n");
            head.assign(static_cast<std::size_t>(label_width) + 2, ' ');
        }
    }
    return out;
}

/// The evidence of all kernels, if it is one: then it need not be said line by line.
std::string common_evidence(const std::vector<render::ReportPart>& parts) {
    const std::string* common = nullptr;
    for (const render::ReportPart& part : parts) {
        for (const render::ReportLine& line : part.lines) {
            if (common != nullptr && *common != line.evidence) return {};
            common = &line.evidence;
        }
    }
    return common != nullptr ? *common : std::string{};
}

double longest(const std::vector<render::ReportPart>& parts) {
    Nanoseconds most = 0;
    for (const render::ReportPart& part : parts) {
        for (const render::ReportLine& line : part.lines) most = std::max(most, line.time.median);
    }
    return static_cast<double>(most);
}

std::string kernels_table(const LayerView& view, const std::vector<render::ReportPart>& parts, int width, bool colour) {
    constexpr int least_width_for_bars = 90;
    const bool mixed_evidence = common_evidence(parts).empty();
    const double most = longest(parts);
    const bool streams = view.times.streams.size() > 1;
    std::vector<TextTable::Column> columns{{"node", false, 10, 60}, {"kernel", false, 10, 60}};
    if (streams) columns.push_back({.head = "stream", .right = true, .gap = 1});
    for (const char* head : {"median", "min", "max", "share"}) columns.push_back({.head = head, .right = true, .gap = 1});
    const bool bars = width >= least_width_for_bars;
    if (bars) columns.push_back({.head = "", .gap = 1});
    if (mixed_evidence) columns.push_back({.head = "evidence", .gap = 1});
    TextTable table(columns);
    for (const render::ReportPart& part : parts) {
        std::vector<TextTable::Cell> head{{part.head, Emphasis::strong}, {}};
        if (streams) head.push_back({});
        head.push_back({render::microseconds_text(part.time), Emphasis::strong});
        head.insert(head.end(), {TextTable::Cell{}, TextTable::Cell{}});
        head.push_back({render::percent_text(part.time, view.times.sum), Emphasis::strong});
        table.add_heading(std::move(head));
        for (const render::ReportLine& line : part.lines) {
            std::vector<TextTable::Cell> cells{{line.node.empty() ? "" : "  " + line.node}, {line.kernel}};
            if (streams) cells.push_back({line.stream < 0 ? "-" : std::to_string(line.stream)});
            cells.push_back({render::microseconds_text(line.time.median)});
            cells.push_back({render::microseconds_text(line.time.minimum)});
            cells.push_back({render::microseconds_text(line.time.maximum)});
            cells.push_back({render::percent_text(line.time.median, view.times.sum), emphasis_of(line.time.median, view.times.sum)});
            if (bars) cells.push_back(render::bar_cell(static_cast<double>(line.time.median), most));
            if (mixed_evidence) cells.push_back({line.evidence, Emphasis::quiet});
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
            table.add_row({{"  " + label.title},
                           {label.detail},
                           {label.type, Emphasis::quiet},
                           {"%" + std::string{view.graph->vertex(v).name}, Emphasis::quiet}});
        }
    }
    return table.text(width, colour);
}

}  // namespace

std::string terminal_report(const LayerView& view, render::Fold fold, std::string_view pipeline, const Terminal& terminal) {
    const int width = std::max(60, terminal.is_terminal ? terminal.columns : 100);
    const bool colour = terminal.colour;
    std::string out = render::emphasised(render::fit(render::visible_text(render::layer_title(view, pipeline)), width), Emphasis::strong,
                                         colour) +
                      "\n";
    std::vector<render::LabelledText> head{{"nodes", render::nodes_line(view)}};
    for (auto& line : render::boundary_lines(view)) head.push_back(std::move(line));
    std::vector<render::ReportPart> parts;
    if (view.has_trace()) {
        head.push_back({"window", view.attribution->window->description});
        head.push_back({"shown", render::steps_line(view) + ", in µs"});
        parts = render::report_parts(view, fold);
        if (const std::string evidence = common_evidence(parts); !evidence.empty())
            head.push_back({"known", "all kernels by evidence '" + evidence + "'"});
    }
    out += labelled(head, 6, width, colour) + "\n";
    if (!view.has_trace()) return out + nodes_table(view, fold, width, colour);
    if (view.kernels.empty())
        return out + "the chosen steps hold no kernel of this layer\n" + labelled(render::total_lines(view), 11, width, colour);
    out += kernels_table(view, parts, width, colour) + "\n";
    return out + labelled(render::total_lines(view), 11, width, colour);
}

}  // namespace adpipe::render_table
