#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/front_door.hpp"
#include "cli/pipeline_run.hpp"
#include "run/pipeline_builder.hpp"

#include <adpipe/model/attribution.hpp>
#include <adpipe/model/graph_fwd.hpp>
#include <adpipe/model/window.hpp>

#include <array>
#include <charconv>
#include <string_view>

namespace adpipe::cli {
namespace {

constexpr std::array<const char*, 14> kernel_columns = {"kind",  "row",  "start_ns", "duration_ns", "process",  "device",     "stream",
                                                        "phase", "step", "layer",    "node",        "evidence", "confidence", "name"};
constexpr std::string_view unknown = "-";

/// Columns whose values are numbers, for JSON.
constexpr bool is_number(std::size_t column) { return column >= 1 && column <= 6; }

struct KernelTable {
    const Window& window;
    const GraphModel* graph = nullptr;
    const Attribution* attribution = nullptr;
    bool all = true;  ///< false: only kernels of chosen steps
};

/// A row's fields, in buffers that are used again for the next row.
class RowWriter {
public:
    explicit RowWriter(const KernelTable& table) : table_(table), trace_(*table.window.trace), kernels_(trace_.kernels) {
        names_.reserve(trace_.strings.size());
        for (const std::string& text : trace_.strings) names_.push_back(tsv_text(text));
    }

    bool is_wanted(std::uint32_t k) const {
        if (table_.all) return true;
        const std::uint32_t step = table_.window.step_of_kernel[k];
        return step != Window::no_step && table_.window.steps[step].chosen;
    }

    const std::array<std::string, kernel_columns.size()>& row(std::uint32_t k) {
        static constexpr std::array<std::string_view, 3> kinds{"kernel", "memcpy", "memset"};
        fields_[0] = kinds[static_cast<std::size_t>(kernels_.kind[k])];
        number(1, kernels_.row[k]);
        number(2, kernels_.start[k]);
        number(3, kernels_.end[k] - kernels_.start[k]);
        process(k);
        number_or_unknown(5, kernels_.device.empty() ? -1 : kernels_.device[k]);
        number_or_unknown(6, kernels_.stream.empty() ? -1 : kernels_.stream[k]);
        step(k);
        attribution(k);
        const StringId short_name = kernels_.short_name.empty() ? 0 : kernels_.short_name[k];
        fields_[13] = names_[short_name != 0 ? short_name : kernels_.name[k]];
        if (fields_[13].empty()) fields_[13] = unknown;
        return fields_;
    }

private:
    void number(std::size_t column, std::int64_t value) {
        std::array<char, 24> digits;
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        fields_[column].assign(digits.data(), end);
    }
    void number_or_unknown(std::size_t column, std::int64_t value) {
        if (value < 0) fields_[column] = unknown;
        else number(column, value);
    }

    void process(std::uint32_t k) {
        const std::uint16_t index = kernels_.process.empty() ? std::uint16_t{0} : kernels_.process[k];
        const std::int64_t pid = index < trace_.processes.size() ? trace_.processes[index].pid : -1;
        number(4, pid >= 0 ? pid : index);
    }

    void step(std::uint32_t k) {
        const std::uint32_t index = table_.window.step_of_kernel[k];
        if (index == Window::no_step) {
            fields_[7] = unknown;
            fields_[8] = unknown;
            return;
        }
        fields_[7] = phase_text(table_.window.steps[index].phase);
        number(8, table_.window.steps[index].number);
    }

    void attribution(std::uint32_t k) {
        for (std::size_t column = 9; column <= 12; ++column) fields_[column] = unknown;
        if (table_.attribution == nullptr) return;
        const Attribution& attribution = *table_.attribution;
        if (attribution.layer[k] != layer_unknown) fields_[9] = layer_text(attribution.layer[k]);
        const auto nodes = attribution.nodes(k);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const std::string_view name = table_.graph->vertex(nodes[i]).name;
            if (i == 0) fields_[10] = name;
            else fields_[10].append(",").append(name);
        }
        if (attribution.evidence[k] == Evidence::none) return;
        fields_[11] = evidence_text(attribution.evidence[k]);
        confidence(attribution.confidence[k]);
    }

    /// Two decimals, rounded down: what is not certain never shows as 1.00.
    void confidence(float value) {
        const int hundredths = value >= 1.0F ? 100 : static_cast<int>(value * 100.0F);
        fields_[12] = std::to_string(hundredths / 100) + "." + std::to_string(hundredths / 10 % 10) + std::to_string(hundredths % 10);
    }

    const KernelTable& table_;
    const Trace& trace_;
    const Kernels& kernels_;
    std::vector<std::string> names_;
    std::array<std::string, kernel_columns.size()> fields_;
};

void write_tsv(const KernelTable& table) {
    Output& output = Output::standard();
    std::string line;
    for (const char* name : kernel_columns) line += (line.empty() ? "" : "\t") + std::string{name};
    output.write(line + "\n");
    RowWriter rows(table);
    for (std::uint32_t k = 0; k < table.window.trace->kernels.size(); ++k) {
        if (!rows.is_wanted(k)) continue;
        const auto& fields = rows.row(k);
        line.clear();
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (i > 0) line += '\t';
            line += fields[i];
        }
        line += '\n';
        output.write(line);
    }
}

void write_json(const KernelTable& table) {
    Output& output = Output::standard();
    output.write("[");
    RowWriter rows(table);
    const char* separator = "\n{";
    for (std::uint32_t k = 0; k < table.window.trace->kernels.size(); ++k) {
        if (!rows.is_wanted(k)) continue;
        const auto& fields = rows.row(k);
        std::string object = separator;
        separator = ",\n{";
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const bool plain = fields[i] != unknown && (is_number(i) || i == 8 || i == 12);
            object += (i == 0 ? "" : ", ") + json_text(kernel_columns[i]) + ": ";
            object += fields[i] == unknown ? "null" : plain ? fields[i] : json_text(fields[i]);
        }
        output.write(object + "}");
    }
    output.write("\n]\n");
}

void write_table(const KernelTable& table) {
    std::vector<std::vector<std::string>> lines{{kernel_columns.begin(), kernel_columns.end()}};
    RowWriter rows(table);
    for (std::uint32_t k = 0; k < table.window.trace->kernels.size(); ++k) {
        if (!rows.is_wanted(k)) continue;
        const auto& fields = rows.row(k);
        lines.emplace_back(fields.begin(), fields.end());
    }
    Output::standard().write(aligned(lines));
}

struct KernelsOptions {
    std::string trace;
    std::optional<std::string> dump, companion;
    std::optional<std::string> module;
    std::optional<std::string> window;
    StepOptions steps{"all"};
    std::string format = "table";
    std::string strategy = usual_strategy;
};

PipelineBuilder kernels_pipeline(const KernelsOptions& options, const std::vector<std::string>& plugins) {
    PipelineBuilder pipeline{"kernels"};
    if (options.dump) {
        add_dump(pipeline, *options.dump, options.module);
        add_strategy(pipeline, options.strategy, plugins);
    }
    const bool all = !options.steps.narrow();
    const std::vector<std::pair<const char*, bool>> flags{{"incomplete", all}, {"all_ranks", true}, {"may_be_empty", all}};
    if (options.dump) {
        add_attribution(pipeline, options.trace, options.steps, options.companion, flags).from("layers", options.strategy);
        pipeline.keep<GraphModel>().keep<Attribution>();
    } else {
        add_trace(pipeline, options.trace);
        PipelineBuilder::Step window = options.steps.add_window(pipeline);
        for (const auto& [flag, value] : flags) window.with(flag, value);
    }
    pipeline.keep<Window>();
    return pipeline;
}

}  // namespace

int cmd_kernels(const Arguments& arguments) {
    KernelsOptions options;
    PipelineOptions run_options;
    CommandLine line{
        "kernels", "TRACE",
        "Lists every GPU kernel, memory copy and memory set of a trace with its step, and, with a dump, the layer and graph node that\n"
        "launched it and how that is known. With --phase, --step, … only those of the whole steps that are chosen.",
        "adpipe kernels samples/deepseek_v3/decode.sqlite --dump samples/deepseek_v3/dumps --format tsv"};
    line.argument("TRACE", trace_doc, &options.trace);
    line.option("dump", "DUMP", "the graph that ran: a dump file, or a directory of dumps (the last one is taken)", &options.dump);
    line.option("companion", "FILE", companion_doc, &options.companion);
    line.option("module", "NAME", "the graph module to read; else the parser chooses", &options.module);
    line.option("window", "PHASE", "the same as --phase", &options.window);
    options.steps.add_to(line);
    line.option("format", "FORMAT", "table, tsv or json (default: table)", &options.format);
    line.option("strategy", "STAGE", "the member stage that decides layers (default: member.dataflow)", &options.strategy);
    run_options.add_to(line);
    if (const auto done = line.parse(arguments)) return *done;
    if (const auto wrong = check_choice("kernels", "format", options.format, {"table", "tsv", "json"})) return *wrong;
    if (options.companion && !options.dump) {
        return usage_error("ADP-USE-024", "--companion helps to find the nodes of a graph: give --dump too", "kernels");
    }
    if (options.window) options.steps.phase = *options.window;
    if (const auto wrong = options.steps.check("kernels")) return *wrong;

    RunResult result;
    if (const int status = run_pipeline(kernels_pipeline(options, run_options.plugins).config(), run_options, result); status != exit_ok)
        return finish(status);
    const auto window = result.artifact<Window>();
    const auto graph = options.dump ? result.artifact<GraphModel>() : nullptr;
    const auto attribution = options.dump ? result.artifact<Attribution>() : nullptr;
    const KernelTable table{*window, graph.get(), attribution.get(), !options.steps.narrow()};
    if (options.format == "tsv") {
        write_tsv(table);
    } else if (options.format == "json") {
        write_json(table);
    } else {
        write_table(table);
    }
    return finish(exit_ok);
}

}  // namespace adpipe::cli
