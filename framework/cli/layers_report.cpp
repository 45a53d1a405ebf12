#include "cli/layers_report.hpp"

#include "cli/console.hpp"

#include <adpipe/kernel_names.hpp>
#include <adpipe/render/distinct_names.hpp>
#include <adpipe/render/layer_profile.hpp>
#include <adpipe/render/number.hpp>
#include <adpipe/render/text_table.hpp>

#include <fmt/format.h>

#include <array>
#include <map>
#include <set>
#include <unordered_map>

namespace adpipe::cli {
namespace {

constexpr std::array<const char*, 19> layers_columns = {"kind",     "row",        "start_ns", "duration_ns", "process",
                                                        "device",   "stream",     "step",     "phase",       "batch",
                                                        "program",  "stack",      "layer",    "layer_kind",  "position",
                                                        "category", "confidence", "name",     "operator"};
using LayersRow = std::array<std::string, layers_columns.size()>;
constexpr const char* not_known = "-";

constexpr bool is_layers_number(std::size_t column) {
    return (column >= 1 && column <= 7) || column == 9 || column == 13 || column == 14 || column == 16;
}

/// What the rows of one vertex have in common.
struct PlaceInLayer {
    std::string layer_kind{not_known};
    std::string position{not_known};
};

class LayersRows {
public:
    explicit LayersRows(const FoundLayers& found) : found_(found), window_(*found.attribution.window), trace_(*window_.trace) {
        std::unordered_map<std::uint64_t, const Layer*> layers;
        for (const Layer& layer : found.layers.layers) layers.emplace(key(layer.module, layer.stack, layer.number), &layer);
        std::unordered_map<std::uint64_t, std::uint32_t> positions;
        for (VertexId v = 0; v < found.graph.size(); ++v) {
            const Membership& member = found.layers.of[v];
            const std::uint64_t place = key(found.graph.vertex(v).module, member.stack, member.layer);
            PlaceInLayer& here = places_.emplace_back();
            here.position = std::to_string(positions[place]++);
            if (const auto layer = layers.find(place); layer != layers.end()) here.layer_kind = std::to_string(layer->second->kind);
        }
        for (const std::string& text : trace_.strings) {
            names_.push_back(tsv_text(text));
            categories_.emplace_back();
        }
    }

    /// `use` gets a row per kernel of the chosen steps.
    template <class Use>
    void for_each(Use use) {
        for (std::uint32_t s = 0; s < window_.steps.size(); ++s) {
            if (!window_.steps[s].chosen) continue;
            for (const std::uint32_t k : window_.steps[s].kernels) use(row(s, k));
        }
    }

private:
    static std::uint64_t key(std::uint16_t module, TextId stack, LayerId layer) {
        return (std::uint64_t{module} << 48U) | (std::uint64_t{stack & 0xffffU} << 32U) | static_cast<std::uint32_t>(layer);
    }

    static std::string number_or_unknown(std::int64_t value) { return value < 0 ? not_known : std::to_string(value); }

    const LayersRow& row(std::uint32_t s, std::uint32_t k) {
        static constexpr std::array<const char*, 3> kinds{"kernel", "memcpy", "memset"};
        const Kernels& kernels = trace_.kernels;
        const Step& step = window_.steps[s];
        const KernelKind kind = kernels.kind.empty() ? KernelKind::kernel : kernels.kind[k];
        const std::int64_t pid = step.process < trace_.processes.size() ? trace_.processes[step.process].pid : -1;
        row_[0] = kinds[static_cast<std::size_t>(kind)];
        row_[1] = std::to_string(kernels.row.empty() ? k : kernels.row[k]);
        row_[2] = std::to_string(kernels.start[k]);
        row_[3] = std::to_string(kernels.end[k] - kernels.start[k]);
        row_[4] = std::to_string(pid >= 0 ? pid : step.process);
        row_[5] = number_or_unknown(kernels.device.empty() ? -1 : kernels.device[k]);
        row_[6] = number_or_unknown(kernels.stream.empty() ? -1 : kernels.stream[k]);
        row_[7] = std::to_string(step.number);
        row_[8] = phase_text(step.phase);
        row_[9] = number_or_unknown(step.batch_size);
        set_place(k);
        const StringId name = kernels.name[k];
        row_[15] = category(name, kind);
        row_[17] = names_[name].empty() ? not_known : names_[name];
        const std::string& op = found_.operators.of(k);
        row_[18] = op.empty() ? not_known : tsv_text(op);
        return row_;
    }

    void set_place(std::uint32_t k) {
        for (std::size_t column = 10; column <= 16; ++column) row_[column] = not_known;
        const auto nodes = found_.attribution.nodes(k);
        if (found_.attribution.evidence[k] == Evidence::none) return;
        row_[12] = layer_text(found_.attribution.layer[k]);
        row_[16] = fmt::format("{:.2f}", static_cast<double>(found_.attribution.confidence[k]));
        if (nodes.empty()) return;
        const VertexId v = nodes.front();
        const Membership& member = found_.layers.of[v];
        row_[10] = tsv_text(found_.graph.modules()[found_.graph.vertex(v).module].name);
        if (member.stack != 0) row_[11] = tsv_text(found_.layers.text(member.stack));
        row_[13] = places_[v].layer_kind;
        row_[14] = places_[v].position;
    }

    const std::string& category(StringId name, KernelKind kind) {
        static const std::string copy{category_text(KernelCategory::copy)};
        if (kind != KernelKind::kernel) return copy;
        std::string& known = categories_[name];
        if (known.empty()) known = category_text(KernelNames::built_in().decode(trace_.string(name)).category);
        return known;
    }

    const FoundLayers& found_;
    const Window& window_;
    const Trace& trace_;
    std::vector<PlaceInLayer> places_;
    std::vector<std::string> names_;
    std::vector<std::string> categories_;
    LayersRow row_;
};

std::string layers_of_kind(const FoundLayers& found, const FoundProgram& program, std::uint32_t kind) {
    std::vector<std::int64_t> numbers;
    for (const Layer& layer : found.layers.layers) {
        if (layer.module == program.module && layer.kind == kind) numbers.push_back(layer.number);
    }
    return render::number_ranges(std::move(numbers));
}

std::string headline(const FoundProgram& program) {
    std::string text = fmt::format("{}: {} layers of {} {}", tsv_text(program.name), program.layers, program.kinds.size(),
                                   program.kinds.size() == 1 ? "kind" : "kinds");
    if (program.stacks > 1) text += fmt::format(" in {} stacks", program.stacks);
    text += fmt::format(", in {}\n  confidence {:.2f}", render::count_text(program.steps.size(), "step"), program.confidence);
    if (program.runner_up) {
        text += fmt::format("; next best reading: {} of {}, {:.1f} times as long to describe",
                            render::count_text(program.runner_up->layers, "layer"),
                            render::count_text(program.runner_up->kernels_per_layer, "kernel"), program.runner_up->cost);
    }
    text += fmt::format("\n  each layer begins with {}\n", tsv_text(program.first_kernel));
    if (program.times_mixed_up) text += "  found in the order of the file: the profiler gave some kernels the times of others\n";
    return text;
}

void add_profile(const FoundLayers& found, const FoundProgram& program, const render::LayerProfile& profile, bool with_operators,
                 std::string& text) {
    const Trace& trace = *found.attribution.window->trace;
    std::string title = fmt::format("\nkind {}: layers {}", profile.kind, layers_of_kind(found, program, profile.kind));
    if (profile.phase != Phase::unknown) title += fmt::format(" · {}", phase_text(profile.phase));
    if (profile.batch_size >= 0) title += fmt::format(" batch {}", profile.batch_size);
    text += title +
            fmt::format(" · {} × {}\n", render::count_text(profile.layers.size(), "layer"), render::count_text(profile.steps, "step"));
    std::vector<render::TextTable::Column> columns{{"pos", true}, {"kernel", false, 16}, {.head = "category", .least = 6}};
    if (with_operators) columns.push_back({"operator", false, 10});
    columns.insert(
        columns.end(),
        {{"calls", true}, {"mean µs", true}, {"min", true}, {"max", true}, {"share", true}, {.head = "", .gap = 1, .may_go = true}});
    render::TextTable table(std::move(columns));
    Nanoseconds longest = 0;
    std::map<StringId, std::size_t> index;  // of the names of the rows
    std::vector<KernelName> names;
    for (const render::ProfileRow& row : profile.rows) {
        longest = std::max(longest, row.time.total);
        if (index.emplace(row.name, names.size()).second) names.push_back(KernelNames::built_in().decode(trace.string(row.name)));
    }
    const std::vector<std::string> short_names = render::distinct_short_names(names);
    for (const render::ProfileRow& row : profile.rows) {
        const KernelName& name = names[index[row.name]];
        const KernelCategory category = row.kind == KernelKind::kernel ? name.category : KernelCategory::copy;
        std::vector<render::TextTable::Cell> cells{{std::to_string(row.position)},
                                                   {short_names[index[row.name]]},
                                                   {std::string{category_text(category)}}};
        if (with_operators) cells.push_back({commonest_operator(found.operators, row.kernels)});
        cells.insert(cells.end(), {{render::count_text(row.time.count)},
                                   {render::microseconds_text(static_cast<Nanoseconds>(row.time.mean() + 0.5))},
                                   {render::microseconds_text(row.time.minimum)},
                                   {render::microseconds_text(row.time.maximum)},
                                   {render::percent_text(row.time.total, profile.total)},
                                   render::bar_cell(static_cast<double>(row.time.total), static_cast<double>(longest))});
        table.add_row(std::move(cells));
    }
    table.add_rule();
    std::vector<render::TextTable::Cell> sum{{""}, {"one layer"}, {""}};
    if (with_operators) sum.push_back({""});
    sum.insert(sum.end(), {{render::count_text(profile.executions)},
                           {render::microseconds_text(profile.total / std::max<Nanoseconds>(1, profile.executions))},
                           {render::microseconds_text(profile.layer_sum.minimum)},
                           {render::microseconds_text(profile.layer_sum.maximum)},
                           {"100 %"}});
    table.add_row(std::move(sum));
    text += table.text(output_terminal().columns, output_terminal().colour);
}

std::int64_t rank_of(const Trace& trace, const Step& step) {
    const bool known = step.process < trace.processes.size() && trace.processes[step.process].rank >= 0;
    return known ? trace.processes[step.process].rank : step.process;
}

std::string rank_text(const Trace& trace, const Step& step) {
    std::string text = fmt::format("rank {}", rank_of(trace, step));
    if (step.device >= 0) text += fmt::format(" on device {}", step.device);
    return text;
}

/// Which of several ranks and devices is shown, and how to see another; empty where there is one.
std::string ranks_text(const Window& window) {
    std::string shown;
    std::set<std::string> others;
    for (const Step& step : window.steps) {
        if (step.chosen) shown = rank_text(*window.trace, step);
        else if (step.left_out == left_out_other_rank) others.insert(rank_text(*window.trace, step));
    }
    if (others.empty()) return {};
    return fmt::format("{} alone is shown; --rank or --device chooses another: {}\n\n", shown, fmt::join(others, ", "));
}

/// Passes that the recording has a part of.
std::string left_out_text(const FoundLayers& found) {
    const Window& window = *found.attribution.window;
    std::string text;
    for (const std::uint32_t s : found.segmentation.steps_cut_off) {
        const Step& step = window.steps[s];
        text += fmt::format("\nleft out: {} of a pass {}\n", render::count_text(step.kernels.size(), "kernel"), step.missing);
    }
    return text;
}

std::string totals_text(const render::ProfileTotals& totals) {
    return fmt::format("\nall {} in {} = {} in layers + {} before or behind them + {} not known\n", render::duration_text(totals.all),
                       render::count_text(totals.kernels, "kernel"), render::duration_text(totals.in_layers),
                       render::duration_text(totals.outside), render::duration_text(totals.unknown));
}

std::string program_json(const FoundLayers& found, const FoundProgram& program) {
    std::string kinds;
    for (std::uint32_t k = 0; k < program.kinds.size(); ++k) {
        kinds += fmt::format(R"({}{{"kind": {}, "layers": {}, "kernels": {}, "numbers": {}}})", k == 0 ? "" : ", ", k,
                             program.kinds[k].layers, program.kinds[k].kernels, json_text(layers_of_kind(found, program, k)));
    }
    std::string runner_up = "null";
    if (program.runner_up) {
        runner_up = fmt::format(R"({{"layers": {}, "kernels_per_layer": {}, "cost": {:.3f}}})", program.runner_up->layers,
                                program.runner_up->kernels_per_layer, program.runner_up->cost);
    }
    return fmt::format(R"({{"program": {}, "layers": {}, "stacks": {}, "steps": {}, "kinds": [{}], "first_kernel": {}, "order": {}, )"
                       R"("times_mixed_up": {}, "confidence": {:.2f}, "runner_up": {}}})",
                       json_text(program.name), program.layers, program.stacks, program.steps.size(), kinds,
                       json_text(program.first_kernel), json_text(program.order), program.times_mixed_up, program.confidence, runner_up);
}

}  // namespace

void write_layers_table(const FoundLayers& found) {
    const render::LayerProfiles profiles = render::layer_profiles(found.graph, found.layers, found.attribution);
    const bool with_operators = render::any_operator(found.operators, profiles);
    std::string text = ranks_text(*found.attribution.window);
    bool first = true;
    for (const FoundProgram& program : found.segmentation.programs) {
        text += (first ? "" : "\n") + headline(program);
        first = false;
        for (const render::LayerProfile& profile : profiles.profiles) {
            if (profile.module == program.module) add_profile(found, program, profile, with_operators, text);
        }
    }
    text += left_out_text(found);
    if (const std::size_t without = found.segmentation.steps_without_layers.size(); without > 0) {
        text += fmt::format("\n{} in which nothing repeats as layers do: left out\n", render::count_text(without, "step"));
    }
    Output::standard().write(text + totals_text(profiles.totals));
}

void write_layers_tsv(const FoundLayers& found) {
    std::string head;
    for (const char* name : layers_columns) head += (head.empty() ? "" : "\t") + std::string{name};
    Output::standard().write(head + "\n");
    std::string line;
    LayersRows(found).for_each([&](const LayersRow& row) {
        line.clear();
        for (const std::string& field : row) line.append(field).append(&field == &row.back() ? "\n" : "\t");
        Output::standard().write(line);
    });
}

void write_layers_json(const FoundLayers& found) {
    std::string text = "{\"programs\": [";
    for (std::size_t i = 0; i < found.segmentation.programs.size(); ++i) {
        text += (i == 0 ? "\n" : ",\n") + program_json(found, found.segmentation.programs[i]);
    }
    Output::standard().write(text + "\n],\n\"kernels\": [");
    const char* separator = "\n{";
    LayersRows(found).for_each([&](const LayersRow& row) {
        std::string object = separator;
        separator = ",\n{";
        for (std::size_t i = 0; i < row.size(); ++i) {
            object += (i == 0 ? "" : ", ") + json_text(layers_columns[i]) + ": ";
            object += row[i] == not_known ? "null" : is_layers_number(i) ? row[i] : json_text(row[i]);
        }
        Output::standard().write(object + "}");
    });
    Output::standard().write("\n]}\n");
}

}  // namespace adpipe::cli
