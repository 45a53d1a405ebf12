#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/pipeline_run.hpp"

namespace adpipe::cli {

int cmd_run(const Arguments& arguments) {
    ConfigOptions config;
    PipelineOptions options;
    options.narrate = true;
    CommandLine line{"run", "CONFIG", "Runs a pipeline. Paths in the config are relative to it; paths given here to the working directory.",
                     "adpipe run configs/deepseek_decode.yaml --layer 7 --set render.dot.fold=none"};
    config.add_to(line);
    options.add_to(line);
    if (const auto done = line.parse(arguments)) return *done;
    RunResult result;
    return finish(run_prepared(prepare(config, options), options, result));
}

}  // namespace adpipe::cli
