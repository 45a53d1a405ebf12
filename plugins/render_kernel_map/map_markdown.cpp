#include "../shared/table_text.hpp"
#include "differences.hpp"
#include "map_text.hpp"

#include <adpipe/render/number.hpp>
#include <adpipe/render/text.hpp>

#include <fmt/format.h>

namespace adpipe::kernel_map {

namespace {

using render::markdown_cell;
using tables::one_decimal_percent;
using tables::one_decimal_us;

std::string kernel_columns(const Side& side, std::size_t index) {
    if (index == no_cell) return " – | – | – |";
    const Cell& cell = side.cells[index];
    return fmt::format(" {} | {} | {} % |", markdown_cell(kernel_title(side, cell)), one_decimal_us(cell.time.mean()),
                       one_decimal_percent(cell.time.total, side.total));
}

std::string row_line(const KernelMap& map, const Row& row) {
    const Cell& any = row.left != no_cell ? map.left.cells[row.left] : map.right.cells[row.right];
    std::string line = fmt::format("| {} |", markdown_cell(any.part)) + kernel_columns(map.left, row.left) +
                       kernel_columns(map.right, row.right);
    std::string what{verdict_text(row.verdict)};
    if (!row.certain) what += " ?";
    const char* separator = ": ";
    for (const std::string& difference : row.differences) {
        what += separator + difference;
        separator = "; ";
    }
    return line + " " + markdown_cell(what) + " |\n";
}

std::string sums_line(const KernelMap& map) {
    const auto sums = [](const Side& side) {
        return fmt::format(" **one layer** | {} | 100.0 % |", one_decimal_us(side.layer_sum.mean()));
    };
    return "| |" + sums(map.left) + sums(map.right) + " |\n";
}

std::string category_table(const KernelMap& map) {
    std::string text =
        "\n### By category\n\n| category | left, µs a layer | share | right, µs a layer | share "
        "|\n|---|--:|--:|--:|--:|\n";
    const auto percent = [](double part, double whole) {
        return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : std::string{"-"};
    };
    for (const CategoryLine& line : by_category(map)) {
        text += fmt::format("| {} | {} | {} | {} | {} |\n", line.category, one_decimal_us(line.left),
                            percent(line.left, layer_mean(map.left)), one_decimal_us(line.right),
                            percent(line.right, layer_mean(map.right)));
    }
    return text + fmt::format("| **sum** | {} | | {} | |\n", one_decimal_us(layer_mean(map.left)), one_decimal_us(layer_mean(map.right)));
}

void add_names(std::string& text, const char* which, const Side& side, bool with_operators) {
    for (const Cell& cell : side.cells) {
        std::string parameters;
        for (const KernelParameter& parameter : cell.name.parameters) {
            parameters += (parameters.empty() ? "" : ", ") + parameter.name + " " + parameter.value;
        }
        text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |", which, cell.position, cell.name.library, markdown_cell(parameters),
                            grid_text(cell), block_text(cell), markdown_cell(cell.full_name));
        if (with_operators) text.append(" ").append(markdown_cell(cell.op)).append(" |");
        text += '\n';
    }
}

std::string names_table(const KernelMap& map) {
    const bool with_operators = any_operator(map);
    std::string text =
        "\n### Names, parameters, launches\n\n| side | pos | library | parameters in the name | grid | threads | "
        "kernel |";
    if (with_operators) text += " operator |";
    text += "\n|---|--:|---|---|---|---|---|";
    if (with_operators) text += "---|";
    text += '\n';
    add_names(text, "left", map.left, with_operators);
    add_names(text, "right", map.right, with_operators);
    return text;
}

}  // namespace

std::string map_markdown(const std::vector<KernelMap>& maps) {
    std::string text = fmt::format("# Kernel map of {}\n\n", markdown_cell(traces_line(maps.front())));
    text += "Times are means in microseconds over layers and steps; shares are of the time of one layer.\n\n";
    for (const KernelMap& map : maps) {
        const std::string left = markdown_cell(side_title(map.left));
        const std::string right = markdown_cell(side_title(map.right));
        text += fmt::format("## {} | {}\n\n{}.\n\n", left, right, counts_line(map));
        text += fmt::format("| part | {} | µs | share | {} | µs | share | difference |\n|---|---|--:|--:|---|--:|--:|---|\n", left, right);
        for (const Row& row : map.rows) text += row_line(map, row);
        text += sums_line(map);
        if (any_uncertain(map)) text += fmt::format("\n{}.\n", uncertain_note);
        text += category_table(map) + names_table(map) + "\n";
    }
    return text;
}

}  // namespace adpipe::kernel_map
