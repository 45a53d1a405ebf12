#include "cli/front_door.hpp"

#include "cli/command_line.hpp"
#include "cli/pipeline_run.hpp"
#include "cli/trace_kind.hpp"
#include "host/registry.hpp"

#include <adpipe/diagnostic.hpp>
#include <adpipe/files.hpp>
#include <adpipe/model/layers.hpp>
#include <adpipe/suggest.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace adpipe::cli {
namespace fs = std::filesystem;

namespace {

bool is_layer_json(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return false;
    constexpr std::size_t looked_at = 1 << 16;
    std::ifstream file(path, std::ios::binary);
    std::string beginning(looked_at, '\0');
    file.read(beginning.data(), static_cast<std::streamsize>(looked_at));
    beginning.resize(static_cast<std::size_t>(file.gcount()));
    return looks_like_layer_json(beginning);
}

}  // namespace

void add_layers_of(PipelineBuilder& pipeline, const fs::path& path, const std::optional<std::string>& module) {
    if (is_layer_json(path)) {
        pipeline.add("select.file").with("file", path);
        pipeline.add("parse.layer_json");
        return;
    }
    add_dump(pipeline, path, module);
    pipeline.add(usual_strategy);
}

PipelineBuilder::Step add_strategy(PipelineBuilder& pipeline, const std::string& strategy, const std::vector<std::string>& plugins) {
    if (strategy == usual_strategy) return pipeline.add(strategy);
    Registry registry = make_registry(plugins);
    const StageDecl* const stage = registry.find(strategy).stage;
    std::vector<std::pair<std::string, std::string>> wires;
    for (const PortDecl& port : stage != nullptr ? stage->inputs : std::span<const PortDecl>{}) {
        if (std::string_view{port.type} != ArtifactTraits<Layers>::id || port.use == PortUse::optional) continue;
        wires.emplace_back(port.name, usual_strategy);
        if (port.use == PortUse::many) wires.emplace_back(port.name, "member.module_path");
    }
    std::set<std::string> others;
    for (const auto& [port, other] : wires) {
        if (others.insert(other).second) pipeline.add(other);
    }
    PipelineBuilder::Step step = pipeline.add(strategy);
    for (const auto& [port, other] : wires) step.from(port, other);
    return step;
}

void LayerSource::add_graph(PipelineBuilder& pipeline) const {
    if (dump) add_layers_of(pipeline, *dump, module);
}

PipelineBuilder::Step LayerSource::add_kernels(PipelineBuilder& pipeline) const {
    if (dump) return pipeline.add("align.evidence");
    if (pattern) return pipeline.add("segment.anchor").with("kernel", *pattern);
    if (range) return pipeline.add("segment.anchor").with("range", *range);
    return pipeline.add("segment.period");
}

void add_dump(PipelineBuilder& pipeline, const fs::path& path, const std::optional<std::string>& module) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
        pipeline.add("select.final").with("directory", path);
    } else {
        pipeline.add("select.file").with("file", path);
    }
    auto parse = pipeline.add("parse.auto");
    if (module) parse.with("module", *module);
}

PipelineBuilder::Step add_trace(PipelineBuilder& pipeline, const fs::path& file) {
    return pipeline.add(trace_stage(file)).with("file", file);
}

namespace {

constexpr const char* whole_trace = "whole";

/// The options that are numbers, by name.
std::array<std::pair<const char*, const std::optional<std::string>*>, 5> numbers_of(const StepOptions& options) {
    return {{{"step", &options.step},
             {"graph", &options.graph},
             {"batch", &options.batch},
             {"rank", &options.rank},
             {"device", &options.device}}};
}

}  // namespace

bool is_count(const std::string& text) {
    constexpr std::size_t most_digits = 18;
    return !text.empty() && text.size() <= most_digits &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void StepOptions::add_to(CommandLine& line) {
    const std::string default_text = phase == whole_trace ? "whole, which is all that is in the trace" : phase;
    line.option("phase", "PHASE",
                "steps of this phase: decode, prefill, mixed, capture, other, unknown or all (default: " + default_text + ")", &phase);
    line.option("step", "N", "this step alone; adpipe steps lists them", &step);
    line.option("graph", "ID", "replays of this executable graph", &graph);
    line.option("batch", "N", "steps of this batch size", &batch);
    line.option("rank", "N", "steps of this rank; processes count from 0 where the trace does not say", &rank);
    line.option("device", "N", "steps on this GPU", &device);
    line.option(
        "step-range", "NAME",
        "a step is what was launched inside a range (NVTX, record_function) with this in its name; auto: inside one named like a step",
        &range);
}

std::optional<int> StepOptions::check(const std::string& verb) const {
    if (phase != whole_trace || usual_phase_ != whole_trace) {
        if (const auto wrong = check_choice(verb, "phase", phase, {"all", "decode", "prefill", "mixed", "capture", "other", "unknown"}))
            return wrong;
    }
    for (const auto& [name, value] : numbers_of(*this)) {
        if (!*value || is_count(**value)) continue;
        return usage_error("ADP-USE-007", fmt::format("--{} is a number from 0; found '{}'", name, **value), verb);
    }
    return std::nullopt;
}

std::optional<std::string> StepOptions::first_given() const {
    for (const auto& [name, value] : numbers_of(*this)) {
        if (*value) return name;
    }
    return range ? std::optional<std::string>{"step-range"} : std::nullopt;
}

bool StepOptions::narrow() const {
    const auto numbers = numbers_of(*this);
    return (phase != "all" && phase != whole_trace) ||
           std::any_of(numbers.begin(), numbers.end(), [](const auto& number) { return number.second->has_value(); });
}

PipelineBuilder::Step StepOptions::add_window(PipelineBuilder& pipeline) const {
    auto window = pipeline.add(range ? "window.annotation" : "window.replay").with("phase", phase == whole_trace ? "all" : phase);
    if (range && *range != "auto") window.with("range", *range);
    for (const auto& [name, value] : numbers_of(*this)) {
        if (*value) window.with(name, std::to_string(std::stoll(**value)));  // without zeros in front
    }
    return window;
}

void add_detailed_trace(PipelineBuilder& pipeline, const fs::path& file, const std::string& id) {
    auto trace = add_trace(pipeline, file).id(id);
    if (trace_stage(file) == "trace.kineto") trace.with("python", "all").with("details", true);
}

void add_companion(PipelineBuilder& pipeline, const fs::path& file, bool detailed) {
    constexpr const char* id = "companion.trace";
    if (detailed) add_detailed_trace(pipeline, file, id);
    else add_trace(pipeline, file).id(id);
    pipeline.add("window.replay").id(companion_window).from("trace", id).with("may_be_empty", true);
}

void add_operators(PipelineBuilder& pipeline, const std::string& window, bool companion) {
    auto operators = pipeline.add("analyze.operators").id(window + ".operators").from("window", window);
    if (companion) operators.from("companion", companion_window);
}

PipelineBuilder::Step add_attribution(PipelineBuilder& pipeline, const fs::path& trace, const StepOptions& steps,
                                      const std::optional<std::string>& companion,
                                      const std::vector<std::pair<const char*, bool>>& window_flags) {
    // The companion first: what follows takes the newest of its kind, which is to be the trace in question.
    if (companion) {
        pipeline.add(trace_stage(*companion)).id("companion.trace").with("file", *companion);
        pipeline.add("window.replay")
            .id("companion.window")
            .from("trace", "companion.trace")
            .with("all_ranks", true)
            .with("may_be_empty", true);
    }
    add_trace(pipeline, trace);
    PipelineBuilder::Step window = steps.add_window(pipeline);
    for (const auto& [flag, value] : window_flags) window.with(flag, value);
    PipelineBuilder::Step align = pipeline.add("align.evidence");
    if (companion) {
        window.from("trace", trace_stage(trace));
        align.from("window", steps.range ? "window.annotation" : "window.replay").from("companion", "companion.window");
    }
    return align;
}

std::optional<int> check_choice(const std::string& verb, const std::string& option, const std::string& value,
                                std::initializer_list<const char*> choices) {
    if (std::any_of(choices.begin(), choices.end(), [&](const char* choice) { return value == choice; })) return std::nullopt;
    const std::vector<std::string> names{choices.begin(), choices.end()};
    return usage_error("ADP-USE-007", fmt::format("--{} is one of {}; found '{}'", option, fmt::join(names, ", "), value), verb,
                       nearest_name(value, names).empty() ? "" : fmt::format("did you mean '{}'?", nearest_name(value, names)));
}

}  // namespace adpipe::cli
