#pragma once

#include "cli/command_line.hpp"
#include "config/pipeline_config.hpp"
#include "host/registry.hpp"
#include "run/executor.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe::cli {

/// Options that every verb with a pipeline has.
struct PipelineOptions {
    std::vector<std::string> plugins;
    bool quiet = false;
    bool timings = false;
    bool json = false;
    /// Shows the stages' summaries and the files that they wrote. Off for verbs that print one table.
    bool narrate = false;

    /// --plugin, --quiet, --timings
    void add_to(CommandLine& line);
};

/// The stages that `--plugin`, the config and the usual places offer.
Registry make_registry(const std::vector<std::string>& command_line, const std::vector<std::filesystem::path>& config = {});

/// What a verb with a config file has: CONFIG, --set, --layer, --output.
struct ConfigOptions {
    std::string file;
    ConfigOverrides overrides;
    void add_to(CommandLine& line);
};

/// A config, read and planned against the stages that there are.
struct Preparation {
    PipelineConfig config;
    Registry registry;
    std::optional<Plan> plan;
    std::vector<Diagnostic> diagnostics;

    /// exit_ok; exit_plugin if all that is wrong is refused plugins; exit_config otherwise.
    int status() const;
};
Preparation prepare(PipelineConfig config, const PipelineOptions& options);
Preparation prepare(const ConfigOptions& file, const PipelineOptions& options);

/// Runs what was prepared; says on standard error what is wrong or worth knowing. Returns the exit status; `result` gets the artifacts
/// that the pipeline keeps. Does not call finish().
int run_prepared(const Preparation& preparation, const PipelineOptions& options, RunResult& result);

/// prepare() and run_prepared() of a pipeline made in code.
int run_pipeline(const PipelineConfig& config, const PipelineOptions& options, RunResult& result);

}  // namespace adpipe::cli
