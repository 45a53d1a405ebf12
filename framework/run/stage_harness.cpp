#include <adpipe/testing/stage_harness.hpp>

#include "config/option_decode.hpp"
#include "host/registry.hpp"
#include "host/search_path.hpp"
#include "run/executor.hpp"
#include "run/pipeline_builder.hpp"

#include <adpipe/files.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <system_error>

namespace adpipe::testing {
namespace {

namespace fs = std::filesystem;

/// Removed, with all that is in it, when it goes.
class TemporaryDirectory {
public:
    TemporaryDirectory() {
        std::string name = (fs::temp_directory_path() / "adpipe-harness-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw Error("ADP-RUN-013", "cannot create the temporary directory " + name);
        path_ = name;
    }
    ~TemporaryDirectory() {
        std::error_code error;
        fs::remove_all(path_, error);
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    const fs::path& path() const noexcept { return path_; }

private:
    fs::path path_;
};

class Collector final : public RunListener {
public:
    void report(const Diagnostic& diagnostic) override { diagnostics.push_back(diagnostic); }
    void print(std::string_view text) override { printed += text; }
    std::vector<Diagnostic> diagnostics;
    std::string printed;
};

}  // namespace

struct StageHarness::State {
    struct Fed {
        std::string port;
        Artifact artifact;
    };
    Registry registry;
    std::optional<StageDecl> own;
    const StageDecl* decl = nullptr;
    PipelineBuilder builder{"test"};
    std::vector<Fed> fed;
    TemporaryDirectory directory;
    RunResult result;
    Collector collector;
    StageReport report;

    void find(std::string_view stage) {
        Registry::Found found = registry.find(stage);
        if (found.stage == nullptr && found.diagnostics.empty()) {
            throw Error("ADP-PLAN-001", fmt::format("there is no stage '{}'", stage), "set ADPIPE_PLUGIN_PATH to the plugin's directory");
        }
        if (found.stage == nullptr) throw Error(std::move(found.diagnostics));
        decl = found.stage;
        builder.add(std::string{stage});
    }

    StageConfig& config() { return builder.config().stages.front(); }

    Plan make_plan() {
        Plan plan;
        plan.name = "test";
        plan.layers = builder.config().layers;
        plan.output = directory.path();
        PlannedStage stage;
        stage.id = decl->name;
        stage.decl = decl;
        std::vector<Diagnostic> diagnostics;
        stage.options = decode_options(*decl, config(), diagnostics);
        if (!diagnostics.empty()) throw Error(std::move(diagnostics));
        stage.inputs.resize(decl->inputs.size());
        for (std::size_t i = 0; i < fed.size(); ++i) {
            const OutputRef given{given_stage, i};
            stage.inputs[port_index(fed[i])].push_back(given);
            plan.given.emplace(given, fed[i].artifact);
        }
        for (std::size_t i = 0; i < decl->outputs.size(); ++i) plan.kept.push_back({0, i});
        plan.stages.push_back(std::move(stage));
        return plan;
    }

    std::size_t port_index(const Fed& input) const {
        const auto port = std::find_if(decl->inputs.begin(), decl->inputs.end(), [&](const PortDecl& p) { return input.port == p.name; });
        if (port == decl->inputs.end() || input.artifact.type != port->type) {
            throw Error("ADP-PLAN-004",
                        fmt::format("stage '{}' has no input '{}' of type {}", decl->name, input.port, input.artifact.type));
        }
        return static_cast<std::size_t>(port - decl->inputs.begin());
    }
};

StageHarness::StageHarness(std::string_view stage) : state_{std::make_unique<State>()} {
    state_->registry = Registry{search_places(SearchSettings::from_process())};
    state_->find(stage);
}

StageHarness::StageHarness(const fs::path& plugin, std::string_view stage) : state_{std::make_unique<State>()} {
    SearchSettings settings;
    settings.command_line = {plugin};
    state_->registry = Registry{search_places(settings)};
    if (auto problems = state_->registry.named_problems(); !problems.empty()) throw Error(std::move(problems));
    state_->find(stage);
}

StageHarness::StageHarness(const StageDecl& stage) : state_{std::make_unique<State>()} {
    state_->own = stage;
    state_->registry.add(*state_->own);
    state_->find(stage.name);
}

StageHarness::~StageHarness() = default;

StageHarness& StageHarness::option(const std::string& name, const std::string& value) {
    return option(name, std::vector<std::string>{value});
}

StageHarness& StageHarness::option(const std::string& name, const std::vector<std::string>& values) {
    Setting setting;
    setting.name.text = name;
    setting.shape = values.size() == 1 ? Setting::Shape::single : Setting::Shape::list;
    for (const std::string& value : values) setting.values.push_back({value, false, {}});
    std::error_code error;
    setting.base = fs::current_path(error);
    auto& settings = state_->config().settings;
    std::erase_if(settings, [&](const Setting& other) { return other.name.text == name; });
    settings.push_back(std::move(setting));
    return *this;
}

StageHarness& StageHarness::layers(LayerSelection layers) {
    state_->builder.layers(std::move(layers));
    return *this;
}

StageHarness& StageHarness::feed(const std::string& port, Artifact artifact) {
    state_->fed.push_back({port, std::move(artifact)});
    return *this;
}

void StageHarness::run() {
    State& state = *state_;
    state.collector = {};
    state.report = {};
    state.result = {};
    const Plan plan = state.make_plan();
    RunSettings settings;
    settings.data_directories = data_directories(SearchSettings::from_process());
    state.result = execute(plan, settings, state.collector);
    if (!state.result.errors.empty()) throw Error(state.result.errors);
    state.report = state.result.stages.front();
}

const std::vector<Artifact>& StageHarness::outputs() const noexcept { return state_->result.kept; }
const std::vector<Diagnostic>& StageHarness::diagnostics() const noexcept { return state_->collector.diagnostics; }
const std::vector<std::string>& StageHarness::summary() const noexcept { return state_->report.summary; }
const std::string& StageHarness::printed() const noexcept { return state_->collector.printed; }
const std::vector<fs::path>& StageHarness::files() const noexcept { return state_->report.files; }
std::string StageHarness::file(const fs::path& name) const {
    return std::string{MappedFile::open(state_->directory.path() / name)->text()};
}

}  // namespace adpipe::testing
