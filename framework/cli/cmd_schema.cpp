#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/option_text.hpp"
#include "cli/pipeline_run.hpp"
#include "cli/stage_kinds.hpp"
#include "config/option_decode.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace adpipe::cli {
namespace {

using Json = nlohmann::ordered_json;

/// A value that the config may also take from the environment.
Json or_variable(Json schema) { return Json{{"anyOf", Json::array({std::move(schema), Json{{"type", "string"}, {"pattern", "\\$\\{"}}})}}; }

Json number_schema(const OptionDecl& option, const char* type) {
    Json schema{{"type", type}};
    if (std::isfinite(option.minimum)) schema["minimum"] = option.minimum;
    if (std::isfinite(option.maximum)) schema["maximum"] = option.maximum;
    return or_variable(std::move(schema));
}

Json text_schema(const OptionDecl& option) {
    const auto choices = option_choices(option);
    if (choices.empty()) return Json{{"type", Json::array({"string", "number", "boolean"})}};
    return or_variable(Json{{"enum", choices}});
}

Json value_schema(const OptionDecl& option) {
    switch (option.type) {
        case OptionType::boolean: return or_variable(Json{{"type", "boolean"}});
        case OptionType::integer: return number_schema(option, "integer");
        case OptionType::real: return number_schema(option, "number");
        case OptionType::text:
        case OptionType::path: return text_schema(option);
        case OptionType::text_list:
        case OptionType::path_list: break;
    }
    return Json{{"anyOf", Json::array({text_schema(option), Json{{"type", "array"}, {"items", text_schema(option)}}})}};
}

Json option_schema(const OptionDecl& option) {
    Json schema = value_schema(option);
    schema["description"] = option.doc;
    if (!option.required) schema["default"] = Json::parse(default_json(option));
    return schema;
}

Json wires_schema(const StageDecl& stage) {
    const Json ids{{"anyOf", Json::array({Json{{"type", "string"}}, Json{{"type", "array"}, {"items", Json{{"type", "string"}}}}})}};
    Json ports = Json::object();
    for (const PortDecl& port : stage.inputs) {
        ports[port.name] = ids;
        ports[port.name]["description"] = fmt::format("{} ({})", port.doc, port.type);
    }
    return Json{{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(ports)}};
}

Json stage_schema(const StageDecl& stage) {
    Json options = Json::object();
    Json required = Json::array();
    for (const OptionDecl& option : stage.options) {
        options[option.name] = option_schema(option);
        if (option.required) required.push_back(option.name);
    }
    Json with{{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(options)}};
    Json needed = Json::array({"stage"});
    if (!required.empty()) {
        with["required"] = std::move(required);
        needed.push_back("with");
    }
    return Json{{"type", "object"},
                {"description", stage.summary},
                {"additionalProperties", false},
                {"required", std::move(needed)},
                {"properties",
                 Json{{"stage", Json{{"const", stage.name}, {"description", stage.summary}}},
                      {"id", Json{{"type", "string"}, {"description", "the stage's name in this pipeline; its own name otherwise"}}},
                      {"with", std::move(with)},
                      {"from", wires_schema(stage)}}}};
}

Json layer_schema() {
    const Json one{{"anyOf", Json::array({Json{{"type", "integer"}, {"minimum", 0}}, Json{{"type", "string"}}})}};
    return Json{{"description", "a number, a list, a range \"3-60\", or \"all\""},
                {"anyOf", Json::array({one, Json{{"type", "array"}, {"items", one}}})}};
}

Json config_schema(Json stages) {
    const Json text{{"type", "string"}};
    Json properties{
        {"pipeline", Json{{"type", "string"}, {"description", "the pipeline's name, for titles"}}},
        {"layer", layer_schema()},
        {"output", Json{{"type", "string"}, {"description", "the directory for output files, relative to the config"}}},
        {"plugins", Json{{"type", "array"}, {"items", text}, {"description", "plugin files and directories, relative to the config"}}},
        {"stages", Json{{"type", "array"}, {"minItems", 1}, {"items", Json{{"anyOf", std::move(stages)}}}}},
    };
    return Json{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"title", "adpipe pipeline"},
                {"type", "object"},
                {"additionalProperties", false},
                {"required", Json::array({"stages"})},
                {"properties", std::move(properties)}};
}

}  // namespace

int cmd_schema(const Arguments& arguments) {
    std::vector<std::string> plugins;
    CommandLine line{"schema", "", "Writes a JSON Schema of configs, with every stage and option that there is, for editors and checkers.",
                     "adpipe schema > adpipe.schema.json"};
    line.option("plugin", "FILE", "a plugin, or a directory of plugins, to look at first; may be given several times", &plugins);
    if (const auto done = line.parse(arguments)) return *done;

    Registry registry = make_registry(plugins);
    std::vector<std::string> names = registry.stage_names();
    sort_by_kind(names);
    Json stages = Json::array();
    for (const std::string& name : names) {
        const Registry::Found found = registry.find(name);
        if (found.stage == nullptr) show(found.diagnostics);
        else stages.push_back(stage_schema(*found.stage));
    }
    Output::standard().write(config_schema(std::move(stages)).dump(2) + "\n");
    return finish(exit_ok);
}

}  // namespace adpipe::cli
