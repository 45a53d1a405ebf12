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
    if (!fs::is_directory(status)) return "file";
    fs::directory_iterator{place.path, error};
    return error ? "unreadable directory" : "directory";
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
            rows.push_back(
                {file.path.filename().string(),
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
        text += fmt::format("{}\n  {{\"path\": {}, \"origin\": {}, \"state\": {}, \"plugins\": [", i == 0 ? "" : ",",
                            json_text(place.path.string()), json_text(origin_text(place.origin)), json_text(place_state(place)));
        bool is_first = true;
        for (const PluginFile& file : registry.files()) {
            if (file.place != i) continue;
            text += fmt::format("{}\n    {{\"file\": {}, \"name\": {}, \"version\": {}, \"stages\": {}, \"refusal\": {}}}",
                                is_first ? "" : ",", json_text(file.path.string()), json_text(file.name), json_text(file.version),
                                json_list(file.stages), file.refusal ? format_json(*file.refusal) : "null");
            is_first = false;
        }
        text += is_first ? "]}" : "\n  ]}";
    }
    return text + "\n]}\n";
}

/// What became of a stage or plugin in one file.
struct Fate {
    const PluginFile* file;
    const char* state;
};

std::vector<Fate> fates(const Registry& registry, std::size_t place, const std::string& name, const PluginFile* used) {
    std::vector<Fate> found;
    for (const PluginFile& file : registry.files()) {
        const bool offers = std::find(file.stages.begin(), file.stages.end(), name) != file.stages.end();
        if (file.place != place || !(offers || file.name == name || file.path.stem() == name)) continue;
        found.push_back({&file, file.refusal ? "refused" : &file == used ? "used" : offers && used != nullptr ? "shadowed" : "found"});
    }
    return found;
}

std::string fates_text(const Registry& registry, const std::string& name, const PluginFile* used) {
    std::string text;
    for (std::size_t i = 0; i < registry.places().size(); ++i) {
        const SearchPlace& place = registry.places()[i];
        text += fmt::format("{} ({}, {})\n", place.path.string(), origin_text(place.origin), place_state(place));
        for (const Fate& fate : fates(registry, i, name, used)) {
            text += fmt::format("  {}: {}\n", fate.file->path.filename().string(), fate.state);
            if (fate.file->refusal) text += fmt::format("    {}\n", reasons_text(*fate.file->refusal));
        }
    }
    return text;
}

std::string fates_json(const Registry& registry, const std::string& name, const PluginFile* used,
                       const std::vector<Diagnostic>& diagnostics) {
    std::string text = fmt::format("{{\"name\": {}, \"files\": [", json_text(name));
    const char* separator = "";
    for (std::size_t i = 0; i < registry.places().size(); ++i) {
        for (const Fate& fate : fates(registry, i, name, used)) {
            text += fmt::format("{}\n  {{\"file\": {}, \"origin\": {}, \"state\": \"{}\", \"refusal\": {}}}", separator,
                                json_text(fate.file->path.string()), json_text(origin_text(registry.places()[i].origin)), fate.state,
                                fate.file->refusal ? format_json(*fate.file->refusal) : "null");
            separator = ",";
        }
    }
    text += fmt::format("{}], \"diagnostics\": [", *separator == '\0' ? "" : "\n");
    separator = "";
    for (const Diagnostic& diagnostic : diagnostics) {
        text.append(separator).append(format_json(diagnostic));
        separator = ", ";
    }
    return text + "]}\n";
}

/// Looks for the stages of the plugins of that name: what is wrong with some of them shows only once they are loaded.
void load_all(Registry& registry, const std::string& plugin) {
    std::vector<std::string> stages;
    for (const PluginFile& file : registry.files()) {
        if (file.name == plugin || file.path.stem() == plugin) stages.insert(stages.end(), file.stages.begin(), file.stages.end());
    }
    for (const std::string& stage : stages) (void)registry.find(stage);
}

/// What became of one stage or plugin name, place by place.
int explain(Registry& registry, const std::string& name, bool json) {
    const Registry::Found found = registry.find(name);
    load_all(registry, name);
    std::size_t known = 0;
    for (std::size_t i = 0; i < registry.places().size(); ++i) known += fates(registry, i, name, found.plugin).size();
    Output& output = Output::standard();
    output.write(json ? fates_json(registry, name, found.plugin, found.diagnostics) : fates_text(registry, name, found.plugin));
    if (found.stage == nullptr && !json) show(found.diagnostics);
    if (known > 0) return finish(found.stage == nullptr && !found.diagnostics.empty() ? exit_plugin : exit_ok);
    if (!json) output.write(fmt::format("no plugin offers '{}'\n{}\n", name, suggestion(name, registry.stage_names(), "the stages are")));
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
    if (why) return explain(registry, *why, json);
    Output::standard().write(json ? as_json(registry) : as_text(registry));
    const auto problems = registry.named_problems();
    show(problems);
    return finish(problems.empty() ? exit_ok : exit_plugin);
}

}  // namespace adpipe::cli
