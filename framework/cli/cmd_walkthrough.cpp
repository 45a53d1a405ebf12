#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/front_door.hpp"
#include "cli/pipeline_run.hpp"
#include "cli/trace_kind.hpp"
#include "config/layer_selection.hpp"
#include "run/pipeline_builder.hpp"

namespace adpipe::cli {
namespace {

struct WalkOptions {
    std::string trace;
    LayerSource source;
    std::optional<std::string> layer;
    LayerSelection layers;
    std::string kernel;
    std::optional<std::string> companion;
    StepOptions steps{"all"};
    std::string format = "table";
    std::optional<std::string> output;
};

/// The trace, its steps, and those of its companion.
void add_steps(PipelineBuilder& pipeline, const WalkOptions& options, bool may_be_empty) {
    if (options.companion) add_companion(pipeline, *options.companion, true);
    add_detailed_trace(pipeline, options.trace, "trace");
    options.steps.add_window(pipeline).id("steps").from("trace", "trace").with("may_be_empty", may_be_empty);
}

/// Where documents go: to a directory, or to standard output.
void add_document(PipelineBuilder::Step renderer, const WalkOptions& options) {
    if (options.companion) renderer.from("companion", companion_window);
    std::vector<std::string> formats{options.format == "table" ? "terminal" : options.format};
    if (options.output) formats = {"markdown", "html"};
    renderer.with("formats", formats).with("print", !options.output);
}

PipelineBuilder walkthrough_pipeline(const WalkOptions& options) {
    PipelineBuilder pipeline{"walkthrough"};
    if (options.output) pipeline.output(*options.output);
    pipeline.layers(options.layers);
    options.source.add_graph(pipeline);
    add_steps(pipeline, options, true);
    options.source.add_kernels(pipeline).from("window", "steps");
    auto renderer = pipeline.add("render.walkthrough");
    if (!options.kernel.empty()) renderer.with("kernel", options.kernel);
    add_document(renderer, options);
    return pipeline;
}

PipelineBuilder sources_pipeline(const WalkOptions& options) {
    PipelineBuilder pipeline{"sources"};
    if (options.output) pipeline.output(*options.output);
    add_steps(pipeline, options, false);
    add_document(pipeline.add("render.source_trace").from("window", "steps"), options);
    return pipeline;
}

}  // namespace

int cmd_walkthrough(const Arguments& arguments) {
    WalkOptions options;
    PipelineOptions run_options;
    CommandLine line{"walkthrough", "TRACE",
                     "Walks through a layer, or one of its kernels: what runs in which order, called from where with "
                     "which shapes, launched how, how much of "
                     "the\n"
                     "GPU it can fill, how long it takes; and what the trace does not hold. Needs no dump.",
                     "adpipe walkthrough samples/served_model/simulated_served_model.trace.json.gz --layer 5"};
    line.argument("TRACE", trace_doc, &options.trace);
    line.option("layer", "N", "the kind of layer that this one is of (default: the kind with the most time)", &options.layer);
    line.option("kernel", "KERNEL", "only this kernel of it: a part of its name, or its position", &options.kernel);
    options.steps.add_to(line);
    line.option("dump", "DUMP", "the graph that ran: a dump file, or a directory of dumps (the last one is taken)", &options.source.dump);
    line.option("companion", "TRACE2", launch_companion_doc, &options.companion);
    line.option("module", "NAME", "with --dump: the graph module to read; else the parser chooses", &options.source.module);
    line.option("pattern", "NAME", "without --dump: a part of the name of a kernel that runs once a layer", &options.source.pattern);
    line.option("format", "FORMAT", "table, markdown or html (default: table)", &options.format);
    line.option("output,o", "DIR", "write walkthrough.md and walkthrough.html there", &options.output);
    run_options.add_to(line);
    if (const auto done = line.parse(arguments)) return *done;
    if (const auto wrong = options.steps.check("walkthrough")) return *wrong;
    if (const auto wrong = check_choice("walkthrough", "format", options.format, {"table", "markdown", "html"})) return *wrong;
    if (options.source.dump && options.source.pattern)
        return usage_error("ADP-USE-021", "--dump and --pattern are ways to find layers; give one", "walkthrough");
    if (options.layer) {
        if (const std::string wrong = add_layers(*options.layer, options.layers); !wrong.empty())
            return usage_error("ADP-USE-011", wrong, "walkthrough");
    }
    run_options.narrate = options.output.has_value();
    RunResult result;
    return finish(run_pipeline(walkthrough_pipeline(options).config(), run_options, result));
}

int cmd_sources(const Arguments& arguments) {
    WalkOptions options;
    PipelineOptions run_options;
    CommandLine line{"sources", "TRACE",
                     "Leads from the program's source lines to its kernels: the call stacks of a PyTorch trace as a "
                     "list of files and lines, the parameters of "
                     "every\n"
                     "kernel, and one drawing from end to end, for a step of each phase and batch size.",
                     "adpipe sources samples/served_model/simulated_served_model.trace.json.gz -o out"};
    line.argument("TRACE", "JSON of the PyTorch profiler, recorded with with_stack=True", &options.trace);
    options.steps.add_to(line);
    line.option("companion", "TRACE2", launch_companion_doc, &options.companion);
    line.option("format", "FORMAT", "table, markdown or html (default: table)", &options.format);
    line.option("output,o", "DIR", "write source_trace.md and source_trace.html there", &options.output);
    run_options.add_to(line);
    if (const auto done = line.parse(arguments)) return *done;
    if (const auto wrong = options.steps.check("sources")) return *wrong;
    if (const auto wrong = check_choice("sources", "format", options.format, {"table", "markdown", "html"})) return *wrong;
    run_options.narrate = options.output.has_value();
    RunResult result;
    return finish(run_pipeline(sources_pipeline(options).config(), run_options, result));
}

}  // namespace adpipe::cli
