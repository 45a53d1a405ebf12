#include "layer_table.hpp"

#include "../shared/table_text.hpp"

#include <adpipe/render/distinct_names.hpp>
#include <adpipe/render/number.hpp>
#include <adpipe/render/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace adpipe::render_tables {

namespace {

using namespace tables;

using render::LayerProfile;
using render::LayerProfiles;
using render::ProfileRow;

/// A row with what its name tells.
struct NamedRow {
    const ProfileRow* row;
    std::uint32_t position;
    std::string name;
    std::string short_name;
    std::string label;  ///< the short name, with what tells kernels of one short name apart
    KernelCategory category = KernelCategory::other;
    std::string op;  ///< operator that launched it; empty: not known
};

std::vector<NamedRow> named_rows(const LayerTableInput& input, const LayerProfile& profile) {
    const Trace& trace = *input.attribution.window->trace;
    std::vector<NamedRow> rows;
    std::map<StringId, std::size_t> index;  // of the names of the rows
    std::vector<KernelName> names;
    for (const ProfileRow& row : profile.rows) {
        const KernelName decoded = input.names.decode(trace.string(row.name));
        const std::string name{without_void(decoded.demangled)};
        std::string op = input.operators != nullptr ? commonest_operator(*input.operators, row.kernels) : std::string{};
        rows.push_back({&row, row.position, name, decoded.short_name, {}, category_of(decoded, row.kind), std::move(op)});
        if (index.emplace(row.name, names.size()).second) names.push_back(decoded);
    }
    const std::vector<std::string> labels = render::distinct_short_names(names);
    for (NamedRow& row : rows) row.label = labels[index.at(row.row->name)];
    if (!input.from_attention) return rows;
    const auto attention = std::find_if(rows.begin(), rows.end(),
                                        [](const NamedRow& row) { return row.category == KernelCategory::attention; });
    if (attention == rows.end()) return rows;
    // The kernels before the attention follow as those of the next layer.
    const std::uint32_t first = attention->position;
    const std::uint32_t positions = rows.back().position + 1;
    for (NamedRow& row : rows) row.position = (row.position + positions - first) % positions;
    std::stable_sort(rows.begin(), rows.end(), [](const NamedRow& a, const NamedRow& b) { return a.position < b.position; });
    return rows;
}

std::string layer_csv(const LayerTableInput& input, const LayerProfile& profile) {
    std::string text = "pos,short_name,kernel,avg_us,std_us,min_us,max_us,pct,count";
    text += input.operators != nullptr ? ",operator\n" : "\n";  // scripts read the columns before it
    for (const NamedRow& row : named_rows(input, profile)) {
        const render::Spread& time = row.row->time;
        text += fmt::format("{},{},{},{},{},{},{},{},{}", row.position, render::csv_field(row.short_name), render::csv_field(row.name),
                            one_decimal_us(time.mean()), one_decimal_us(time.deviation), one_decimal_us(static_cast<double>(time.minimum)),
                            one_decimal_us(static_cast<double>(time.maximum)), one_decimal_percent(time.total, profile.total), time.count);
        if (input.operators != nullptr) text.append(",").append(render::csv_field(row.op));
        text += '\n';
    }
    return text;
}

/// "conc16_", "prefill_", "": which steps a table is of.
std::string steps_prefix(const LayerProfile& profile) {
    std::string prefix;
    if (profile.phase != Phase::decode && profile.phase != Phase::unknown) prefix = std::string{phase_text(profile.phase)} + "_";
    if (profile.batch_size >= 0) prefix += "conc" + std::to_string(profile.batch_size) + "_";
    return prefix;
}

std::string steps_title(const LayerProfile& profile) {
    std::string title{profile.phase == Phase::unknown ? "steps of unknown phase" : phase_text(profile.phase)};
    if (profile.batch_size >= 0) title += ", batch size " + std::to_string(profile.batch_size);
    return title;
}

/// The commonest kind of its steps has no number in the file's name.
bool is_main_kind(const LayerProfiles& profiles, const LayerProfile& profile) {
    for (const LayerProfile& other : profiles.profiles) {
        const bool same_steps = std::tuple(other.module, other.phase, other.batch_size) ==
                                std::tuple(profile.module, profile.phase, profile.batch_size);
        if (!same_steps || &other == &profile) continue;
        if (other.layers.size() > profile.layers.size()) return false;
        if (other.layers.size() == profile.layers.size() && other.kind < profile.kind) return false;
    }
    return true;
}

std::string layer_numbers(const LayerTableInput& input, const LayerProfile& profile) {
    std::map<TextId, std::vector<std::int64_t>> by_stack;
    for (const std::uint32_t l : profile.layers) by_stack[input.layers.layers[l].stack].push_back(input.layers.layers[l].number);
    std::string text;
    for (auto& [stack, numbers] : by_stack) {
        if (!text.empty()) text += "; ";
        if (stack != 0) text += input.layers.text(stack) + " ";
        text += render::number_ranges(std::move(numbers));
    }
    return text;
}

std::string milliseconds(Nanoseconds time) { return fmt::format("{:.3f} ms", static_cast<double>(time) / 1e6); }

std::string operator_cell(const LayerTableInput& input, const NamedRow& row) {
    return input.operators != nullptr ? " " + render::markdown_cell(row.op) + " |" : std::string{};
}

std::string layer_section(const LayerTableInput& input, const LayerProfile& profile) {
    std::string text = fmt::format("## {}: layers {} (kind {})\n\n", steps_title(profile), layer_numbers(input, profile), profile.kind);
    text += input.operators != nullptr ? "| pos | kernel | category | operator | calls | avg µs | std | min | max | share |\n"
                                         "|--:|---|---|---|--:|--:|--:|--:|--:|--:|\n"
                                       : "| pos | kernel | category | calls | avg µs | std | min | max | share "
                                         "|\n|--:|---|---|--:|--:|--:|--:|--:|--:|\n";
    for (const NamedRow& row : named_rows(input, profile)) {
        const render::Spread& time = row.row->time;
        text += fmt::format("| {} | {} | {} |{} {} | {} | {} | {} | {} | {} % |\n", row.position, render::markdown_cell(row.label),
                            category_text(row.category), operator_cell(input, row), time.count, one_decimal_us(time.mean()),
                            one_decimal_us(time.deviation), one_decimal_us(static_cast<double>(time.minimum)),
                            one_decimal_us(static_cast<double>(time.maximum)), one_decimal_percent(time.total, profile.total));
    }
    const render::Spread& sum = profile.layer_sum;
    text += fmt::format("\nOne layer, µs: min {}, median {}, mean {}, max {} ({} times: {}, {}); wall, median {}.\n",
                        one_decimal_us(static_cast<double>(sum.minimum)), one_decimal_us(static_cast<double>(sum.median)),
                        one_decimal_us(sum.mean()), one_decimal_us(static_cast<double>(sum.maximum)), sum.count,
                        render::count_text(profile.layers.size(), "layer"), render::count_text(profile.steps, "step"),
                        one_decimal_us(static_cast<double>(profile.layer_wall.median)));
    text += fmt::format("{} × {} layers = {} a step. The rows' times add up to {} = {} layers of {} on average.\n\n",
                        one_decimal_us(sum.mean()), profile.layers.size(),
                        milliseconds(static_cast<Nanoseconds>(sum.mean() * static_cast<double>(profile.layers.size()))),
                        milliseconds(profile.total), sum.count, render::duration_text(static_cast<Nanoseconds>(sum.mean())));
    return text;
}

/// Partner of each row of `rows` in `pattern`, or -1: in order, the same name before the same category.
std::vector<std::int32_t> partner_rows(const std::vector<NamedRow>& pattern, const std::vector<NamedRow>& rows) {
    const auto likeness = [](const NamedRow& a, const NamedRow& b) {
        return a.name == b.name ? 1.0 : a.category == b.category && a.category != KernelCategory::other ? 0.6 : 0.0;
    };
    const std::size_t columns = pattern.size() + 1;
    std::vector<double> best((rows.size() + 1) * columns, 0.0);
    for (std::size_t i = rows.size(); i-- > 0;) {
        for (std::size_t j = pattern.size(); j-- > 0;) {
            double& here = best[i * columns + j];
            here = std::max(best[(i + 1) * columns + j], best[i * columns + j + 1]);
            const double alike = likeness(rows[i], pattern[j]);
            if (alike > 0) here = std::max(here, best[(i + 1) * columns + j + 1] + alike);
        }
    }
    std::vector<std::int32_t> partner(rows.size(), -1);
    for (std::size_t i = 0, j = 0; i < rows.size() && j < pattern.size();) {
        const double alike = likeness(rows[i], pattern[j]);
        if (alike > 0 && best[i * columns + j] <= best[(i + 1) * columns + j + 1] + alike) partner[i++] = static_cast<std::int32_t>(j++);
        else if (best[i * columns + j] <= best[(i + 1) * columns + j]) ++i;
        else ++j;
    }
    return partner;
}

/// One line of the side-by-side table: per batch size the row, if there is one.
using SideBySide = std::vector<std::vector<const NamedRow*>>;

SideBySide side_by_side(const std::vector<std::vector<NamedRow>>& tables) {
    const auto longest = std::max_element(tables.begin(), tables.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    std::vector<std::vector<std::vector<const NamedRow*>>> behind(longest->size() + 1);  // lines without a row of the longest table
    SideBySide lines(longest->size(), std::vector<const NamedRow*>(tables.size(), nullptr));
    for (std::size_t t = 0; t < tables.size(); ++t) {
        const std::vector<std::int32_t> partner = partner_rows(*longest, tables[t]);
        std::size_t next = 0;
        for (std::size_t i = 0; i < tables[t].size(); ++i) {
            if (partner[i] >= 0) {
                lines[static_cast<std::size_t>(partner[i])][t] = &tables[t][i];
                next = static_cast<std::size_t>(partner[i]) + 1;
                continue;
            }
            behind[next].emplace_back(tables.size(), nullptr);
            behind[next].back()[t] = &tables[t][i];
        }
    }
    SideBySide all;
    for (std::size_t j = 0; j <= lines.size(); ++j) {
        all.insert(all.end(), behind[j].begin(), behind[j].end());
        if (j < lines.size()) all.push_back(lines[j]);
    }
    return all;
}

std::string comparison_table(const LayerTableInput& input, const std::vector<const LayerProfile*>& profiles) {
    std::vector<std::vector<NamedRow>> tables;
    std::string head = "| category |";
    std::string rule = "|---|";
    for (const LayerProfile* profile : profiles) {
        tables.push_back(named_rows(input, *profile));
        head += fmt::format(" batch {}: kernel | avg µs | share |", profile->batch_size);
        rule += "---|--:|--:|";
    }
    std::string text = fmt::format("## {}, batch sizes side by side: kind {}\n\n{}\n{}\n", phase_text(profiles.front()->phase),
                                   profiles.front()->kind, head, rule);
    for (const auto& line : side_by_side(tables)) {
        const auto any = std::find_if(line.begin(), line.end(), [](const NamedRow* row) { return row != nullptr; });
        text += fmt::format("| {} |", category_text((*any)->category));
        for (std::size_t t = 0; t < line.size(); ++t) {
            if (line[t] == nullptr) text += " – | – | – |";
            else
                text += fmt::format(" {} | {} | {} % |", render::markdown_cell(line[t]->short_name),
                                    one_decimal_us(line[t]->row->time.mean()),
                                    one_decimal_percent(line[t]->row->time.total, profiles[t]->total));
        }
        text += '\n';
    }
    text += "| one layer |";
    for (const LayerProfile* profile : profiles) text += fmt::format(" | {} | 100.0 % |", one_decimal_us(profile->layer_sum.mean()));
    return text + "\n\n";
}

/// Layers of one kind at several batch sizes: the first of each batch size.
std::string comparisons(const LayerTableInput& input, const LayerProfiles& profiles) {
    std::map<std::pair<Phase, std::uint32_t>, std::map<std::int64_t, const LayerProfile*>> groups;
    for (const LayerProfile& profile : profiles.profiles) {
        if (profile.batch_size >= 0) groups[{profile.phase, profile.kind}].emplace(profile.batch_size, &profile);
    }
    std::string text;
    for (const auto& [key, by_batch] : groups) {
        if (by_batch.size() < 2) continue;
        std::vector<const LayerProfile*> list;
        for (const auto& [batch, profile] : by_batch) list.push_back(profile);
        text += comparison_table(input, list);
    }
    return text;
}

std::string sums_section(const LayerProfiles& profiles) {
    const render::ProfileTotals& totals = profiles.totals;
    std::string text = "## How the times add up\n\n| | kernels | ns |\n|---|--:|--:|\n";
    const auto line = [&](const std::string& what, std::uint64_t kernels, Nanoseconds time) {
        text += fmt::format("| {} | {} | {} |\n", what, kernels, time);
    };
    std::uint64_t kernels = 0;
    Nanoseconds sum = 0;
    for (const LayerProfile& profile : profiles.profiles) {
        std::uint64_t calls = 0;
        for (const ProfileRow& row : profile.rows) calls += row.time.count;
        line(fmt::format("{}, kind {}", steps_title(profile), profile.kind), calls, profile.total);
        kernels += calls;
        sum += profile.total;
    }
    line("before the first and behind the last layer", totals.kernels_outside, totals.outside);
    line("of no known layer", totals.kernels_unknown, totals.unknown);
    line("**sum of the above**", kernels + totals.kernels_outside + totals.kernels_unknown, sum + totals.outside + totals.unknown);
    line("**all kernels of the chosen steps**", totals.kernels, totals.all);
    return text;
}

}  // namespace

std::vector<TableFile> layer_csv_files(const LayerTableInput& input, const LayerProfiles& profiles) {
    std::vector<TableFile> files;
    std::set<std::string> names;
    for (const LayerProfile& profile : profiles.profiles) {
        std::string stem = steps_prefix(profile) + render::file_name_part(input.name);
        if (!is_main_kind(profiles, profile)) stem += "_kind" + std::to_string(profile.kind);
        // Steps of one batch size may be of several programs.
        std::string name = stem;
        for (int number = 2; !names.insert(name).second; ++number) name = stem + "_" + std::to_string(number);
        files.push_back({name + ".csv", layer_csv(input, profile)});
    }
    return files;
}

std::string layer_markdown(const LayerTableInput& input, const LayerProfiles& profiles) {
    const Window& window = *input.attribution.window;
    std::string text = fmt::format("# Layers of {}\n\n", render::markdown_cell(window.trace->file.filename().string()));
    if (window.trace->simulated) text += "The trace is simulated.\n\n";
    text += fmt::format("{}. Times are in microseconds, over layers and steps.\n\n", render::markdown_cell(window.description));
    for (const LayerProfile& profile : profiles.profiles) text += layer_section(input, profile);
    return text + comparisons(input, profiles) + sums_section(profiles);
}

}  // namespace adpipe::render_tables
