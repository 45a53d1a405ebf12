#include "../shared/table_text.hpp"
#include "kernel_map.hpp"

#include <map>

namespace adpipe::kernel_map {

namespace {

/// What other kernels of a layer are placed by.
bool is_landmark(const Cell& cell) {
    const KernelCategory category = cell.category;
    if (!cell.regular) return false;
    return category == KernelCategory::attention || category == KernelCategory::state_space || category == KernelCategory::activation ||
           category == KernelCategory::moe;
}

/// "gemm behind attention": behind the last landmark unless a norm lies between, else before the next one.
std::string part_of(const std::vector<Cell>& cells, std::size_t i) {
    const std::string category{category_text(cells[i].category)};
    if (is_landmark(cells[i])) return category;
    for (std::size_t j = i; j-- > 0;) {
        if (is_landmark(cells[j])) return category + " behind " + std::string{category_text(cells[j].category)};
        if (cells[j].category == KernelCategory::norm) break;
    }
    for (std::size_t j = i + 1; j < cells.size(); ++j) {
        if (is_landmark(cells[j])) return category + " before " + std::string{category_text(cells[j].category)};
    }
    return category;
}

std::string numbers_of(const Layers& layers, const render::LayerProfile& profile) {
    std::map<TextId, std::vector<std::int64_t>> by_stack;
    for (const std::uint32_t l : profile.layers) by_stack[layers.layers[l].stack].push_back(layers.layers[l].number);
    std::string text;
    for (auto& [stack, numbers] : by_stack) {
        if (!text.empty()) text += "; ";
        if (stack != 0) text.append(layers.text(stack)).append(" ");
        text += render::number_ranges(std::move(numbers));
    }
    return text;
}

}  // namespace

std::string steps_title(const render::LayerProfile& profile) {
    std::string title{profile.phase == Phase::unknown ? "steps of unknown phase" : phase_text(profile.phase)};
    if (profile.batch_size >= 0) title += ", batch size " + std::to_string(profile.batch_size);
    return title;
}

Side make_side(const Layers& layers, const Attribution& attribution, const render::LayerProfile& profile, const KernelNames& names,
               const Operators* operators) {
    const Trace& trace = *attribution.window->trace;
    Side side;
    side.title = steps_title(profile);
    side.trace = trace.file.filename().string();
    side.simulated = trace.simulated;
    side.layers = numbers_of(layers, profile);
    side.layer_count = static_cast<std::uint32_t>(profile.layers.size());
    side.steps = profile.steps;
    side.total = profile.total;
    side.layer_sum = profile.layer_sum;
    side.layer_wall = profile.layer_wall;
    for (const render::ProfileRow& row : profile.rows) {
        Cell cell;
        cell.position = row.position;
        cell.name = names.decode(trace.string(row.name));
        cell.full_name = tables::without_void(cell.name.demangled);
        cell.category = tables::category_of(cell.name, row.kind);
        if (operators != nullptr) cell.op = commonest_operator(*operators, row.kernels);
        cell.time = row.time;
        cell.regular = row.regular;
        for (const std::uint32_t shape : row.shapes) cell.shapes.push_back(trace.shapes[shape]);
        side.cells.push_back(std::move(cell));
    }
    for (std::size_t i = 0; i < side.cells.size(); ++i) side.cells[i].part = part_of(side.cells, i);
    return side;
}

}  // namespace adpipe::kernel_map
