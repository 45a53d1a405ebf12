#include "differences.hpp"
#include "map_text.hpp"

#include <adpipe/render/number.hpp>
#include <adpipe/render/text.hpp>
#include <adpipe/render/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace adpipe::kernel_map {

namespace {

using render::Emphasis;

/// One character that says how the two compare.
const char* mark(const Row& row) {
    switch (row.verdict) {
        case Verdict::same: return "=";
        case Verdict::launch:
        case Verdict::parameters: return "~";
        case Verdict::other_kernel: return "≠";
        case Verdict::only_left: return "<";
        case Verdict::only_right: return ">";
    }
    return "";
}

std::string mean_text(const render::Spread& time) { return render::microseconds_text(static_cast<Nanoseconds>(time.mean() + 0.5)); }

void add_cells(std::vector<render::TextTable::Cell>& cells, const Side& side, std::size_t index) {
    if (index == no_cell) {
        cells.insert(cells.end(), {{"–", Emphasis::quiet}, {""}, {""}});
        return;
    }
    const Cell& cell = side.cells[index];
    cells.push_back({kernel_title(side, cell)});
    cells.push_back({mean_text(cell.time)});
    cells.push_back({render::percent_text(cell.time.total, side.total)});
}

/// The operator and the differences, as many as fit on a line of `columns`.
std::vector<std::string> difference_lines(const KernelMap& map, const Row& row, int columns) {
    std::vector<std::string> all;
    if (std::string op = operators_text(map, row); !op.empty()) all.push_back("by " + std::move(op));
    all.insert(all.end(), row.differences.begin(), row.differences.end());
    std::vector<std::string> lines;
    for (const std::string& difference : all) {
        const bool fits = !lines.empty() && render::display_width(lines.back()) + render::display_width(difference) + 2 <= columns;
        if (fits) lines.back().append("; ").append(difference);
        else lines.push_back("    " + difference);
    }
    return lines;
}

void add_wrapped(std::string& out, const std::string& text, int columns) {
    for (const std::string& line : render::wrapped(render::visible_text(text), std::max(columns, 40))) out.append(line).append("\n");
}

render::TextTable table_of(const KernelMap& map, int columns) {
    render::TextTable table({{"part", false, 12, 30},
                             {"left", false, 16},
                             {"µs", true},
                             {"share", true},
                             {"", false},
                             {"right", false, 16},
                             {"µs", true},
                             {"share", true}});
    for (const Row& row : map.rows) {
        const Cell& any = row.left != no_cell ? map.left.cells[row.left] : map.right.cells[row.right];
        std::vector<render::TextTable::Cell> cells{{any.part}};
        add_cells(cells, map.left, row.left);
        cells.push_back(
            {mark(row) + std::string{row.certain ? "" : "?"}, row.verdict == Verdict::same ? Emphasis::quiet : Emphasis::strong});
        add_cells(cells, map.right, row.right);
        table.add_row(std::move(cells));
        for (std::string& line : difference_lines(map, row, columns)) table.add_heading({{std::move(line), Emphasis::quiet}});
    }
    table.add_rule();
    const auto sum = [](const Side& side) { return mean_text(side.layer_sum); };
    table.add_row({{"one layer"}, {""}, {sum(map.left)}, {"100 %"}, {""}, {""}, {sum(map.right)}, {"100 %"}});
    return table;
}

}  // namespace

std::string map_terminal(const std::vector<KernelMap>& maps, const Terminal& terminal) {
    std::string text;
    for (const KernelMap& map : maps) {
        if (!text.empty()) text += '\n';
        add_wrapped(text, traces_line(map), terminal.columns);
        add_wrapped(text, "left   " + side_title(map.left), terminal.columns);
        add_wrapped(text, "right  " + side_title(map.right), terminal.columns);
        add_wrapped(text, counts_line(map), terminal.columns);
        text += "\n" + table_of(map, terminal.columns).text(terminal.columns, terminal.colour);
    }
    text += '\n';
    add_wrapped(text, "= the same, ~ the same kind with other parameters or another launch, ≠ another kernel, < > on one side only",
                terminal.columns);
    for (const KernelMap& map : maps) {
        if (!any_uncertain(map)) continue;
        add_wrapped(text, uncertain_note, terminal.columns);
        break;
    }
    return text;
}

}  // namespace adpipe::kernel_map
