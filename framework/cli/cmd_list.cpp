#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/pipeline_run.hpp"
#include "cli/stage_kinds.hpp"

#include <adpipe/suggest.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace adpipe::cli {
namespace {

struct ListOptions {
    std::optional<std::string> kind;
    std::vector<std::string> plugins;
    bool json = false;
    bool summaries = false;
};

/// The stage's one-line description; empty if its plugin cannot be loaded.
std::string summary_of(Registry& registry, const std::string& stage) {
    const Registry::Found found = registry.find(stage);
    return found.stage != nullptr ? found.stage->summary : std::string{};
}

std::string as_json(Registry& registry, const std::vector<std::string>& stages, bool summaries) {
    std::string text = "[";
    for (const std::string& stage : stages) {
        const PluginFile* const file = registry.file_of(stage);
        text += fmt::format("{}{{\"stage\": {}, \"kind\": {}", text.size() == 1 ? "\n" : ",\n", json_text(stage),
                            json_text(kind_of(stage)));
        if (summaries) text += fmt::format(", \"summary\": {}", json_text(summary_of(registry, stage)));
        text += fmt::format(", \"plugin\": {}, \"version\": {}, \"file\": {}}}", json_text(file->name), json_text(file->version),
                            json_text(file->path.string()));
    }
    return text + "\n]\n";
}

std::string as_text(Registry& registry, const std::vector<std::string>& stages, bool summaries) {
    std::vector<std::vector<std::string>> rows;
    for (const std::string& stage : stages) {
        const PluginFile* const file = registry.file_of(stage);
        std::vector<std::string> row{stage, fmt::format("{} {}", file->name, file->version)};
        if (summaries) row.push_back(summary_of(registry, stage));
        rows.push_back(std::move(row));
    }
    return aligned(rows);
}

/// What the user named and cannot be used is an error; other refused plugins are worth a warning.
int show_refused(const Registry& registry) {
    std::vector<Diagnostic> problems = registry.named_problems();
    const int status = problems.empty() ? exit_ok : exit_plugin;
    for (const PluginFile& file : registry.files()) {
        if (!file.refusal || file.named) continue;
        problems.push_back(*file.refusal);
        problems.back().severity = Severity::warning;
    }
    show(problems);
    return status;
}

int no_such_kind(const Registry& registry, const std::string& kind) {
    std::vector<std::string> kinds;
    for (const std::string& stage : registry.stage_names()) kinds.emplace_back(kind_of(stage));
    kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
    return usage_error("ADP-USE-009", fmt::format("there is no stage of the kind '{}'", kind), "list",
                       suggestion(kind, kinds, "the kinds are"));
}

}  // namespace

int cmd_list(const Arguments& arguments) {
    ListOptions options;
    CommandLine line{"list", "", "Lists the stages that the plugins offer. Reads the plugins' stamps; runs none of their code.",
                     "adpipe list --kind render"};
    line.option("kind", "KIND", "only stages of this kind: select, parse, member, trace, …", &options.kind);
    line.flag("summary", "with a line on each stage; loads the plugins", &options.summaries);
    line.flag("json", "a JSON array", &options.json);
    line.option("plugin", "FILE", "a plugin, or a directory of plugins, to look at first; may be given several times", &options.plugins);
    if (const auto done = line.parse(arguments)) return *done;

    Registry registry = make_registry(options.plugins);
    std::vector<std::string> stages = registry.stage_names();
    if (options.kind) {
        std::erase_if(stages, [&](const std::string& stage) { return kind_of(stage) != *options.kind; });
        if (stages.empty()) return no_such_kind(registry, *options.kind);
    }
    sort_by_kind(stages);
    Output::standard().write(options.json ? as_json(registry, stages, options.summaries) : as_text(registry, stages, options.summaries));
    return finish(show_refused(registry));
}

}  // namespace adpipe::cli
