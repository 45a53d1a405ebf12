#include "kernel_inventory.hpp"

#include "../shared/table_text.hpp"

#include <adpipe/render/number.hpp>
#include <adpipe/render/text.hpp>
#include <adpipe/render/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace adpipe::render_tables {

namespace {

using namespace tables;

std::string csv_of_groups(const std::vector<KernelGroup>& groups, const KernelCount& count, std::string_view first_column) {
    std::string text = fmt::format("{},count,total_us,avg_us,pct\n", first_column);
    for (const KernelGroup& group : groups) {
        text += fmt::format("{},{},{},{},{}\n", render::csv_field(group.name), group.count,
                            one_decimal_us(static_cast<double>(group.total)), one_decimal_us(group.mean()),
                            one_decimal_percent(group.total, count.total));
    }
    return text;
}

std::string device_name(const DeviceTime& device) { return device.device < 0 ? "device" : "device " + std::to_string(device.device); }

/// The arithmetic of one device, in whole nanoseconds.
std::string device_line(const DeviceTime& device) {
    const auto text = [](Nanoseconds time) { return render::duration_text(time); };
    return fmt::format("{}: sum {} = busy {} + overlap {}; span {} = busy {} + idle {}", device_name(device), text(device.sum),
                       text(device.busy), text(device.overlap()), text(device.span), text(device.busy), text(device.idle()));
}

std::string what_was_counted(const KernelCount& count, const Window& window) {
    const std::string of = count.steps == 0 ? std::string{"the whole trace"} : fmt::format("{}", window.description);
    return fmt::format("{}: {}, {} in all", of, render::count_text(count.count, "kernel"), render::duration_text(count.total));
}

}  // namespace

std::string inventory_csv(const KernelCount& count) { return csv_of_groups(count.kernels, count, "name"); }
std::string category_csv(const KernelCount& count) { return csv_of_groups(count.categories, count, "category"); }

std::string inventory_markdown(const KernelCount& count, const Window& window) {
    std::string text = fmt::format("# Kernels of {}\n\n", render::markdown_cell(window.trace->file.filename().string()));
    if (window.trace->simulated) text += "The trace is simulated.\n\n";
    text += render::markdown_cell(what_was_counted(count, window)) + ".\n\n## By category\n\n";
    text += "| category | count | total µs | avg µs | share |\n|---|--:|--:|--:|--:|\n";
    std::uint64_t calls = 0;
    Nanoseconds sum = 0;
    for (const KernelGroup& group : count.categories) {
        text += fmt::format("| {} | {} | {} | {} | {} % |\n", group.name, group.count, one_decimal_us(static_cast<double>(group.total)),
                            one_decimal_us(group.mean()), one_decimal_percent(group.total, count.total));
        calls += group.count;
        sum += group.total;
    }
    text += fmt::format("| **sum** | {} | {} | | {} % |\n", calls, one_decimal_us(static_cast<double>(sum)),
                        one_decimal_percent(sum, count.total));
    text +=
        "\n## By kernel\n\n| kernel | library | category | count | total µs | avg µs | min | max | share "
        "|\n|---|---|---|--:|--:|--:|--:|--:|--:|\n";
    for (const KernelGroup& group : count.kernels) {
        text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} % |\n", render::markdown_cell(group.short_name), group.library,
                            category_text(group.category), group.count, one_decimal_us(static_cast<double>(group.total)),
                            one_decimal_us(group.mean()), one_decimal_us(static_cast<double>(group.minimum)),
                            one_decimal_us(static_cast<double>(group.maximum)), one_decimal_percent(group.total, count.total));
    }
    text +=
        "\n## Busy and idle\n\n| device | sum of durations, ns | busy (union), ns | overlap, ns | idle, ns | span, ns "
        "|\n|---|--:|--:|--:|--:|--:|\n";
    for (const DeviceTime& device : count.devices) {
        text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", device_name(device), device.sum, device.busy, device.overlap(),
                            device.idle(), device.span);
    }
    return text + "\nsum = busy + overlap; span = busy + idle. Over several steps the span is the sum of theirs.\n";
}

double longest(const std::vector<KernelGroup>& groups) {
    return groups.empty() ? 0 : static_cast<double>(groups.front().total);  // sorted by time
}

std::string inventory_terminal(const KernelCount& count, const Window& window, std::size_t most, const Terminal& terminal) {
    std::string text;
    for (const std::string& line : render::wrapped(render::visible_text(what_was_counted(count, window)), terminal.columns))
        text += line + "\n";
    text += "\n";
    render::TextTable categories({{"category", false, 12},
                                  {"count", true},
                                  {"total µs", true},
                                  {"mean µs", true},
                                  {"share", true},
                                  {.head = "", .gap = 1, .may_go = true}});
    for (const KernelGroup& group : count.categories) {
        categories.add_row({{group.name},
                            {render::count_text(group.count)},
                            {render::microseconds_text(group.total)},
                            {render::microseconds_text(static_cast<Nanoseconds>(group.mean() + 0.5))},
                            {render::percent_text(group.total, count.total)},
                            render::bar_cell(static_cast<double>(group.total), longest(count.categories))});
    }
    text += categories.text(terminal.columns, terminal.colour) + "\n";
    render::TextTable kernels({{"kernel", false, 20},
                               {.head = "library", .least = 8},
                               {.head = "category", .least = 8},
                               {"count", true},
                               {"total µs", true},
                               {"mean µs", true},
                               {"share", true},
                               {.head = "", .gap = 1, .may_go = true}});
    KernelGroup rest;
    for (std::size_t i = 0; i < count.kernels.size(); ++i) {
        const KernelGroup& group = count.kernels[i];
        if (most > 0 && i >= most) {
            rest.count += group.count;
            rest.total += group.total;
            continue;
        }
        kernels.add_row({{group.short_name},
                         {group.library},
                         {std::string{category_text(group.category)}},
                         {render::count_text(group.count)},
                         {render::microseconds_text(group.total)},
                         {render::microseconds_text(static_cast<Nanoseconds>(group.mean() + 0.5))},
                         {render::percent_text(group.total, count.total)},
                         render::bar_cell(static_cast<double>(group.total), longest(count.kernels))});
    }
    if (rest.count > 0) {
        kernels.add_row({{fmt::format("{} more names", count.kernels.size() - most)},
                         {""},
                         {""},
                         {render::count_text(rest.count)},
                         {render::microseconds_text(rest.total)},
                         {render::microseconds_text(static_cast<Nanoseconds>(rest.mean() + 0.5))},
                         {render::percent_text(rest.total, count.total)}});
    }
    kernels.add_rule();
    kernels.add_row({{"all"}, {""}, {""}, {render::count_text(count.count)}, {render::microseconds_text(count.total)}, {""}, {"100 %"}});
    text += kernels.text(terminal.columns, terminal.colour) + "\n";
    for (const DeviceTime& device : count.devices) text += device_line(device) + "\n";
    return text;
}

}  // namespace adpipe::render_tables
