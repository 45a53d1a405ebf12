#include <adpipe/render/report.hpp>

#include <adpipe/render/labels.hpp>
#include <adpipe/render/number.hpp>
#include <adpipe/render/outline.hpp>
#include <adpipe/render/text.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace adpipe::render {

namespace {

std::string value_text(const LayerView& view, VertexId v) {
    const Vertex& vertex = view.graph->vertex(v);
    const std::string type = type_text(vertex);
    return "%" + std::string{vertex.name} + (type.empty() ? "" : "  " + type);
}

std::string spread_text(const Spread& spread) {
    std::string text = duration_text(spread.median);
    if (spread.count > 1) text += " (" + duration_text(spread.minimum) + " to " + duration_text(spread.maximum) + ")";
    return text;
}

std::string markdown_table(const LayerView& view, Fold fold) {
    std::string out = "| part | node | kernel | stream | median µs | min | max | share | evidence |\n";
    out += "|---|---|---|---:|---:|---:|---:|---:|---|\n";
    for (const ReportPart& part : report_parts(view, fold)) {
        std::string head = part.head;
        for (const ReportLine& line : part.lines) {
            out += "| " + markdown_cell(std::exchange(head, {})) + " | " + markdown_cell(line.node) + " | " + markdown_cell(line.kernel) +
                   " | " + (line.stream < 0 ? "-" : std::to_string(line.stream)) + " | " + microseconds_text(line.time.median) + " | " +
                   microseconds_text(line.time.minimum) + " | " + microseconds_text(line.time.maximum) + " | " +
                   percent_text(line.time.median, view.times.sum) + " | " + line.evidence + " |\n";
        }
    }
    out += "| **sum** | | | | **" + microseconds_text(view.times.sum) + "** | | | **100 %** | |\n";
    return out;
}

}  // namespace

std::vector<ReportPart> report_parts(const LayerView& view, Fold fold) {
    const FoldedLayer folded = fold_layer(view, fold);
    const Outline outline = outline_layer(view, folded);
    std::vector<ReportPart> parts;
    for (const Section& section : sections_of(view, folded, outline)) {
        ReportPart part{section.head, 0, {}};
        for (const VertexId v : section.nodes) {
            std::string node = label_node(view, v).title;
            for (const std::uint32_t i : view.kernels_of(v)) {
                const KernelUse& kernel = view.kernels[i];
                part.time += kernel.time.median;
                part.lines.push_back(
                    {std::exchange(node, {}), kernel.name, kernel.stream, kernel.time, std::string{evidence_text(kernel.evidence)}});
            }
        }
        if (!part.lines.empty()) parts.push_back(std::move(part));
    }
    ReportPart nowhere{"On no node", view.times.unattributed, {}};
    for (const KernelUse& kernel : view.kernels) {
        if (kernel.node == no_vertex)
            nowhere.lines.push_back({"-", kernel.name, kernel.stream, kernel.time, std::string{evidence_text(kernel.evidence)}});
    }
    if (!nowhere.lines.empty()) parts.push_back(std::move(nowhere));
    return parts;
}

/// "47 nodes: mla 21, moe 11, norm 8".
std::string nodes_line(const LayerView& view) {
    std::map<Group, std::size_t> counts;
    for (const VertexId v : view.nodes) ++counts[view.membership(v).group];
    std::vector<std::pair<Group, std::size_t>> sorted(counts.begin(), counts.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second != b.second ? a.second > b.second : b.first == Group::other; });
    std::string line = count_text(view.nodes.size(), "node");
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        line += (i == 0 ? ": " : ", ") + std::string{group_text(sorted[i].first)} + " " + count_text(sorted[i].second);
    }
    return line;
}

/// What feeds the layer and what it feeds: (label, text) lines.
std::vector<LabelledText> boundary_lines(const LayerView& view) {
    std::vector<LabelledText> lines;
    std::string others;
    for (const InputGroup& group : group_inputs(view.inputs)) {
        if (group.kind == InputKind::residual) {
            for (const VertexId v : group.vertices) lines.push_back({"in", value_text(view, v) + "  " + group.label});
        } else {
            others += (others.empty() ? "" : ", ") + group.label;
            if (group.vertices.size() > 1) others += " (" + std::to_string(group.vertices.size()) + ")";
        }
    }
    if (!others.empty()) lines.push_back({lines.empty() ? "in" : "", others});
    for (const VertexId v : view.boundary_out) {
        lines.push_back({"out", value_text(view, v) + "  " + (view.next >= 0 ? "to " : "") + destination_text(view)});
    }
    return lines;
}

/// Totals, shown to add up: (label, text) lines.
namespace {

/// The reasons with the most time; those that many kernels have one by one are added up.
void add_reasons(std::vector<LabelledText>& lines, const std::string& label, std::vector<Unattributed> reasons) {
    constexpr std::size_t most_shown = 6;
    std::stable_sort(reasons.begin(), reasons.end(), [](const Unattributed& a, const Unattributed& b) { return a.time > b.time; });
    Unattributed rest;
    const bool all = reasons.size() <= most_shown + 1;
    for (std::size_t i = 0; i < reasons.size(); ++i) {
        const Unattributed& entry = reasons[i];
        if (!all && i >= most_shown) {
            rest.time += entry.time;
            rest.kernels += entry.kernels;
            continue;
        }
        lines.push_back({label, duration_text(entry.time) + ", " + count_text(entry.kernels, "kernel") + ": " +
                                    (entry.reason.empty() ? "no reason given" : entry.reason)});
    }
    if (rest.kernels > 0) {
        lines.push_back({label, duration_text(rest.time) + ", " + count_text(rest.kernels, "kernel") + ": " +
                                    count_text(reasons.size() - most_shown, "further reason") + ", all in the layer JSON"});
    }
}

}  // namespace

std::vector<LabelledText> total_lines(const LayerView& view) {
    const LayerTimes& times = view.times;
    std::vector<LabelledText> lines;
    lines.push_back({"sum", duration_text(times.sum) + " = " + duration_text(times.attributed) + " on nodes + " +
                                duration_text(times.unattributed) + " on none; medians of " + count_text(view.kernels.size(), "kernel")});
    const auto partial = std::count_if(view.kernels.begin(), view.kernels.end(),
                                       [&](const KernelUse& kernel) { return kernel.time.count < times.steps.size(); });
    if (partial > 0) {
        lines.push_back({"", count_text(static_cast<std::size_t>(partial), "kernel") + (partial == 1 ? " is" : " are") +
                                 " not in every step: the steps differ, and no one step has this sum"});
    }
    lines.push_back({"per step", "sum " + spread_text(times.step_sum) + ", wall " + spread_text(times.wall)});
    add_reasons(lines, "on no node", times.unattributed_by_reason);
    if (times.outside > 0) {
        lines.push_back({"in no layer", duration_text(times.outside) + " of each step is in no known layer, so in none of their sums"});
        add_reasons(lines, "", times.outside_by_reason);
    }
    return lines;
}

std::string markdown_report(const LayerView& view, Fold fold, std::string_view pipeline) {
    std::string out = "### " + markdown_cell(layer_title(view, pipeline)) + "\n\n";
    for (const auto& [label, text] : boundary_lines(view)) {
        out += "- " + (label.empty() ? std::string{"also in"} : label) + ": " + markdown_cell(text) + "\n";
    }
    out += "- " + markdown_cell(nodes_line(view)) + "\n";
    if (!view.has_trace()) return out;
    out += "- window: " + markdown_cell(view.attribution->window->description) + "\n";
    out += "- shown: " + markdown_cell(steps_line(view)) + "\n\n" + markdown_table(view, fold) + "\n";
    for (const auto& [label, text] : total_lines(view)) {
        out += "- " + (label.empty() ? std::string{} : label + ": ") + markdown_cell(text) + "\n";
    }
    return out;
}

}  // namespace adpipe::render
