#pragma once

// The pieces of a report on a layer, the same in the terminal, in Markdown and wherever else people read one. Raw text, not escaped. Pure
// functions, any thread.

#include <adpipe/export.hpp>
#include <adpipe/render/folding.hpp>
#include <adpipe/render/layer_view.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace adpipe::render {

/// A kernel of a node.
struct ReportLine {
    std::string node;    ///< empty on the second and further kernels of a node; "-": on no node
    std::string kernel;  ///< short name
    std::int64_t stream = -1;
    Spread time;
    std::string evidence;
};
/// A block of the layer with the kernels of its nodes.
struct ReportPart {
    std::string head;
    Nanoseconds time = 0;  ///< sum of the medians of its lines
    std::vector<ReportLine> lines;
};
/// The parts that launch kernels, in reading order; last, what is on no node.
ADPIPE_EXPORT std::vector<ReportPart> report_parts(const LayerView& view, Fold fold);

using LabelledText = std::pair<std::string, std::string>;
/// What feeds the layer ("in") and what it feeds ("out"); a further line of the same label has an empty one.
ADPIPE_EXPORT std::vector<LabelledText> boundary_lines(const LayerView& view);
/// Totals, shown to add up: "sum" (and whether the steps differ in their kernels), "per step", "on no node" and "in no layer" with the reasons.
ADPIPE_EXPORT std::vector<LabelledText> total_lines(const LayerView& view);
/// "47 nodes: mla 21, moe 11, norm 8".
ADPIPE_EXPORT std::string nodes_line(const LayerView& view);

/// The report as a piece of a Markdown page.
ADPIPE_EXPORT std::string markdown_report(const LayerView& view, Fold fold, std::string_view pipeline);

}  // namespace adpipe::render
