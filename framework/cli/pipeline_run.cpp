#include "cli/pipeline_run.hpp"

#include "cli/console.hpp"
#include "cli/stop_signal.hpp"

#include <adpipe/render/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <tuple>

namespace adpipe::cli {
namespace {

std::string counted(std::size_t count, std::string_view what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

/// Tells a person what happens; progress only where somebody watches.
class ConsoleListener final : public RunListener {
public:
    ConsoleListener(const Plan& plan, const PipelineOptions& options)
        : options_{options}, shows_progress_{error_is_terminal() && !options.quiet && !options.json} {
        for (const PlannedStage& stage : plan.stages) id_width_ = std::max(id_width_, stage.id.size());
    }
    ~ConsoleListener() override { clear_progress(); }

    void stage_started(const PlannedStage& stage, std::size_t index, std::size_t count) override {
        if (!shows_progress_) return;
        clear_progress();
        tell(fmt::format("[{}/{}] {} …", index + 1, count, stage.id));
        has_progress_ = true;
    }

    void stage_finished(const StageReport& report) override {
        clear_progress();
        if (!options_.narrate || options_.quiet || options_.json) return;
        std::string text;
        for (const std::string& line : report.summary) {
            for (const std::string& part : fitted(line))
                text += fmt::format("{:<{}}  {}\n", text.empty() ? report.id : std::string{}, id_width_, part);
        }
        tell(text);
    }

    void report(const Diagnostic& diagnostic) override {
        if (options_.quiet && diagnostic.severity != Severity::error) return;
        clear_progress();
        show({diagnostic});
    }

    void print(std::string_view text) override {
        if (options_.json) return;  // standard output is one JSON object then
        clear_progress();
        Output::standard().write(text);
    }

    void clear_progress() {
        if (has_progress_) tell("\r\033[K");
        has_progress_ = false;
    }

private:
    /// A line of a summary as it stands beside the stage's id on a terminal; whole where it is written elsewhere, or the terminal is narrow.
    std::vector<std::string> fitted(const std::string& line) const {
        constexpr int least = 30;
        const int columns = error_columns().value_or(0) - static_cast<int>(id_width_) - 2;
        return columns < least || render::display_width(line) <= columns ? std::vector{line} : render::wrapped(line, columns);
    }

    const PipelineOptions& options_;
    bool shows_progress_;
    bool has_progress_ = false;
    std::size_t id_width_ = 0;
};

/// Puts what is wrong with the config into the order of its lines, before what is wrong with anything else.
void sort_by_line(std::vector<Diagnostic>& diagnostics, const std::string& config) {
    const auto key = [&](const Diagnostic& diagnostic) {
        const bool is_in_config = diagnostic.where.file == config;
        return std::tuple{!is_in_config, is_in_config ? diagnostic.where.line : 0, is_in_config ? diagnostic.where.column : 0};
    };
    std::stable_sort(diagnostics.begin(), diagnostics.end(), [&](const Diagnostic& a, const Diagnostic& b) { return key(a) < key(b); });
}

/// A path as short as it can be said: relative where it is below the working directory.
std::string short_path(const std::filesystem::path& path) {
    std::error_code error;
    const auto relative = path.lexically_relative(std::filesystem::current_path(error));
    return error || relative.empty() || *relative.begin() == ".." ? path.string() : relative.string();
}

void tell_files(const RunResult& result) {
    std::string text;
    for (const StageReport& stage : result.stages) {
        for (const auto& file : stage.files) text += fmt::format("wrote {}\n", short_path(file));
    }
    tell(text);
}

void tell_timings(const RunResult& result) {
    const auto milliseconds = [](std::chrono::nanoseconds time) {
        return fmt::format("{:>9.3f} ms", std::chrono::duration<double, std::milli>(time).count());
    };
    std::vector<std::vector<std::string>> rows;
    std::chrono::nanoseconds total{};
    for (const StageReport& stage : result.stages) {
        rows.push_back({stage.id, milliseconds(stage.elapsed)});
        total += stage.elapsed;
    }
    rows.push_back({"total", milliseconds(total)});
    tell(aligned(rows));
}

/// The process ends soon after a run, and the system takes its memory back faster than destructors take apart what a run made.
void keep_to_the_end(const std::vector<Artifact>& artifacts) {
    static auto* const kept = new std::vector<Artifact>;
    kept->insert(kept->end(), artifacts.begin(), artifacts.end());
}

}  // namespace

void PipelineOptions::add_to(CommandLine& line) {
    line.option("plugin", "FILE", "a plugin, or a directory of plugins, to look at first; may be given several times", &plugins);
    line.flag("quiet,q", "says nothing but errors", &quiet);
    line.flag("timings", "shows how long each stage took", &timings);
}

void ConfigOptions::add_to(CommandLine& line) {
    line.argument("CONFIG", "a pipeline in YAML", &file);
    line.option("set", "STAGE.OPTION=VALUE", "overrides an option of a stage; may be given several times", &overrides.set);
    line.option("layer", "LAYERS", "overrides the config's layer: 5, 3-60, 3,7 or all", &overrides.layer);
    line.option("output,o", "DIR", "overrides the config's output directory", &overrides.output);
}

Registry make_registry(const std::vector<std::string>& command_line, const std::vector<std::filesystem::path>& config) {
    SearchSettings settings = SearchSettings::from_process();
    settings.command_line.assign(command_line.begin(), command_line.end());
    settings.config = config;
    return Registry{search_places(settings)};
}

int Preparation::status() const {
    bool has_error = false;
    for (const Diagnostic& diagnostic : diagnostics) {
        if (diagnostic.severity != Severity::error) continue;
        has_error = true;
        if (diagnostic.code.rfind("ADP-PLUG-", 0) != 0) return exit_config;
    }
    return has_error ? exit_plugin : exit_ok;
}

Preparation prepare(PipelineConfig config, const PipelineOptions& options) {
    Preparation preparation{std::move(config), {}, {}, {}};
    preparation.registry = make_registry(options.plugins, preparation.config.plugins);
    std::vector<Diagnostic> problems = preparation.registry.named_problems();
    preparation.plan = make_plan(preparation.config, preparation.registry, preparation.diagnostics);
    // Of a plugin that a stage needs, the plan says the same, and for which stage.
    std::erase_if(problems, [&](const Diagnostic& problem) {
        return std::any_of(preparation.diagnostics.begin(), preparation.diagnostics.end(), [&](const Diagnostic& known) {
            return known.code == problem.code && known.where.file == problem.where.file && known.message == problem.message;
        });
    });
    preparation.diagnostics.insert(preparation.diagnostics.begin(), problems.begin(), problems.end());
    return preparation;
}

Preparation prepare(const ConfigOptions& file, const PipelineOptions& options) {
    std::vector<Diagnostic> diagnostics;
    auto config = read_config(file.file, diagnostics);
    if (!config || (config->stages.empty() && !diagnostics.empty())) return {{}, {}, {}, std::move(diagnostics)};
    apply_overrides(*config, file.overrides, diagnostics);
    Preparation preparation = prepare(std::move(*config), options);
    preparation.diagnostics.insert(preparation.diagnostics.begin(), diagnostics.begin(), diagnostics.end());
    sort_by_line(preparation.diagnostics, file.file);
    return preparation;
}

int run_prepared(const Preparation& preparation, const PipelineOptions& options, RunResult& result) {
    const int status = preparation.status();
    std::vector<Diagnostic> shown = preparation.diagnostics;
    if (options.quiet) std::erase_if(shown, [](const Diagnostic& diagnostic) { return diagnostic.severity != Severity::error; });
    show(shown);
    if (status != exit_ok) return status;

    const StopSignal stop;
    RunSettings settings;
    settings.terminal = output_terminal();
    settings.data_directories = data_directories(SearchSettings::from_process());
    settings.stop = &stop.flag();
    ConsoleListener listener{*preparation.plan, options};
    result = execute(*preparation.plan, settings, listener);
    keep_to_the_end(result.kept);
    listener.clear_progress();
    show(result.errors);
    if (options.narrate && !options.quiet && !options.json) tell_files(result);
    if (options.timings) tell_timings(result);
    if (result.stopped) {
        tell(fmt::format("stopped after {} of {}\n", result.stages.size(), counted(preparation.plan->stages.size(), "stage")));
        return 128 + stop.number();
    }
    return result.ok() ? exit_ok : exit_failed;
}

int run_pipeline(const PipelineConfig& config, const PipelineOptions& options, RunResult& result) {
    return run_prepared(prepare(config, options), options, result);
}

}  // namespace adpipe::cli
