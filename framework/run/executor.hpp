#pragma once

#include "run/planner.hpp"

#include <adpipe/artifact.hpp>
#include <adpipe/diagnostic.hpp>
#include <adpipe/export.hpp>
#include <adpipe/stage.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe {

/// What one stage did.
struct StageReport {
    std::string id;
    std::string stage;
    std::chrono::nanoseconds elapsed{};
    std::vector<std::string> summary;
    std::vector<std::filesystem::path> files;
};

/// Is told what happens during a run, on the thread that runs it.
class ADPIPE_EXPORT RunListener {
public:
    virtual ~RunListener();
    virtual void stage_started(const PlannedStage& /*stage*/, std::size_t /*index*/, std::size_t /*count*/) {}
    virtual void stage_finished(const StageReport& /*report*/) {}
    virtual void report(const Diagnostic& /*diagnostic*/) {}
    /// Text for standard output.
    virtual void print(std::string_view /*text*/) {}
};

struct RunSettings {
    Terminal terminal;
    std::vector<std::filesystem::path> data_directories;
    const std::atomic<bool>* stop = nullptr;  ///< set to true to ask the run to stop
};

struct RunResult {
    bool stopped = false;              ///< before the end, because it was asked to
    std::vector<Diagnostic> errors;    ///< why a stage failed; the later stages did not run
    std::vector<Diagnostic> reported;  ///< warnings and notes of the stages
    std::vector<StageReport> stages;   ///< those that ran to their end
    std::vector<Artifact> kept;

    bool ok() const noexcept { return !stopped && errors.empty(); }
    /// The artifact that keep<T>() asked for; nullptr if the run did not get that far.
    template <class T>
    std::shared_ptr<const T> artifact() const {
        for (const Artifact& artifact : kept) {
            if (artifact.type == ArtifactTraits<T>::id) return std::static_pointer_cast<const T>(artifact.data);
        }
        return nullptr;
    }
};

/// Runs the stages one after the other and lets go of each artifact after its last use. Whatever a stage throws ends the run, and
/// comes back as errors that name the stage, its inputs and how long it had run.
ADPIPE_EXPORT RunResult execute(const Plan& plan, const RunSettings& settings, RunListener& listener);

}  // namespace adpipe
