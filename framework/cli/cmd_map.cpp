#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/front_door.hpp"
#include "cli/pipeline_run.hpp"
#include "config/layer_selection.hpp"
#include "run/pipeline_builder.hpp"

#include <fmt/format.h>

#include <utility>

namespace adpipe::cli {
namespace {

struct MapOptions {
    std::string prefill;
    std::optional<std::string> decode;
    LayerSource source;
    std::optional<std::string> companion;
    LayerSelection layers;
    std::string left = "prefill";
    std::string right = "decode";
    std::optional<std::string> left_batch;
    std::optional<std::string> right_batch;
    std::string format = "table";
    std::optional<std::string> output;
};

/// The stages from a trace to the layers in it; `side` tells the two traces apart.
void add_side(PipelineBuilder& pipeline, const MapOptions& options, const std::string& trace, const std::string& side) {
    add_trace(pipeline, trace).id(side);
    const std::string window = side + "_steps";
    pipeline.add("window.replay").with("phase", "all").with("may_be_empty", true).id(window).from("trace", side);
    add_operators(pipeline, window, options.companion.has_value());
    options.source.add_kernels(pipeline).id(side + (options.source.dump ? "_kernels" : "_layers")).from("window", window);
}

PipelineBuilder map_pipeline(const MapOptions& options) {
    PipelineBuilder pipeline{"map"};
    if (options.output) pipeline.output(*options.output);
    pipeline.layers(options.layers);
    options.source.add_graph(pipeline);
    if (options.companion) add_companion(pipeline, *options.companion, false);
    add_side(pipeline, options, options.prefill, "left");
    if (options.decode) add_side(pipeline, options, *options.decode, "right");
    std::vector<std::string> formats{options.format == "table" ? "terminal" : options.format};
    if (options.output) formats = {"markdown", "html"};
    auto map = pipeline.add("render.kernel_map");
    map.with("formats", formats).with("left", options.left).with("right", options.right).with("print", !options.output);
    if (options.left_batch) map.with("left_batch", *options.left_batch);
    if (options.right_batch) map.with("right_batch", *options.right_batch);
    return pipeline;
}

/// Complains and gives the exit status if an option has a value that it cannot have. Fills options.layers in.
std::optional<int> check_map(MapOptions& options, const std::optional<std::string>& layer) {
    for (const auto& [name, phase] : {std::pair{"left", options.left}, std::pair{"right", options.right}}) {
        if (const auto wrong = check_choice("map", name, phase, {"prefill", "decode", "mixed", "unknown", "other", "capture"}))
            return wrong;
    }
    if (const auto wrong = check_choice("map", "format", options.format, {"table", "markdown", "html"})) return wrong;
    for (const auto& [name, batch] : {std::pair{"left-batch", options.left_batch}, std::pair{"right-batch", options.right_batch}}) {
        if (batch && !is_count(*batch))
            return usage_error("ADP-USE-007", fmt::format("--{} is a number from 0; found '{}'", name, *batch), "map");
    }
    if (options.source.dump && options.source.pattern)
        return usage_error("ADP-USE-021", "--dump and --pattern are ways to find layers; give one", "map");
    if (!layer) return std::nullopt;
    const std::string wrong = add_layers(*layer, options.layers);
    return wrong.empty() ? std::nullopt : std::optional{usage_error("ADP-USE-011", wrong, "map")};
}

}  // namespace

int cmd_map(const Arguments& arguments) {
    MapOptions options;
    PipelineOptions run_options;
    CommandLine line{"map", "PREFILL [DECODE]",
                     "Sets the kernels of a layer in prefill beside those in decode: which are the same, which differ "
                     "and in what, which "
                     "only one has.\n"
                     "Of one trace that has both phases, or of two traces, whatever they are of. Needs no dump.",
                     "adpipe map samples/deepseek_v3/decode.sqlite --left decode --left-batch 8"};
    std::optional<std::string> layer;
    line.argument("PREFILL", trace_doc, &options.prefill);
    line.argument("DECODE", "another one; without it both sides are of the first", &options.decode);
    line.option("layer", "N", "only kinds of layer that these are of: a number, a list, a range (default: every kind)", &layer);
    line.option("left", "PHASE",
                "the steps on the left: prefill (default), decode, mixed, unknown; with two traces all of the first "
                "where it has none",
                &options.left);
    line.option("right", "PHASE", "the same for the right side (default: decode)", &options.right);
    line.option("left-batch", "N", "batch size on the left (default: the one with the most executions of layers)", &options.left_batch);
    line.option("right-batch", "N", "the same for the right side", &options.right_batch);
    line.option("dump", "DUMP", "the graph that ran: a dump file, or a directory of dumps (the last one is taken)", &options.source.dump);
    line.option("module", "NAME", "with --dump: the graph module to read; else the parser chooses", &options.source.module);
    line.option("pattern", "NAME", "without --dump: a part of the name of a kernel that runs once a layer", &options.source.pattern);
    line.option("companion", "TRACE2", launch_companion_doc, &options.companion);
    line.option("format", "FORMAT", "table, markdown or html (default: table)", &options.format);
    line.option("output,o", "DIR", "write kernel_map.md and kernel_map.html there", &options.output);
    run_options.add_to(line);
    if (const auto done = line.parse(arguments)) return *done;
    if (const auto wrong = check_map(options, layer)) return *wrong;
    run_options.narrate = options.output.has_value();
    RunResult result;
    return finish(run_pipeline(map_pipeline(options).config(), run_options, result));
}

}  // namespace adpipe::cli
