#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/option_text.hpp"
#include "cli/pipeline_run.hpp"
#include "config/option_decode.hpp"

#include <adpipe/suggest.hpp>

#include <fmt/format.h>

#include <cmath>

namespace adpipe::cli {
namespace {

std::string_view use_text(PortUse use) {
    switch (use) {
        case PortUse::required: return "required";
        case PortUse::optional: return "optional";
        case PortUse::many: return "any number";
    }
    return "";
}

std::string ports_text(const char* title, std::span<const PortDecl> ports, bool with_use) {
    if (ports.empty()) return {};
    std::vector<std::vector<std::string>> rows;
    for (const PortDecl& port : ports) {
        rows.push_back({port.name, port.type, with_use ? std::string{use_text(port.use)} : std::string{}, port.doc});
    }
    return fmt::format("\n{}\n{}", title, aligned(rows, "  "));
}

std::string options_text(std::span<const OptionDecl> options) {
    if (options.empty()) return "\nno options\n";
    std::string text = "\noptions\n";
    for (const OptionDecl& option : options) {
        std::string type = option_type_text(option.type);
        if (const auto choices = option_choices(option); !choices.empty()) type += fmt::format(", {}", fmt::join(choices, " | "));
        if (const auto range = option_range_text(option); !range.empty()) type += ", " + range;
        text += fmt::format("  {}  ({}{})\n      {}\n", option.name, type,
                            option.required ? std::string{", required"} : fmt::format(", default {}", default_text(option)),
                            broken(option.doc, 6));
    }
    return text;
}

std::string as_text(const StageDecl& stage, const PluginFile& file) {
    std::string text = fmt::format("{}: {}\n", stage.name, stage.summary);
    if (*stage.doc != '\0') text += fmt::format("\n{}\n", broken(stage.doc, 0));
    text += ports_text("inputs", stage.inputs, true);
    text += ports_text("outputs", stage.outputs, false);
    text += options_text(stage.options);
    return text + fmt::format("\nplugin {} {}, {}\n", file.name, file.version, file.path.string());
}

std::string ports_json(std::span<const PortDecl> ports) {
    std::string text = "[";
    for (const PortDecl& port : ports) {
        text += fmt::format("{}{{\"name\": {}, \"type\": {}, \"use\": {}, \"doc\": {}}}", text.size() == 1 ? "" : ", ",
                            json_text(port.name), json_text(port.type), json_text(port.use == PortUse::many ? "many" : use_text(port.use)),
                            json_text(port.doc));
    }
    return text + "]";
}

std::string options_json(std::span<const OptionDecl> options) {
    std::string text = "[";
    for (const OptionDecl& option : options) {
        text += fmt::format("{}\n    {{\"name\": {}, \"type\": {}, \"required\": {}", text.size() == 1 ? "" : ",", json_text(option.name),
                            json_text(option_type_text(option.type)), option.required);
        if (!option.required) text += fmt::format(", \"default\": {}", default_json(option));
        if (const auto choices = option_choices(option); !choices.empty()) text += fmt::format(", \"choices\": {}", json_list(choices));
        if (std::isfinite(option.minimum)) text += fmt::format(", \"minimum\": {}", option.minimum);
        if (std::isfinite(option.maximum)) text += fmt::format(", \"maximum\": {}", option.maximum);
        text += fmt::format(", \"doc\": {}}}", json_text(option.doc));
    }
    return text + (options.empty() ? "]" : "\n  ]");
}

std::string as_json(const StageDecl& stage, const PluginFile& file) {
    return fmt::format(
        "{{\n  \"stage\": {},\n  \"summary\": {},\n  \"doc\": {},\n  \"inputs\": {},\n  \"outputs\": {},\n  \"options\": {},\n"
        "  \"plugin\": {},\n  \"version\": {},\n  \"file\": {}\n}}\n",
        json_text(stage.name), json_text(stage.summary), json_text(stage.doc), ports_json(stage.inputs), ports_json(stage.outputs),
        options_json(stage.options), json_text(file.name), json_text(file.version), json_text(file.path.string()));
}

/// A piece of config with every option: what must be given as it is, what has a default behind '#'.
std::string as_skeleton(const StageDecl& stage) {
    std::string text = fmt::format("  - stage: {}\n", stage.name);
    if (!stage.options.empty()) text += "    with:\n";
    for (const OptionDecl& option : stage.options) {
        text += option.required ? fmt::format("      {}:   # {} ({})\n", option.name, option.doc, option_type_text(option.type))
                                : fmt::format("      # {}: {}   # {}\n", option.name, default_json(option), option.doc);
    }
    return text;
}

}  // namespace

int cmd_inspect(const Arguments& arguments) {
    std::string name;
    std::vector<std::string> plugins;
    bool json = false;
    bool skeleton = false;
    CommandLine line{"inspect", "STAGE", "Describes a stage: what it does, its inputs, outputs and options.", "adpipe inspect render.dot"};
    line.argument("STAGE", "a stage's name, as `adpipe list` shows it", &name);
    line.flag("json", "one JSON object", &json);
    line.flag("skeleton", "a piece of config to start from", &skeleton);
    line.option("plugin", "FILE", "a plugin, or a directory of plugins, to look at first; may be given several times", &plugins);
    if (const auto done = line.parse(arguments)) return *done;

    Registry registry = make_registry(plugins);
    const Registry::Found found = registry.find(name);
    std::vector<Diagnostic> problems = found.diagnostics;
    if (problems.empty()) problems = registry.named_problems();
    show(problems);
    if (found.stage == nullptr) {
        if (!problems.empty()) return exit_plugin;
        return usage_error("ADP-USE-010", fmt::format("there is no stage '{}'", name), "inspect",
                           suggestion(name, registry.stage_names(), "the stages are"));
    }
    Output::standard().write(skeleton ? as_skeleton(*found.stage)
                             : json   ? as_json(*found.stage, *found.plugin)
                                      : as_text(*found.stage, *found.plugin));
    return finish(exit_ok);
}

}  // namespace adpipe::cli
