#include "differences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace adpipe::kernel_map {

namespace {

constexpr const char* unknown = "-";

std::string dimensions(const std::array<std::int32_t, 3>& size) {
    return size[0] < 0 ? unknown : fmt::format("{}×{}×{}", size[0], size[1], size[2]);
}

/// The values of a property over the launches of a kernel, the commonest first.
template <class Value>
std::string over_launches(const Cell& cell, Value value) {
    std::vector<std::string> values;
    for (const LaunchShape& shape : cell.shapes) {
        std::string text = value(shape);
        if (std::find(values.begin(), values.end(), text) == values.end()) values.push_back(std::move(text));
    }
    if (values.empty()) return unknown;
    return values.size() == 1 ? values.front() : fmt::format("{} and {} more", values.front(), values.size() - 1);
}

std::string registers_text(const Cell& cell) {
    return over_launches(cell, [](const LaunchShape& shape) { return shape.registers < 0 ? unknown : std::to_string(shape.registers); });
}

std::string shared_memory_text(const Cell& cell) {
    return over_launches(cell, [](const LaunchShape& shape) {
        return shape.shared_memory < 0 ? std::string{unknown} : fmt::format("{} B", shape.shared_memory);
    });
}

void add_change(std::vector<std::string>& out, std::string_view what, std::string_view left, std::string_view right) {
    if (left != right) out.push_back(fmt::format("{} {} → {}", what, left, right));
}

/// What the trace does not tell of one of them is no difference.
void add_known_change(std::vector<std::string>& out, std::string_view what, const std::string& left, const std::string& right) {
    if (left != unknown && right != unknown) add_change(out, what, left, right);
}

std::string_view or_none(std::string_view value) { return value.empty() ? "none" : value; }

/// Parameters that mean the same in every library.
bool is_common(std::string_view parameter) {
    static constexpr std::array<std::string_view, 6> common{"tile", "stages", "cluster", "split_k", "scale_block", "head_dim"};
    return std::find(common.begin(), common.end(), parameter) != common.end();
}

void add_parameters(std::vector<std::string>& out, const Cell& left, const Cell& right) {
    const bool comparable = same_kind(left, right);
    for (const KernelParameter& parameter : left.name.parameters) {
        const std::string_view other = right.name.parameter(parameter.name);
        if (comparable || (is_common(parameter.name) && !other.empty())) add_change(out, parameter.name, parameter.value, or_none(other));
    }
    if (!comparable) return;
    for (const KernelParameter& parameter : right.name.parameters) {
        if (left.name.parameter(parameter.name).empty()) add_change(out, parameter.name, "none", parameter.value);
    }
}

void add_launches(std::vector<std::string>& out, const Cell& left, const Cell& right) {
    add_known_change(out, "grid", grid_text(left), grid_text(right));
    add_known_change(out, "threads", block_text(left), block_text(right));
    add_known_change(out, "registers", registers_text(left), registers_text(right));
    add_known_change(out, "shared memory", shared_memory_text(left), shared_memory_text(right));
}

}  // namespace

std::string grid_text(const Cell& cell) {
    return over_launches(cell, [](const LaunchShape& shape) { return dimensions(shape.grid); });
}
std::string block_text(const Cell& cell) {
    return over_launches(cell, [](const LaunchShape& shape) { return dimensions(shape.block); });
}

bool same_kind(const Cell& a, const Cell& b) {
    if (!a.name.rule.empty() || !b.name.rule.empty()) return a.name.rule == b.name.rule && a.name.library == b.name.library;
    return a.name.function == b.name.function;
}

Verdict compare(const Cell& left, const Cell& right) {
    if (left.full_name != right.full_name) return same_kind(left, right) ? Verdict::parameters : Verdict::other_kernel;
    std::vector<std::string> launches;
    add_launches(launches, left, right);
    return launches.empty() ? Verdict::same : Verdict::launch;
}

std::vector<std::string> differences(const Cell& left, const Cell& right) {
    std::vector<std::string> out;
    if (left.full_name != right.full_name) {
        if (!left.name.library.empty() && !right.name.library.empty()) add_change(out, "library", left.name.library, right.name.library);
        add_parameters(out, left, right);
        if (out.empty() && same_kind(left, right)) out.emplace_back("another instance of the same template");
        else if (out.empty() && left.name.short_name == right.name.short_name) out.emplace_back("another function of the same name");
    }
    add_launches(out, left, right);
    return out;
}

}  // namespace adpipe::kernel_map
