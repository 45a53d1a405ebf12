#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/pipeline_run.hpp"

#include <fmt/format.h>

#include <chrono>

namespace adpipe::cli {
namespace {

template <class Values, class Text>
std::string json_array(const Values& values, Text text) {
    std::string array = "[";
    for (const auto& value : values) array += (array.size() == 1 ? "" : ", ") + text(value);
    return array + "]";
}

std::string stage_json(const StageReport& stage) {
    return fmt::format("\n  {{\"id\": {}, \"stage\": {}, \"milliseconds\": {:.3f}, \"summary\": {}, \"files\": {}}}", json_text(stage.id),
                       json_text(stage.stage), std::chrono::duration<double, std::milli>(stage.elapsed).count(),
                       json_array(stage.summary, [](const std::string& line) { return json_text(line); }),
                       json_array(stage.files, [](const std::filesystem::path& file) { return json_text(file.string()); }));
}

/// What a script wants to know of a run.
std::string as_json(const Preparation& preparation, const RunResult& result, int status) {
    std::vector<Diagnostic> diagnostics = preparation.diagnostics;
    diagnostics.insert(diagnostics.end(), result.reported.begin(), result.reported.end());
    diagnostics.insert(diagnostics.end(), result.errors.begin(), result.errors.end());
    return fmt::format("{{\"pipeline\": {}, \"status\": {}, \"stages\": {}, \"diagnostics\": {}}}\n", json_text(preparation.config.name),
                       status, json_array(result.stages, stage_json),
                       json_array(diagnostics, [](const Diagnostic& diagnostic) { return "\n  " + format_json(diagnostic); }));
}

}  // namespace

int cmd_run(const Arguments& arguments) {
    ConfigOptions config;
    PipelineOptions options;
    options.narrate = true;
    CommandLine line{"run", "CONFIG", "Runs a pipeline. Paths in the config are relative to it; paths given here to the working directory.",
                     "adpipe run configs/deepseek_decode.yaml --layer 7 --set render.dot.fold=none"};
    config.add_to(line);
    options.add_to(line);
    line.flag("json", "one JSON object on standard output, in place of what the stages print", &options.json);
    if (const auto done = line.parse(arguments)) return *done;
    RunResult result;
    const Preparation preparation = prepare(config, options);
    const int status = run_prepared(preparation, options, result);
    if (options.json) Output::standard().write(as_json(preparation, result, status));
    return finish(status);
}

}  // namespace adpipe::cli
