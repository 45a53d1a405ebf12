#pragma once

#include "run/pipeline_builder.hpp"

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>

namespace adpipe::cli {

/// Adds the stages that read a dump: `path` is a dump, or a directory of which the last dump is taken. `module`: which graph module.
void add_dump(PipelineBuilder& pipeline, const std::filesystem::path& path, const std::optional<std::string>& module);

/// Adds the trace stage that reads the file, chosen by looking at it. Throws Error if it is no trace that adpipe knows.
void add_trace(PipelineBuilder& pipeline, const std::filesystem::path& file);

/// Complains and gives the exit status if an option has a value that is not one of the choices.
std::optional<int> check_choice(const std::string& verb, const std::string& option, const std::string& value,
                                std::initializer_list<const char*> choices);

}  // namespace adpipe::cli
