#include "node_table.hpp"

#include <adpipe/render/labels.hpp>
#include <adpipe/render/number.hpp>
#include <adpipe/render/palette.hpp>
#include <adpipe/render/text.hpp>

#include <algorithm>
#include <utility>

namespace adpipe::render_dot {

namespace {

using render::KernelUse;
using render::LayerView;

constexpr std::size_t shown_kernels = 8;
constexpr int longest_text = 40;
constexpr int longest_fact = 30;
constexpr int longest_reason = 90;

std::string cell(std::string_view attributes, std::string_view content) {
    return "<TD " + std::string{attributes} + ">" + std::string{content} + "</TD>";
}

std::string small(std::string_view text) {
    return font(render::fit(render::visible_text(text), longest_fact), 9, render::colour::quiet_text);
}

std::string kernel_row(std::string_view name, std::string_view time, int longest = longest_text - 4) {
    return "<TR>" + cell(R"(ALIGN="LEFT")", font(render::fit(render::visible_text(name), longest), 10, render::colour::text)) +
           cell(R"(ALIGN="RIGHT")", font("  " + std::string{time}, 10, render::colour::text)) + "</TR>";
}

std::string kernel_box(std::string_view style, const std::string& rows) {
    return R"(<TABLE BORDER="1" CELLBORDER="0" CELLSPACING="0" CELLPADDING="1" COLOR="#777777" BGCOLOR=")" +
           std::string{render::colour::kernel_fill} + R"(" STYLE=")" + std::string{style} + "\">" + rows + "</TABLE>";
}

/// One frame for each run of kernels with evidence of the same strength.
std::string kernel_boxes(const LayerView& view, VertexId v) {
    std::string boxes;
    std::string rows;
    std::string_view style;
    const auto close = [&] {
        if (!rows.empty()) boxes += "<TR>" + cell(R"(CELLPADDING="1")", kernel_box(style, rows)) + "</TR>";
        rows.clear();
    };
    const auto kernels = view.kernels_of(v);
    for (std::size_t i = 0; i < std::min(kernels.size(), shown_kernels); ++i) {
        const KernelUse& kernel = view.kernels[kernels[i]];
        if (evidence_style(kernel.evidence) != style) close();
        style = evidence_style(kernel.evidence);
        rows += kernel_row(kernel.name, render::duration_text(kernel.time.median));
    }
    if (kernels.size() > shown_kernels) {
        Nanoseconds rest = 0;
        for (std::size_t i = shown_kernels; i < kernels.size(); ++i) rest += view.kernels[kernels[i]].time.median;
        rows += kernel_row("… " + std::to_string(kernels.size() - shown_kernels) + " more", render::duration_text(rest));
    }
    close();
    return R"(<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0">)" + boxes + "</TABLE>";
}

std::string readers_text(const std::vector<LayerId>& readers) {
    std::string text = "→ also read by";
    for (std::size_t i = 0; i < readers.size() && i < 4; ++i) {
        text += (i == 0 ? " " : ", ") + (readers[i] >= 0 ? "layer " + layer_text(readers[i]) : std::string{"the epilogue"});
    }
    return readers.size() > 4 ? text + ", …" : text;
}

/// What stands beside the kernels: op or weights, type, who else reads it, whose kernel serves it.
std::string facts(const LayerView& view, const render::NodeLabel& label, VertexId v) {
    std::vector<std::string> lines;
    for (const std::string& text : {label.detail, label.type}) {
        if (!text.empty()) lines.push_back(text);
    }
    if (!view.contains(v)) lines.push_back("counted in layer " + layer_text(view.membership(v).layer));
    for (const std::uint32_t i : view.shared_kernels_of(v)) {
        const VertexId carrier = view.kernels[i].node;
        lines.push_back("↳ in the kernel of " + render::label_node(view, carrier).title);
    }
    const auto readers = view.other_readers_of(v);
    if (!readers.empty() && view.contains(v)) lines.push_back(readers_text(readers));
    std::string out;
    for (const std::string& line : lines) {
        if (!out.empty()) out += R"(<BR ALIGN="LEFT"/>)";
        out += small(line);
    }
    return out;
}

std::string head(const LayerView& view, const std::string& title, VertexId v) {
    const std::string_view background = view.kernels_of(v).empty() ? render::colour::quiet_node_fill
                                                                   : render::heat(view.time_of(v), view.times.sum).shade.fill;
    const std::string_view ink = view.kernels_of(v).empty() ? render::colour::text
                                                            : render::heat(view.time_of(v), view.times.sum).shade.text;
    std::string cells = cell(R"(ALIGN="LEFT")", font(render::fit(render::visible_text(title), longest_text), 11, ink, true));
    if (!view.kernels_of(v).empty()) {
        cells += cell(R"(ALIGN="RIGHT")", font(render::duration_text(view.time_of(v)), 11, ink, true) +
                                              font("  " + render::percent_text(view.time_of(v), view.times.sum), 11, ink));
    }
    return "<TR>" +
           cell(R"(COLSPAN="2" CELLPADDING="0" BGCOLOR=")" + std::string{background} + "\"",
                R"(<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="3"><TR>)" + cells + "</TR></TABLE>") +
           "</TR>";
}

void append_reasons(std::string& rows, const std::vector<render::Unattributed>& list, std::string_view where) {
    for (std::size_t i = 0; i < std::min<std::size_t>(list.size(), 5); ++i) {
        const std::string reason = list[i].reason.empty() ? std::string{"no reason given"} : list[i].reason;
        rows += kernel_row(std::string{where} + reason + " (" + std::to_string(list[i].kernels) + ")", render::duration_text(list[i].time),
                           longest_reason);
    }
}

}  // namespace

std::string_view evidence_style(Evidence evidence) noexcept {
    switch (evidence) {
        case Evidence::lineage:
        case Evidence::annotation: return "SOLID";
        case Evidence::companion:
        case Evidence::sequence: return "DASHED";
        case Evidence::name:
        case Evidence::none: return "DOTTED";
    }
    return "DOTTED";
}

std::string font(std::string_view text, int size, std::string_view colour, bool bold) {
    const std::string content = bold ? "<B>" + render::xml_text(text) + "</B>" : render::xml_text(text);
    return "<FONT POINT-SIZE=\"" + std::to_string(size) + "\" COLOR=\"" + std::string{colour} + "\">" + content + "</FONT>";
}

std::string node_table(const LayerView& view, const render::Outline& outline, VertexId v) {
    const render::NodeLabel label = render::label_node(view, v);
    const std::string left = facts(view, label, v);
    const bool has_kernels = !view.kernels_of(v).empty();
    std::string rows = head(view, label.title, v);
    if (has_kernels || !left.empty()) {
        std::string cells;
        const std::string_view span = has_kernels ? "" : R"( COLSPAN="2")";
        if (!left.empty()) cells += cell(R"(ALIGN="LEFT" BALIGN="LEFT" VALIGN="TOP")" + std::string{span}, left);
        if (has_kernels) cells += cell(left.empty() ? R"(COLSPAN="2")" : R"(ALIGN="RIGHT")", kernel_boxes(view, v));
        rows += "<TR>" + cells + "</TR>";
    }
    const bool on_spine = outline.on_spine(v);
    return R"(<TABLE BORDER=")" + std::string{on_spine ? "2" : "1"} + R"(" CELLBORDER="0" CELLSPACING="0" CELLPADDING="3" COLOR=")" +
           std::string{on_spine ? render::colour::residual : render::colour::node_border} + R"(" BGCOLOR=")" +
           std::string{render::colour::node_fill} + "\"" + (view.contains(v) ? "" : R"( STYLE="DASHED")") + ">" + rows + "</TABLE>";
}

std::string unattributed_table(const LayerView& view) {
    if (!view.has_trace() || (view.times.unattributed == 0 && view.times.outside == 0)) return {};
    std::string rows = "<TR>" + cell(R"(COLSPAN="2" ALIGN="LEFT")", font("Time on no node", 11, render::colour::text, true)) + "</TR>";
    append_reasons(rows, view.times.unattributed_by_reason, "in this layer: ");
    append_reasons(rows, view.times.outside_by_reason, "in no known layer: ");
    return R"(<TABLE BORDER="1" CELLBORDER="0" CELLSPACING="0" CELLPADDING="2" STYLE="DOTTED" COLOR="#444444" BGCOLOR=")" +
           std::string{render::colour::unattributed_fill} + "\">" + rows + "</TABLE>";
}

}  // namespace adpipe::render_dot
