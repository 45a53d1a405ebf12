#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/front_door.hpp"
#include "cli/pipeline_run.hpp"
#include "run/pipeline_builder.hpp"

namespace adpipe::cli {
namespace {

struct InventoryOptions {
    std::string trace;
    StepOptions steps{"whole"};
    std::string format = "table";
    bool all = false;
};

PipelineBuilder inventory_pipeline(const InventoryOptions& options) {
    const bool whole = options.steps.phase == "whole" && !options.steps.narrow();
    PipelineBuilder pipeline{"inventory"};
    add_trace(pipeline, options.trace);
    options.steps.add_window(pipeline).with("all_ranks", whole).with("may_be_empty", true);
    pipeline.add("render.kernel_inventory")
        .with("steps", whole ? "all" : "chosen")
        .with("formats", std::vector<std::string>{options.format == "table" ? "terminal" : options.format})
        .with("most", options.all ? 0 : 30)
        .with("print", true);
    return pipeline;
}

}  // namespace

int cmd_inventory(const Arguments& arguments) {
    InventoryOptions options;
    PipelineOptions run_options;
    CommandLine line{"inventory", "TRACE",
                     "Counts all kernels of a trace by name and by what they do: how often, how long, which share; and "
                     "per device how\n"
                     "long it was busy and idle. Needs no dump.",
                     "adpipe inventory samples/deepseek_v3/decode.sqlite --phase decode"};
    line.argument("TRACE", "a profiler trace", &options.trace);
    options.steps.add_to(line);
    line.option("format", "FORMAT", "table, csv or markdown (default: table)", &options.format);
    line.flag("all", "every kernel name in the table, not only those with the most time", &options.all);
    run_options.add_to(line);
    if (const auto done = line.parse(arguments)) return *done;
    if (const auto wrong = check_choice("inventory", "format", options.format, {"table", "csv", "markdown"})) return *wrong;
    if (const auto wrong = options.steps.check("inventory")) return *wrong;
    RunResult result;
    return finish(run_pipeline(inventory_pipeline(options).config(), run_options, result));
}

}  // namespace adpipe::cli
