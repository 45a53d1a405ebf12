#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/front_door.hpp"
#include "cli/pipeline_run.hpp"
#include "run/pipeline_builder.hpp"

#include <adpipe/model/step_times.hpp>
#include <adpipe/model/window.hpp>
#include <adpipe/render/number.hpp>
#include <adpipe/render/text_table.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace adpipe::cli {
namespace {

constexpr std::array<const char*, 13> step_columns = {"step",   "phase",   "graph",   "batch", "rank", "device", "kernels",
                                                      "sum_ns", "wall_ns", "idle_ns", "used",  "why",  "how"};
constexpr std::size_t phase_column = 1, used_column = 10, why_column = 11, how_column = 12;
constexpr std::string_view no_value = "-";

/// One line of the list: a step, or a launch of a graph whose kernels were not recorded.
struct StepLine {
    std::array<std::string, step_columns.size()> fields;
    StepTimes times;
};

std::string number_or_unknown(std::int64_t value) { return value < 0 ? std::string{no_value} : std::to_string(value); }

std::string rank_text(const Trace& trace, std::uint16_t process) {
    const bool known = process < trace.processes.size() && trace.processes[process].rank >= 0;
    return std::to_string(known ? trace.processes[process].rank : process);
}

void fill_times(StepLine& line, std::size_t kernels) {
    line.fields[6] = std::to_string(kernels);
    line.fields[7] = kernels == 0 ? std::string{no_value} : std::to_string(line.times.sum);
    line.fields[8] = std::to_string(line.times.wall);
    line.fields[9] = kernels == 0 ? std::string{no_value} : std::to_string(line.times.idle);
}

StepLine line_of(const Window& window, const Step& step) {
    StepLine line;
    line.times = times_of(window.trace->kernels, step);
    line.fields[0] = std::to_string(step.number);
    line.fields[phase_column] = phase_text(step.phase);
    line.fields[2] = step.replay && step.graph != no_id ? std::to_string(step.graph) : std::string{step.replay ? "?" : no_value};
    line.fields[3] = number_or_unknown(step.batch_size);
    line.fields[4] = rank_text(*window.trace, step.process);
    line.fields[5] = number_or_unknown(step.device);
    fill_times(line, step.kernels.size());
    line.fields[used_column] = step.chosen ? "yes" : "no";
    line.fields[why_column] = step.chosen && step.missing.empty() ? std::string{} : step.chosen ? step.missing : step.left_out;
    // What was not asked for may have been cut off all the same.
    if (!step.chosen && !step.missing.empty() && step.left_out != step.missing) line.fields[why_column] += "; " + step.missing;
    line.fields[how_column] = step.reason;
    return line;
}

StepLine line_of(const Trace& trace, std::size_t run) {
    const GraphRuns& runs = trace.graph_runs;
    StepLine line;
    line.fields.fill(std::string{no_value});
    line.times.wall = runs.end[run] - runs.start[run];
    line.fields[2] = std::to_string(runs.graph[run]);
    line.fields[4] = rank_text(trace, runs.process[run]);
    line.fields[5] = number_or_unknown(runs.device[run]);
    fill_times(line, 0);
    line.fields[used_column] = "no";
    line.fields[why_column] = "recorded as a whole, without its kernels";
    line.fields[how_column] = "a launch of a captured graph";
    return line;
}

/// Names the steps that took much longer than others of their kind: a median hides them.
void name_stragglers(const Window& window, std::vector<StepLine>& lines) {
    for (const Straggler& straggler : find_stragglers(window)) {
        std::string& why = lines[straggler.step].fields[why_column];
        why += (why.empty() ? "" : "; ") + std::string{"slow: "} + straggler_text(*window.trace, straggler);
    }
}

std::vector<StepLine> lines_of(const Window& window) {
    std::vector<StepLine> lines;
    for (const Step& step : window.steps) lines.push_back(line_of(window, step));
    name_stragglers(window, lines);
    for (std::size_t run = 0; run < window.trace->graph_runs.size(); ++run) lines.push_back(line_of(*window.trace, run));
    return lines;
}

std::string steps_tsv(const std::vector<StepLine>& lines) {
    std::string text;
    for (const char* name : step_columns) text += (text.empty() ? "" : "\t") + std::string{name};
    text += '\n';
    for (const StepLine& line : lines) {
        for (std::size_t i = 0; i < line.fields.size(); ++i) {
            text += (i == 0 ? "" : "\t") + (line.fields[i].empty() ? std::string{no_value} : tsv_text(line.fields[i]));
        }
        text += '\n';
    }
    return text;
}

std::string steps_json(const std::vector<StepLine>& lines) {
    std::string text = "[";
    for (const StepLine& line : lines) {
        text += text.size() > 1 ? ",\n{" : "\n{";
        for (std::size_t i = 0; i < line.fields.size(); ++i) {
            const std::string& value = line.fields[i];
            text += (i == 0 ? "" : ", ") + json_text(step_columns[i]) + ": ";
            if (value == no_value || value == "?" || (value.empty() && i >= why_column)) text += "null";
            else if (i == used_column) text += value == "yes" ? "true" : "false";
            else text += i == phase_column || i >= why_column ? json_text(value) : value;
        }
        text += "}";
    }
    return text + "\n]\n";
}

/// Of the first step of each phase, how its phase is known.
std::string phases_text(const std::vector<StepLine>& lines) {
    std::vector<std::vector<std::string>> rows;
    for (const StepLine& line : lines) {
        if (line.fields[0] == no_value) continue;  // a graph without its kernels is no step
        const std::string phase = line.fields[phase_column] + ":";
        if (std::none_of(rows.begin(), rows.end(), [&](const auto& row) { return row.front() == phase; })) {
            rows.push_back({phase, "step " + line.fields[0], line.fields[how_column]});
        }
    }
    return rows.empty() ? "" : "\nHow the phases are known:\n" + aligned(rows, "  ");
}

/// For people: times with their unit, only the columns that tell steps apart, what is left out in grey.
std::string steps_table(const std::vector<StepLine>& lines, const Window& window, const Terminal& terminal) {
    const auto differs = [&](std::size_t column) {
        return std::any_of(lines.begin(), lines.end(),
                           [&](const StepLine& line) { return line.fields[column] != lines.front().fields[column]; });
    };
    const bool several = differs(4) || differs(5);
    std::vector<render::TextTable::Column> columns{{"step", true}, {"phase"}, {"graph", true}, {"batch", true}};
    if (several) columns.insert(columns.end(), {{"rank", true}, {"device", true}});
    columns.insert(columns.end(), {{"kernels", true}, {"sum", true}, {"wall", true}, {"GPU idle", true}, {"used"}, {"", false, 12}});
    render::TextTable text(columns);
    for (const StepLine& line : lines) {
        const auto emphasis = line.fields[used_column] == "yes" ? render::Emphasis::none : render::Emphasis::quiet;
        const auto time = [&](std::size_t column, Nanoseconds value) {
            return line.fields[column] == no_value ? std::string{no_value} : render::duration_text(value);
        };
        std::vector<render::TextTable::Cell> cells;
        for (std::size_t i = 0; i <= 6; ++i) {
            if (several || (i != 4 && i != 5)) cells.push_back({line.fields[i], emphasis});
        }
        for (auto& value : {time(7, line.times.sum), time(8, line.times.wall), time(9, line.times.idle)})
            cells.push_back({value, emphasis});
        const std::string& why = line.fields[why_column];
        cells.push_back({line.fields[used_column], emphasis});
        cells.push_back({why, emphasis});
        text.add_row(std::move(cells));
    }
    const int width = std::max(60, terminal.is_terminal ? terminal.columns : 100);
    return window.description + "\n" + (lines.empty() ? "" : "\n" + text.text(width, terminal.colour)) + phases_text(lines);
}

}  // namespace

int cmd_steps(const Arguments& arguments) {
    std::string trace;
    std::string format = "table";
    StepOptions steps{"all"};
    PipelineOptions run_options;
    CommandLine line{
        "steps", "TRACE",
        "Lists the forward passes of a trace: replays of captured graphs and eager ones, with phase, batch size and times. \"wall\" is "
        "from\n"
        "the first kernel's start to the last one's end, \"GPU idle\" the part of it in which no kernel of the step ran. The options\n"
        "choose as for the other commands; what they leave out is listed too, with the reason.",
        "adpipe steps samples/deepseek_v3/decode.sqlite --phase decode"};
    line.argument("TRACE", trace_doc, &trace);
    line.option("format", "FORMAT", "table, tsv or json (default: table)", &format);
    steps.add_to(line);
    run_options.add_to(line);
    if (const auto done = line.parse(arguments)) return *done;
    if (const auto wrong = check_choice("steps", "format", format, {"table", "tsv", "json"})) return *wrong;
    if (const auto wrong = steps.check("steps")) return *wrong;

    PipelineBuilder pipeline{"steps"};
    add_trace(pipeline, trace);
    steps.add_window(pipeline).with("all_ranks", !steps.narrow()).with("may_be_empty", !steps.narrow());
    pipeline.keep<Window>();
    RunResult result;
    if (const int status = run_pipeline(pipeline.config(), run_options, result); status != exit_ok) return finish(status);
    const auto window = result.artifact<Window>();
    const std::vector<StepLine> lines = lines_of(*window);
    Output::standard().write(format == "tsv"    ? steps_tsv(lines)
                             : format == "json" ? steps_json(lines)
                                                : steps_table(lines, *window, output_terminal()));
    return finish(exit_ok);
}

}  // namespace adpipe::cli
