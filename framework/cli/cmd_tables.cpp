#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/front_door.hpp"
#include "cli/pipeline_run.hpp"
#include "run/pipeline_builder.hpp"

namespace adpipe::cli {
namespace {

struct TablesOptions {
    std::string trace;
    LayerSource source;
    std::optional<std::string> companion;
    StepOptions steps{"all"};
    std::string begin = "layer";
    std::string name = "layer";
    std::string output = "out";
};

PipelineBuilder tables_pipeline(const TablesOptions& options) {
    PipelineBuilder pipeline{"tables"};
    pipeline.output(options.output);
    options.source.add_graph(pipeline);
    if (options.companion) add_companion(pipeline, *options.companion, false);
    add_trace(pipeline, options.trace).id("trace");
    options.steps.add_window(pipeline).id("steps").from("trace", "trace").with("may_be_empty", true);
    add_operators(pipeline, "steps", options.companion.has_value());
    options.source.add_kernels(pipeline).from("window", "steps");
    pipeline.add("render.layer_table").with("name", options.name).with("begin", options.begin);
    pipeline.add("render.kernel_inventory").from("window", "steps").with("formats", std::vector<std::string>{"csv", "markdown"});
    return pipeline;
}

}  // namespace

int cmd_tables(const Arguments& arguments) {
    TablesOptions options;
    PipelineOptions run_options;
    run_options.narrate = true;
    CommandLine line{"tables", "TRACE",
                     "Writes tables of a model's layers, as CSV per batch size and as one page of Markdown, and an "
                     "inventory of all kernels.\n"
                     "The layers come from a dump, if you have one, else from what repeats in the trace.",
                     "adpipe tables samples/deepseek_v3/decode.sqlite -o out/tables"};
    line.argument("TRACE", "a profiler trace", &options.trace);
    line.option("dump", "DUMP", "the graph that ran: a dump file, or a directory of dumps (the last one is taken)", &options.source.dump);
    line.option("module", "NAME", "with --dump: the graph module to read; else the parser chooses", &options.source.module);
    line.option("pattern", "NAME", "without --dump: a part of the name of a kernel that runs once a layer", &options.source.pattern);
    line.option("range", "NAME", "without --dump: a part of the name of ranges each of which is a layer", &options.source.range);
    line.option("companion", "TRACE2", launch_companion_doc, &options.companion);
    options.steps.add_to(line);
    line.option("begin", "WHERE", "what position 0 is: where the layer begins, or its attention kernel: layer (default), attention",
                &options.begin);
    line.option("name", "NAME", "of the files: conc<batch size>_NAME.csv, NAMEs.md (default: layer)", &options.name);
    line.option("output,o", "DIR", "where the files go (default: out)", &options.output);
    run_options.add_to(line);
    if (const auto done = line.parse(arguments)) return *done;
    if (const auto wrong = options.steps.check("tables")) return *wrong;
    if (const auto wrong = check_choice("tables", "begin", options.begin, {"layer", "attention"})) return *wrong;
    if (options.source.dump.has_value() + options.source.pattern.has_value() + options.source.range.has_value() > 1) {
        return usage_error("ADP-USE-021", "--dump, --pattern and --range are ways to find layers; give one", "tables");
    }
    RunResult result;
    return finish(run_pipeline(tables_pipeline(options).config(), run_options, result));
}

}  // namespace adpipe::cli
