#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/pipeline_run.hpp"

#include <fmt/format.h>

namespace adpipe::cli {
namespace {

std::string dot_text(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    return quoted + '"';
}

std::string as_dot(const Plan& plan) {
    std::string text = fmt::format(
        "digraph {} {{\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n"
        "  edge [fontname=\"sans-serif\", fontsize=10];\n",
        dot_text(plan.name));
    for (std::size_t i = 0; i < plan.stages.size(); ++i) {
        const PlannedStage& stage = plan.stages[i];
        const std::string label = stage.id == stage.decl->name ? stage.id : fmt::format("{} ({})", stage.id, stage.decl->name);
        text += fmt::format("  s{} [label={}];\n", i, dot_text(label));
    }
    for (std::size_t i = 0; i < plan.stages.size(); ++i) {
        const PlannedStage& stage = plan.stages[i];
        for (std::size_t port = 0; port < stage.inputs.size(); ++port) {
            for (const OutputRef& source : stage.inputs[port]) {
                text += fmt::format("  s{} -> s{} [label={}];\n", source.stage, i, dot_text(stage.decl->inputs[port].type));
            }
        }
    }
    return text + "}\n";
}

}  // namespace

int cmd_graph(const Arguments& arguments) {
    ConfigOptions config;
    PipelineOptions options;
    CommandLine line{"graph", "CONFIG", "Draws a pipeline, its stages and what passes between them, as DOT.",
                     "adpipe graph configs/deepseek_decode.yaml | dot -Tsvg -o pipeline.svg"};
    config.add_to(line);
    options.add_to(line);
    if (const auto done = line.parse(arguments)) return *done;
    const Preparation preparation = prepare(config, options);
    show(preparation.diagnostics);
    if (preparation.status() != exit_ok) return preparation.status();
    Output::standard().write(as_dot(*preparation.plan));
    return finish(exit_ok);
}

}  // namespace adpipe::cli
