#pragma once

#include "config/pipeline_config.hpp"

#include <adpipe/artifact.hpp>
#include <adpipe/diagnostic.hpp>
#include <adpipe/export.hpp>
#include <adpipe/options.hpp>
#include <adpipe/stage.hpp>

#include <compare>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace adpipe {

class Registry;

/// An output port of a stage of the plan.
struct OutputRef {
    std::size_t stage = 0;
    std::size_t port = 0;
    friend auto operator<=>(const OutputRef&, const OutputRef&) = default;
};

struct PlannedStage {
    std::string id;
    const StageDecl* decl = nullptr;
    std::vector<GivenOption> options;
    std::vector<std::vector<OutputRef>> inputs;  ///< per input port: what feeds it; none for an optional port without a producer
    std::vector<OutputRef> last_used;            ///< artifacts that no later stage needs
};

/// A pipeline that can run: every stage is there, every option and every connection is checked.
struct Plan {
    std::string name;
    LayerSelection layers;
    std::filesystem::path output;
    std::vector<PlannedStage> stages;
    std::vector<OutputRef> kept;          ///< artifacts that are wanted after the run
    std::map<OutputRef, Artifact> given;  ///< artifacts that are there before the run, as outputs of `given_stage`
};
inline constexpr std::size_t given_stage = static_cast<std::size_t>(-1);

/// Checks a pipeline whole and connects its stages; all faults at once. Nothing is returned if there was an error.
///
/// An input port takes the artifact of its type that an earlier stage makes, if there is exactly one. A stage that reads an artifact
/// and makes one of the same type (a membership that refines another) replaces it for the stages after it. `from:` decides otherwise.
ADPIPE_EXPORT std::optional<Plan> make_plan(const PipelineConfig& config, Registry& registry, std::vector<Diagnostic>& diagnostics);

}  // namespace adpipe
