#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/heap.hpp"

#include <adpipe/diagnostic.hpp>
#include <adpipe/suggest.hpp>

#include <fmt/format.h>

#include <csignal>
#include <exception>
#include <string_view>

namespace adpipe::cli {
namespace {

constexpr Command all_commands[] = {
    {"run", "runs a pipeline from a config file", cmd_run},
    {"check", "checks a config file without running it", cmd_check},
    {"layer", "shows one layer of a dump, with the kernels of a trace", cmd_layer},
    {"members", "lists every vertex of a dump with the layer it belongs to", cmd_members},
    {"kernels", "lists every kernel of a trace with the layer and node that launched it", cmd_kernels},
    {"layers", "finds the layers in a trace alone, and lists their kernels", cmd_layers},
    {"tables", "writes tables of all layers, per batch size, and of all kernels", cmd_tables},
    {"map", "sets the kernels of a layer in prefill beside those in decode", cmd_map},
    {"walkthrough", "walks through a layer or a kernel: shapes, launch, occupancy, source lines", cmd_walkthrough},
    {"sources", "leads from source lines to kernels, by the call stacks of a trace", cmd_sources},
    {"inventory", "counts the kernels of a trace by name and by what they do", cmd_inventory},
    {"steps", "lists the forward passes of a trace, and which of them are used", cmd_steps},
    {"doctor", "says what a trace can tell, and how to record a better one", cmd_doctor},
    {"list", "lists the stages that there are", cmd_list},
    {"inspect", "describes a stage: inputs, outputs, options", cmd_inspect},
    {"plugins", "lists plugins, and where they are looked for", cmd_plugins},
    {"graph", "draws the pipeline of a config file as DOT", cmd_graph},
    {"schema", "writes a JSON Schema of configs, for editors", cmd_schema},
    {"version", "shows the version, and what plugins must be built like", cmd_version},
    {"help", "shows this, or how a command is used", cmd_help},
};

int unknown_command(const std::string& name) {
    std::vector<std::string> names;
    for (const Command& command : all_commands) names.emplace_back(command.name);
    return usage_error("ADP-USE-001", fmt::format("there is no command '{}'", name), "", suggestion(name, names, "the commands are"));
}

int run_command(const Arguments& words) {
    if (words.empty()) {
        (void)cmd_help({});
        return usage_error("ADP-USE-001", "a command is missing", "");
    }
    const std::string& verb = words.front();
    if (verb == "--version") return cmd_version({});
    if (verb == "--help" || verb == "-h") return cmd_help({});
    for (const Command& command : all_commands) {
        if (verb == command.name) return command.run({words.begin() + 1, words.end()});
    }
    return unknown_command(verb);
}

}  // namespace

std::span<const Command> commands() { return all_commands; }

}  // namespace adpipe::cli

int main(int argc, char** argv) {
    adpipe::cli::prepare_heap();
    try {
        return adpipe::cli::run_command({argv + (argc > 0 ? 1 : 0), argv + argc});
    } catch (const adpipe::Error& error) {
        adpipe::cli::show(error.diagnostics());
        if (error.diagnostics().front().code.rfind("ADP-USE-", 0) == 0) return adpipe::cli::exit_usage;
    } catch (const std::exception& error) {
        adpipe::Diagnostic diagnostic;
        diagnostic.message = fmt::format("adpipe itself failed: {}", error.what());
        adpipe::cli::show({diagnostic});
    }
    return adpipe::cli::exit_failed;
}
