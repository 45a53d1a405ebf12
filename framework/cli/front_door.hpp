#pragma once

#include "cli/command_line.hpp"
#include "run/pipeline_builder.hpp"

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace adpipe::cli {

/// What a trace is, for --help.
inline constexpr const char* trace_doc =
    "a profiler trace: an SQLite export of Nsight Systems, JSON of the PyTorch profiler, or a database or kernel CSV of rocprofv3";

/// Adds the stages that read a dump: `path` is a dump, or a directory of which the last dump is taken. `module`: which graph module.
void add_dump(PipelineBuilder& pipeline, const std::filesystem::path& path, const std::optional<std::string>& module);

/// The member stage that decides where no other is asked for.
inline constexpr const char* usual_strategy = "member.dataflow";

/// Adds the member stage `strategy`. Where it works on the layers of other strategies, those come before it: the usual one, and for a stage that
/// takes many, such as member.vote, the other that ships. `plugins`: what --plugin names.
PipelineBuilder::Step add_strategy(PipelineBuilder& pipeline, const std::string& strategy, const std::vector<std::string>& plugins);

/// What add_dump() adds, and the stage that tells the layers; `path` may be a layer JSON as well, which tells its layer itself.
void add_layers_of(PipelineBuilder& pipeline, const std::filesystem::path& path, const std::optional<std::string>& module);

/// Where the layers of a trace's kernels come from: a dump; else a kernel or ranges that the user names; else what repeats. At most one is given.
struct LayerSource {
    std::optional<std::string> dump;
    std::optional<std::string> module;   ///< with `dump`: the graph module to read
    std::optional<std::string> pattern;  ///< a part of the name of a kernel that runs once a layer
    std::optional<std::string> range;    ///< a part of the name of ranges each of which is a layer

    /// Adds the graph of the dump and its layers; nothing without a dump.
    void add_graph(PipelineBuilder& pipeline) const;
    /// Adds the stage that puts the kernels of a window into layers.
    PipelineBuilder::Step add_kernels(PipelineBuilder& pipeline) const;
};

/// Adds the trace stage that reads the file, chosen by looking at it. Throws Error if it is no trace that adpipe knows.
PipelineBuilder::Step add_trace(PipelineBuilder& pipeline, const std::filesystem::path& file);

/// Which steps of a trace to look at: options of all verbs that read one. A verb whose usual phase is "whole" looks at what is in no step too.
struct StepOptions {
    std::string phase;
    std::optional<std::string> step, graph, batch, rank, device;
    std::optional<std::string> range;  ///< of ranges each of which is a step; "auto": named like one

    explicit StepOptions(const std::string& usual_phase) : phase(usual_phase), usual_phase_(usual_phase) {}
    void add_to(CommandLine& line);
    /// Complains and gives the exit status if a value is wrong.
    std::optional<int> check(const std::string& verb) const;
    /// True if they leave something out.
    bool narrow() const;
    /// The first option that was given, but for the phase, which has a default; nothing if none was.
    std::optional<std::string> first_given() const;
    /// Adds the window stage. The phase "whole", which only a verb with that usual phase has, is all phases there.
    PipelineBuilder::Step add_window(PipelineBuilder& pipeline) const;

private:
    std::string usual_phase_;
};

/// A whole number from 0, as an option's text.
bool is_count(const std::string& text);

/// What a companion recording is, for --help.
inline constexpr const char* companion_doc =
    "another recording of the same model that says more: of the capture of the graphs, or with a range around each module or op";

/// What a companion is that names operators, for --help.
inline constexpr const char* launch_companion_doc =
    "another recording of the same model that saw what launched its kernels: of the capture of the graphs, or launched kernel by kernel";
inline constexpr const char* companion_window = "companion.window";

/// Adds the companion's trace and its steps, which get the id `companion_window`. Before the trace in question. `detailed`: with all that leads to
/// source lines.
void add_companion(PipelineBuilder& pipeline, const std::filesystem::path& file, bool detailed);
/// Adds a trace with all that leads to source lines, where its format has such things.
void add_detailed_trace(PipelineBuilder& pipeline, const std::filesystem::path& file, const std::string& id);
/// Adds the stage that finds the operators of the kernels in these steps. `companion`: whether there is one.
void add_operators(PipelineBuilder& pipeline, const std::string& window, bool companion);

/// Adds the stages that read a trace, choose its steps and put its kernels onto the graph's ops, and gives the last of them; `companion` is another
/// recording, or none.
PipelineBuilder::Step add_attribution(PipelineBuilder& pipeline, const std::filesystem::path& trace, const StepOptions& steps,
                                      const std::optional<std::string>& companion,
                                      const std::vector<std::pair<const char*, bool>>& window_flags = {});

/// Complains and gives the exit status if an option has a value that is not one of the choices.
std::optional<int> check_choice(const std::string& verb, const std::string& option, const std::string& value,
                                std::initializer_list<const char*> choices);

}  // namespace adpipe::cli
