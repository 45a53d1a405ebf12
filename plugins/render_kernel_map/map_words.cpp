#include "map_text.hpp"

#include <adpipe/render/number.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace adpipe::kernel_map {

std::string side_title(const Side& side) {
    return fmt::format("{}: {} {}", side.title, side.layer_count == 1 ? "layer" : "layers", side.layers);
}

std::string traces_line(const KernelMap& map) {
    const auto name = [](const Side& side) { return side.trace + (side.simulated ? " (simulated)" : ""); };
    return map.left.trace == map.right.trace ? name(map.left) : name(map.left) + " beside " + name(map.right);
}

std::string counts_line(const KernelMap& map) {
    std::array<std::uint64_t, 6> counts{};
    for (const Row& row : map.rows) ++counts[static_cast<std::size_t>(row.verdict)];
    static constexpr std::array<const char*, 6> words{"the same",
                                                      "the same with another launch",
                                                      "of the same kind with other parameters",
                                                      "another kernel for the same work",
                                                      "only left",
                                                      "only right"};
    std::string text = fmt::format("{} on the left, {} on the right: ", render::count_text(map.left.cells.size(), "kernel"),
                                   render::count_text(map.right.cells.size(), "kernel"));
    const char* separator = "";
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] == 0) continue;
        text += fmt::format("{}{} {}", separator, counts[i], words[i]);
        separator = ", ";
    }
    return text;
}

std::string kernel_title(const Side& side, const Cell& cell) {
    if (cell.regular) return cell.name.short_name;
    return fmt::format("{} (in {} of {})", cell.name.short_name, cell.time.count, side.layer_sum.count);
}

std::string operators_text(const KernelMap& map, const Row& row) {
    const std::string none;
    const std::string& left = row.left != no_cell ? map.left.cells[row.left].op : none;
    const std::string& right = row.right != no_cell ? map.right.cells[row.right].op : none;
    if (row.left == no_cell || row.right == no_cell || left == right) return left.empty() ? right : left;
    return fmt::format("{} → {}", left.empty() ? "not known" : left, right.empty() ? "not known" : right);
}

bool any_operator(const KernelMap& map) {
    const auto known = [](const Cell& cell) { return !cell.op.empty(); };
    return std::any_of(map.left.cells.begin(), map.left.cells.end(), known) ||
           std::any_of(map.right.cells.begin(), map.right.cells.end(), known);
}

bool any_uncertain(const KernelMap& map) {
    return std::any_of(map.rows.begin(), map.rows.end(), [](const Row& row) { return !row.certain; });
}

double layer_mean(const Side& side) { return side.layer_sum.mean(); }

std::vector<CategoryLine> by_category(const KernelMap& map) {
    std::map<KernelCategory, CategoryLine> lines;
    const auto add = [&](const Side& side, double CategoryLine::*time) {
        for (const Cell& cell : side.cells) {
            CategoryLine& line = lines[cell.category];
            line.category = category_text(cell.category);
            if (side.layer_sum.count > 0) line.*time += static_cast<double>(cell.time.total) / side.layer_sum.count;
        }
    };
    add(map.left, &CategoryLine::left);
    add(map.right, &CategoryLine::right);
    std::vector<CategoryLine> sorted;
    for (const auto& [category, line] : lines) sorted.push_back(line);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const CategoryLine& a, const CategoryLine& b) { return a.left + a.right > b.left + b.right; });
    return sorted;
}

}  // namespace adpipe::kernel_map
