#include "run/executor.hpp"

#include "run/artifact_check.hpp"

#include <adpipe/files.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <new>
#include <system_error>

namespace adpipe {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

Diagnostic run_fault(std::string code, std::string message, std::string hint = {}) {
    Diagnostic diagnostic;
    diagnostic.code = std::move(code);
    diagnostic.message = std::move(message);
    diagnostic.hint = std::move(hint);
    return diagnostic;
}

/// Coarse below a second: what a failure's message says must not change from run to run.
std::string elapsed_text(Clock::duration elapsed) {
    const double seconds = std::chrono::duration<double>(elapsed).count();
    return seconds < 1 ? std::string{"less than a second"} : fmt::format("{:.1f} s", seconds);
}

/// The state of one run that outlives its stages.
struct Run {
    const Plan& plan;
    const RunSettings& settings;
    RunListener& listener;
    std::map<OutputRef, Artifact> artifacts;
    std::map<fs::path, std::string> writer_of;  ///< which stage wrote a file
    std::vector<Diagnostic> reported;
};

class StageContext final : public Context {
public:
    StageContext(Run& run, std::size_t index) : run_{run}, index_{index}, stage_{run.plan.stages[index]} {
        report_.id = stage_.id;
        report_.stage = stage_.decl->name;
    }

    const StageReport& stage_report() const noexcept { return report_; }
    StageReport& stage_report() noexcept { return report_; }

    std::vector<Artifact> inputs() const {
        std::vector<Artifact> all;
        for (const auto& sources : stage_.inputs) {
            for (const OutputRef& source : sources) all.push_back(run_.artifacts.at(source));
        }
        return all;
    }

    /// Every declared output must be there once the stage is done.
    void check_outputs() const {
        for (std::size_t i = 0; i < stage_.decl->outputs.size(); ++i) {
            if (run_.artifacts.count({index_, i}) != 0) continue;
            throw Error("ADP-RUN-004", fmt::format("stage '{}' ended without publishing its output '{}' ({})", stage_.id,
                                                   stage_.decl->outputs[i].name, stage_.decl->outputs[i].type));
        }
    }

    void report(Diagnostic diagnostic) override {
        run_.listener.report(diagnostic);
        run_.reported.push_back(std::move(diagnostic));
    }
    void summary(std::string line) override { report_.summary.push_back(std::move(line)); }
    void print(std::string_view text) override { run_.listener.print(text); }

    fs::path write_file(const fs::path& name, std::string_view content) override {
        const fs::path path = checked_path(name);
        const auto [writer, is_new] = run_.writer_of.emplace(path, stage_.id);
        if (!is_new && writer->second != stage_.id) {
            throw Error("ADP-RUN-012", fmt::format("stages '{}' and '{}' both write {}", writer->second, stage_.id, path.string()),
                        "let them write other names, if they have an option for it, or use two pipelines");
        }
        std::error_code error;
        fs::create_directories(path.parent_path(), error);
        if (error) {
            throw Error("ADP-RUN-013", fmt::format("cannot create the directory {}: {}", path.parent_path().string(), error.message()),
                        "choose another directory with --output");
        }
        write_file_atomically(path, content);
        if (std::find(report_.files.begin(), report_.files.end(), path) == report_.files.end()) report_.files.push_back(path);
        return path;
    }

    const fs::path& output_directory() const override { return run_.plan.output; }

    fs::path data_file(const fs::path& name) const override {
        Diagnostic missing = run_fault("ADP-RUN-008", fmt::format("the data file '{}' of adpipe is not there", name.string()),
                                       "reinstall adpipe, or give the file by an option of the stage");
        for (const fs::path& directory : run_.settings.data_directories) {
            fs::path path = directory / name;
            std::error_code error;
            if (fs::exists(path, error)) return path;
            missing.notes.push_back("looked at " + path.string());
        }
        throw Error(std::move(missing));
    }

    const LayerSelection& layers() const override { return run_.plan.layers; }
    const std::string& pipeline() const override { return run_.plan.name; }
    const Terminal& terminal() const override { return run_.settings.terminal; }
    bool stop_requested() const noexcept override { return run_.settings.stop != nullptr && run_.settings.stop->load(); }

protected:
    std::shared_ptr<const void> input(std::string_view port, std::string_view type, bool required, std::size_t index) const override {
        const auto& ports = stage_.decl->inputs;
        const auto decl = std::find_if(ports.begin(), ports.end(), [&](const PortDecl& known) { return port == known.name; });
        if (decl == ports.end()) {
            throw Error("ADP-RUN-005", fmt::format("stage '{}' reads from an input '{}' that it does not declare", stage_.id, port));
        }
        if (type != decl->type) {
            throw Error("ADP-RUN-005",
                        fmt::format("stage '{}' reads {} from its input '{}', which it declares as {}", stage_.id, type, port, decl->type));
        }
        const auto& sources = stage_.inputs[static_cast<std::size_t>(decl - ports.begin())];
        if (index < sources.size()) return run_.artifacts.at(sources[index]).data;
        if (!required) return nullptr;
        throw Error("ADP-RUN-005", fmt::format("stage '{}' requires its input '{}', and nothing feeds it", stage_.id, port));
    }

    void output(std::string_view port, Artifact artifact) override {
        const auto& ports = stage_.decl->outputs;
        const auto decl = std::find_if(ports.begin(), ports.end(), [&](const PortDecl& known) { return port == known.name; });
        if (decl == ports.end()) {
            throw Error("ADP-RUN-005", fmt::format("stage '{}' publishes to an output '{}' that it does not declare", stage_.id, port));
        }
        if (artifact.type != decl->type) {
            throw Error("ADP-RUN-005", fmt::format("stage '{}' publishes {} to its output '{}', which it declares as {}", stage_.id,
                                                   artifact.type, port, decl->type));
        }
        if (artifact.data == nullptr) {
            throw Error("ADP-RUN-005", fmt::format("stage '{}' publishes nothing to its output '{}'", stage_.id, port));
        }
        artifact.producer = stage_.id;
        if (auto wrong = shape_fault(artifact, neighbours())) throw Error(std::move(*wrong));
        const OutputRef place{index_, static_cast<std::size_t>(decl - ports.begin())};
        if (!run_.artifacts.emplace(place, std::move(artifact)).second) {
            throw Error("ADP-RUN-005", fmt::format("stage '{}' publishes to its output '{}' twice", stage_.id, port));
        }
    }

private:
    /// Below the output directory, whatever the name says.
    fs::path checked_path(const fs::path& name) const {
        const fs::path normal = name.lexically_normal();
        const bool leaves = normal.empty() || normal.is_absolute() || *normal.begin() == ".." || !normal.has_filename() || normal == "." ||
                            normal.native().find('\0') != std::string::npos;
        if (leaves) {
            throw Error("ADP-RUN-007",
                        fmt::format("stage '{}' may write below the output directory only, not '{}'", stage_.id, name.string()));
        }
        return run_.plan.output / normal;
    }

    /// What an output can refer to: the stage's inputs and what it has published already.
    std::vector<Artifact> neighbours() const {
        std::vector<Artifact> all = inputs();
        for (std::size_t i = 0; i < stage_.decl->outputs.size(); ++i) {
            if (const auto own = run_.artifacts.find({index_, i}); own != run_.artifacts.end()) all.push_back(own->second);
        }
        return all;
    }

    Run& run_;
    std::size_t index_;
    const PlannedStage& stage_;
    StageReport report_;
};

/// "in stage 'align.evidence' (graph: parse.autodeploy, …), after less than a second"
std::string where_it_failed(const Run& run, const PlannedStage& stage, Clock::duration elapsed) {
    std::vector<std::string> inputs;
    for (std::size_t i = 0; i < stage.inputs.size(); ++i) {
        for (const OutputRef& source : stage.inputs[i]) {
            inputs.push_back(fmt::format("{}: {}", stage.decl->inputs[i].name, run.artifacts.at(source).producer));
        }
    }
    const std::string from = inputs.empty() ? std::string{} : fmt::format(" ({})", fmt::join(inputs, ", "));
    return fmt::format("in stage '{}'{}, after {}", stage.id, from, elapsed_text(elapsed));
}

std::unique_ptr<Stage> create(const PlannedStage& planned) { return std::unique_ptr<Stage>{planned.decl->create(planned.options)}; }

/// Tells a stage that a run begins. Where it throws, run() says what is wrong.
void prepare_stage(Stage& stage, const Context& context) noexcept {
    try {
        stage.prepare(context);
    } catch (...) {}
}

/// The stages, prepared. What cannot be made stays null: it is tried again, and reported, when its turn comes.
std::vector<std::unique_ptr<Stage>> prepare_stages(Run& run) {
    std::vector<std::unique_ptr<Stage>> stages(run.plan.stages.size());
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const StageContext context{run, i};
        try {
            stages[i] = create(run.plan.stages[i]);
        } catch (...) {}
        if (stages[i] != nullptr) prepare_stage(*stages[i], context);
    }
    return stages;
}

void run_prepared(const PlannedStage& planned, std::unique_ptr<Stage> stage, StageContext& context) {
    if (auto wrong = digest_fault(context.inputs())) throw Error(std::move(*wrong));
    if (stage == nullptr) {
        stage = create(planned);
        if (stage == nullptr)
            throw Error("ADP-RUN-003", fmt::format("stage '{}' could not be made: its create() returned null", planned.id));
        prepare_stage(*stage, context);
    }
    stage->run(context);
}

/// The one place that calls a plugin's stage. Copies the text of whatever it throws; keeps no exception.
std::vector<Diagnostic> run_stage(Run& run, const PlannedStage& planned, std::unique_ptr<Stage> stage, StageContext& context) {
    std::vector<Diagnostic> errors;
    const Clock::time_point start = Clock::now();
    try {
        run_prepared(planned, std::move(stage), context);
        context.stage_report().elapsed = Clock::now() - start;
        if (!context.stop_requested()) context.check_outputs();
    } catch (const Error& error) {
        errors = error.diagnostics();
        if (errors.empty()) errors.push_back(run_fault("ADP-RUN-001", "the stage failed without saying why"));
    } catch (const std::bad_alloc&) {
        errors.push_back(run_fault("ADP-RUN-010", "there is not enough memory"));
    } catch (const std::exception& error) {
        errors.push_back(run_fault("ADP-RUN-001", error.what()));
    } catch (...) {
        errors.push_back(run_fault("ADP-RUN-002", "the stage threw something that is no exception"));
    }
    if (!errors.empty()) errors.back().notes.push_back(where_it_failed(run, planned, Clock::now() - start));
    return errors;
}

}  // namespace

RunListener::~RunListener() = default;

RunResult execute(const Plan& plan, const RunSettings& settings, RunListener& listener) {
    RunResult result;
    Run run{plan, settings, listener, plan.given, {}, {}};
    const auto is_stopped = [&] { return settings.stop != nullptr && settings.stop->load(); };
    std::vector<std::unique_ptr<Stage>> stages = prepare_stages(run);
    for (std::size_t i = 0; i < plan.stages.size() && !is_stopped(); ++i) {
        const PlannedStage& planned = plan.stages[i];
        listener.stage_started(planned, i, plan.stages.size());
        StageContext context{run, i};
        result.errors = run_stage(run, planned, std::move(stages[i]), context);
        if (is_stopped()) result.errors.clear();  // it failed because it was told to stop
        if (is_stopped() || !result.errors.empty()) break;
        listener.stage_finished(context.stage_report());
        result.stages.push_back(std::move(context.stage_report()));
        for (const OutputRef& output : planned.last_used) run.artifacts.erase(output);
    }
    result.reported = std::move(run.reported);
    result.stopped = is_stopped() && result.stages.size() < plan.stages.size();
    for (const OutputRef& output : plan.kept) {
        if (const auto kept = run.artifacts.find(output); kept != run.artifacts.end()) result.kept.push_back(kept->second);
    }
    return result;
}

}  // namespace adpipe
