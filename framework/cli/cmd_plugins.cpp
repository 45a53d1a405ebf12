#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/option_text.hpp"
#include "cli/pipeline_run.hpp"

#include <adpipe/suggest.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace adpipe::cli {
namespace {

namespace fs = std::filesystem;

std::string place_state(const SearchPlace& place) {
    std::error_code error;
    const fs::file_status status = fs::status(place.path, error);
    if (!fs::exists(status)) return "not there";
    return fs::is_directory(status) ? "directory" : "file";
}

std::string reasons_text(const Diagnostic& refusal) {
    return refusal.notes.empty() ? refusal.message : fmt::format("{}", fmt::join(refusal.notes, "; "));
}

/// Every place in search order, and below each what it holds.
std::string as_text(const Registry& registry) {
    std::string text;
    for (std::size_t i = 0; i < registry.places().size(); ++i) {
        const SearchPlace& place = registry.places()[i];
        text += fmt::format("{} ({}, {})\n", place.path.string(), origin_text(place.origin), place_state(place));
        std::vector<std::vector<std::string>> rows;
        for (const PluginFile& file : registry.files()) {
            if (file.place != i) continue;
            rows.push_back({file.path.filename().string(),
                            file.refusal ? fmt::format("REFUSED: {}", reasons_text(*file.refusal)) : fmt::format("{} {}", file.name, file.version),
                            file.refusal ? std::string{} : fmt::format("{}", fmt::join(file.stages, " "))});
        }
        text += aligned(rows, "  ");
    }
    return text;
}

std::string as_json(const Registry& registry) {
    std::string text = "{\"places\": [";
    for (std::size_t i = 0; i < registry.places().size(); ++i) {
        const SearchPlace& place = registry.places()[i];
        text += fmt::format("{}\n  {{\"path\": {}, \"origin\": {}, \"state\": {}, \"plugins\": [", i == 0 ? "" : ",", json_text(place.path.string()),
                            json_text(origin_text(place.origin)), json_text(place_state(place)));
        bool is_first = true;
        for (const PluginFile& file : registry.files()) {
            if (file.place != i) continue;
            text += fmt::format("{}\n    {{\"file\": {}, \"name\": {}, \"version\": {}, \"stages\": {}, \"refusal\": {}}}", is_first ? "" : ",",
                                json_text(file.path.string()), json_text(file.name), json_text(file.version), json_list(file.stages),
                                file.refusal ? format_json(*file.refusal) : "null");
            is_first = false;
        }
        text += is_first ? "]}" : "\n  ]}";
    }
    return text + "\n]}\n";
}

/// What became of one stage or plugin name, place by place.
int explain(Registry& registry, const std::string& name) {
    Registry::Found found = registry.find(name);
    Output& output = Output::standard();
    bool is_known = false;
    for (std::size_t i = 0; i < registry.places().size(); ++i) {
        const SearchPlace& place = registry.places()[i];
        output.write(fmt::format("{} ({}, {})\n", place.path.string(), origin_text(place.origin), place_state(place)));
        for (const PluginFile& file : registry.files()) {
            const bool offers = std::find(file.stages.begin(), file.stages.end(), name) != file.stages.end();
            if (file.place != i || !(offers || file.name == name || file.path.stem() == name)) continue;
            is_known = true;
            const char* const state = file.refusal ? "refused" : &file == found.plugin ? "used" : offers && found.plugin != nullptr ? "shadowed" : "found";
            output.write(fmt::format("  {}: {}\n", file.path.filename().string(), state));
            if (file.refusal) output.write(fmt::format("    {}\n", reasons_text(*file.refusal)));
        }
    }
    if (found.stage == nullptr) show(found.diagnostics);
    if (is_known) return finish(found.stage == nullptr && !found.diagnostics.empty() ? exit_plugin : exit_ok);
    output.write(fmt::format("no plugin offers '{}'\n{}\n", name, suggestion(name, registry.stage_names(), "the stages are")));
    return finish(exit_failed);
}

}  // namespace

int cmd_plugins(const Arguments& arguments) {
    std::optional<std::string> why;
    std::vector<std::string> plugins;
    bool json = false;
    CommandLine line{"plugins", "", "Lists the places where plugins are looked for, in order, and what was found there.",
                     "adpipe plugins --why render.dot"};
    line.option("why", "NAME", "what became of one stage or plugin, and why", &why);
    line.flag("json", "one JSON object", &json);
    line.option("plugin", "FILE", "a plugin, or a directory of plugins, to look at first; may be given several times", &plugins);
    if (const auto done = line.parse(arguments)) return *done;
    Registry registry = make_registry(plugins);
    if (why) return explain(registry, *why);
    Output::standard().write(json ? as_json(registry) : as_text(registry));
    const auto problems = registry.named_problems();
    show(problems);
    return finish(problems.empty() ? exit_ok : exit_plugin);
}

}  // namespace adpipe::cli
