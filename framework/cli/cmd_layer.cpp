#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/front_door.hpp"
#include "cli/pipeline_run.hpp"
#include "cli/watch.hpp"
#include "config/layer_selection.hpp"
#include "run/pipeline_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

namespace adpipe::cli {
namespace {

struct LayerOptions {
    std::string layer;
    std::string dump;
    std::optional<std::string> trace, companion;
    std::optional<std::string> module;
    StepOptions steps{"decode"};
    std::string output = "out";
    std::string also;
    bool watch = false;
};

/// The outputs that are always made, and those of `also`: "html,csv" stands for render.html and render.csv.
void add_outputs(PipelineBuilder& pipeline, std::string_view also) {
    std::vector<std::string> names{"json", "dot"};
    while (!also.empty()) {
        const std::string name{also.substr(0, also.find(','))};
        also.remove_prefix(std::min(also.size(), name.size() + 1));
        if (!name.empty() && name != "table" && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    names.emplace_back("table");  // last: what people see below the list of files
    for (const std::string& name : names) pipeline.add("render." + name);
}

/// What the outputs are called by: the directory of the dump, or the one above where its name says nothing of a model.
std::string title_of(const std::filesystem::path& dump) {
    std::error_code error;
    std::filesystem::path directory = std::filesystem::absolute(dump, error).lexically_normal();
    if (!std::filesystem::is_directory(dump, error)) directory = directory.parent_path();
    constexpr std::array<std::string_view, 5> of_no_model{"", "dump", "dumps", "graphs", "out"};
    while (directory.has_relative_path()) {
        const std::string name = directory.filename().string();
        if (std::find(of_no_model.begin(), of_no_model.end(), name) == of_no_model.end()) return name;
        directory = directory.parent_path();
    }
    return "layer";
}

PipelineBuilder layer_pipeline(const LayerOptions& options, LayerSelection layers) {
    PipelineBuilder pipeline{title_of(options.dump)};
    pipeline.layers(std::move(layers)).output(options.output);
    add_layers_of(pipeline, options.dump, options.module);
    if (options.trace) {
        add_attribution(pipeline, *options.trace, options.steps, options.companion);
    }
    add_outputs(pipeline, options.also);
    return pipeline;
}

}  // namespace

int cmd_layer(const Arguments& arguments) {
    LayerOptions options;
    PipelineOptions run_options;
    run_options.narrate = true;
    CommandLine line{"layer", "N DUMP", "Shows one layer of a model: its nodes, and, with a trace, the GPU kernels that they launched.",
                     "adpipe layer 5 samples/deepseek_v3/dumps --trace samples/deepseek_v3/decode.sqlite"};
    line.argument("N", "the layer: a number, 3-7, 3,5 or all", &options.layer);
    line.argument("DUMP", "a dump file, a directory of dumps (the last one is taken), or a layer JSON", &options.dump);
    line.option("trace", "FILE", trace_doc, &options.trace);
    line.option("companion", "FILE", companion_doc, &options.companion);
    options.steps.add_to(line);
    line.option("module", "NAME", "the graph module to read; else the parser chooses", &options.module);
    line.option("also", "OUTPUTS", "further outputs, such as html,csv: what `adpipe list --kind render` names, without \"render.\"",
                &options.also);
    line.option("output,o", "DIR", "where the files go (default: out)", &options.output);
    line.flag("watch", "does it again whenever the dumps or the trace change", &options.watch);
    run_options.add_to(line);
    if (const auto done = line.parse(arguments)) return *done;
    if (const auto wrong = options.steps.check("layer")) return *wrong;
    if (options.companion && !options.trace) {
        return usage_error("ADP-USE-024", "--companion stands beside a trace: give --trace too", "layer");
    }
    if (const auto given = options.steps.first_given(); given && !options.trace) {
        return usage_error("ADP-USE-024", fmt::format("--{} chooses among the steps of a trace: give --trace too", *given), "layer");
    }
    LayerSelection layers;
    if (const std::string what = add_layers(options.layer, layers); !what.empty()) return usage_error("ADP-USE-011", what, "layer");
    const auto once = [&] {
        RunResult result;
        return run_pipeline(layer_pipeline(options, layers).config(), run_options, result);
    };
    if (!options.watch) return finish(once());
    std::vector<std::filesystem::path> inputs{options.dump};
    if (options.trace) inputs.emplace_back(*options.trace);
    if (options.companion) inputs.emplace_back(*options.companion);
    return finish(watch(inputs, once));
}

}  // namespace adpipe::cli
