#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/front_door.hpp"
#include "cli/layers_report.hpp"
#include "cli/pipeline_run.hpp"
#include "run/pipeline_builder.hpp"

namespace adpipe::cli {
namespace {

struct LayersOptions {
    std::string trace;
    LayerSource source;
    bool begins = false;
    std::optional<std::string> companion;
    StepOptions steps{"all"};
    std::string format = "table";
};

PipelineBuilder layers_pipeline(const LayersOptions& options) {
    PipelineBuilder pipeline{"layers"};
    if (options.companion) add_companion(pipeline, *options.companion, false);
    // A list tells ranks and devices apart in columns; statistics are of one.
    const bool every_kernel = options.format != "table";
    add_trace(pipeline, options.trace).id("trace");
    options.steps.add_window(pipeline).id("steps").from("trace", "trace").with("all_ranks", every_kernel).with("may_be_empty", true);
    add_operators(pipeline, "steps", options.companion.has_value());
    PipelineBuilder::Step segment = options.source.add_kernels(pipeline).from("window", "steps");
    if (options.source.pattern) segment.with("begins", options.begins);
    pipeline.keep<GraphModel>().keep<Layers>().keep<Attribution>().keep<Segmentation>().keep<Operators>();
    return pipeline;
}

}  // namespace

int cmd_layers(const Arguments& arguments) {
    LayersOptions options;
    PipelineOptions run_options;
    CommandLine line{"layers", "TRACE",
                     "Finds a model's layers in a trace alone, by what repeats in the order of its kernels: how many, "
                     "of which kinds, how sure\n"
                     "that is, and the next best reading; and for every kernel its layer and its position there.",
                     "adpipe layers samples/deepseek_v3/decode.sqlite"};
    line.argument("TRACE", "a profiler trace: an export of Nsight Systems, JSON of the PyTorch profiler, rocpd or rocprofv3's CSV",
                  &options.trace);
    line.option("pattern", "NAME", "a part of the name of a kernel that runs once a layer, where you know one; '*' stands for any text",
                &options.source.pattern);
    line.option("range", "NAME", "a part of the name of ranges (NVTX, record_function) each of which is a layer", &options.source.range);
    line.flag("begins", "with --pattern: layers begin at that kernel, not at the norm before it", &options.begins);
    line.option("companion", "TRACE2", launch_companion_doc, &options.companion);
    options.steps.add_to(line);
    line.option("format", "FORMAT",
                "table, tsv or json (default: table); tsv and json list every kernel, of all ranks; the table shows one", &options.format);
    run_options.add_to(line);
    if (const auto done = line.parse(arguments)) return *done;
    if (const auto wrong = check_choice("layers", "format", options.format, {"table", "tsv", "json"})) return *wrong;
    if (const auto wrong = options.steps.check("layers")) return *wrong;
    if (options.begins && !options.source.pattern)
        return usage_error("ADP-USE-020", "--begins needs --pattern: the kernel that layers begin at", "layers");

    if (options.source.range && options.source.pattern)
        return usage_error("ADP-USE-022", "--pattern and --range are two ways to find layers; give one", "layers");

    RunResult result;
    if (const int status = run_pipeline(layers_pipeline(options).config(), run_options, result); status != exit_ok) return finish(status);
    const auto graph = result.artifact<GraphModel>();
    const auto layers = result.artifact<Layers>();
    const auto attribution = result.artifact<Attribution>();
    const auto segmentation = result.artifact<Segmentation>();
    const auto operators = result.artifact<Operators>();
    const FoundLayers found{*graph, *layers, *attribution, *segmentation, *operators};
    if (options.format == "tsv") write_layers_tsv(found);
    else if (options.format == "json") write_layers_json(found);
    else write_layers_table(found);
    return finish(exit_ok);
}

}  // namespace adpipe::cli
