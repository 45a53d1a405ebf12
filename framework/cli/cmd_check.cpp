#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/pipeline_run.hpp"

#include <fmt/format.h>

namespace adpipe::cli {
namespace {

std::string as_json(const Preparation& preparation) {
    std::string text = fmt::format("{{\"ok\": {}, \"diagnostics\": [", preparation.status() == exit_ok);
    for (std::size_t i = 0; i < preparation.diagnostics.size(); ++i) {
        text += (i == 0 ? "\n" : ",\n") + format_json(preparation.diagnostics[i]);
    }
    return text + (preparation.diagnostics.empty() ? "]}\n" : "\n]}\n");
}

}  // namespace

int cmd_check(const Arguments& arguments) {
    ConfigOptions config;
    PipelineOptions options;
    CommandLine line{"check", "CONFIG", "Reads a config, checks every option and connection, and runs nothing.",
                     "adpipe check configs/deepseek_decode.yaml"};
    config.add_to(line);
    options.add_to(line);
    line.flag("json", "one JSON object instead of text", &options.json);
    if (const auto done = line.parse(arguments)) return *done;

    const Preparation preparation = prepare(config, options);
    const int status = preparation.status();
    if (options.json) {
        Output::standard().write(as_json(preparation));
        return finish(status);
    }
    show(preparation.diagnostics);
    if (status == exit_ok && !options.quiet) {
        Output::standard().write(fmt::format("{}: pipeline '{}' with {} stages is right\n", config.file, preparation.config.name,
                                             preparation.plan->stages.size()));
    }
    return finish(status);
}

}  // namespace adpipe::cli
