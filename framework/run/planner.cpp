#include "run/planner.hpp"

#include "config/option_decode.hpp"
#include "host/registry.hpp"

#include <adpipe/suggest.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

namespace adpipe {
namespace {

/// Which kind of stage makes an artifact, for hints.
std::string_view maker_of(std::string_view artifact) {
    struct Maker {
        std::string_view artifact;
        std::string_view kind;
    };
    constexpr Maker makers[] = {{"dump/1", "select"},         {"graph/1", "parse"},          {"layers/1", "member"},
                                {"trace/1", "trace"},         {"window/1", "window"},        {"attribution/1", "align"},
                                {"metrics/1", "analyze"},     {"kernel_names/1", "analyze"}, {"operators/1", "analyze"},
                                {"segmentation/1", "segment"}};
    for (const Maker& maker : makers) {
        if (maker.artifact == artifact) return maker.kind;
    }
    return {};
}

bool has_error(const std::vector<Diagnostic>& diagnostics, std::size_t begin) {
    return std::any_of(diagnostics.begin() + static_cast<std::ptrdiff_t>(begin), diagnostics.end(),
                       [](const Diagnostic& diagnostic) { return diagnostic.severity == Severity::error; });
}

class Planner {
public:
    Planner(const PipelineConfig& config, Registry& registry, std::vector<Diagnostic>& diagnostics)
        : config_{config}, registry_{registry}, diagnostics_{diagnostics} {}

    std::optional<Plan> plan() {
        const std::size_t before = diagnostics_.size();
        plan_.name = config_.name;
        plan_.layers = config_.layers;
        plan_.output = config_.output;
        if (config_.stages.empty()) {
            diagnostics_.push_back(error_at(config_.origin, "ADP-PLAN-008", "the pipeline has no stages"));
        }
        for (const StageConfig& stage : config_.stages) add_stage(stage);
        if (has_error(diagnostics_, before)) return std::nullopt;
        keep_results();
        find_last_uses();
        warn_of_unused_stages();
        return std::move(plan_);
    }

private:
    Diagnostic& error(const Origin& origin, std::string code, std::string message) {
        return diagnostics_.emplace_back(error_at(origin, std::move(code), std::move(message)));
    }

    // ---- one stage

    /// Stages that cannot be found keep their place in the plan, so that ids and positions stay those of the config.
    void add_stage(const StageConfig& stage) {
        check_id(stage);
        PlannedStage planned;
        planned.id = stage.name();
        planned.decl = find_stage(stage);
        if (planned.decl == nullptr) {
            stage_is_missing_ = true;
        } else {
            planned.options = decode_options(*planned.decl, stage, diagnostics_);
            connect(stage, planned);
        }
        plan_.stages.push_back(std::move(planned));
        if (plan_.stages.back().decl != nullptr) offer_outputs(plan_.stages.size() - 1);
    }

    void check_id(const StageConfig& stage) {
        const auto same = std::find_if(plan_.stages.begin(), plan_.stages.end(),
                                       [&](const PlannedStage& other) { return other.id == stage.name(); });
        if (same == plan_.stages.end()) return;
        const Origin& origin = stage.id.text.empty() ? stage.stage.origin : stage.id.origin;
        error(origin, "ADP-CFG-017", fmt::format("two stages are called '{}'", stage.name())).hint =
            "give each an id of its own: `id: <name>`";
    }

    const StageDecl* find_stage(const StageConfig& stage) {
        Registry::Found found = registry_.find(stage.stage.text);
        const bool is_known = found.stage != nullptr || has_error(found.diagnostics, 0);
        for (Diagnostic& diagnostic : found.diagnostics) {
            if (diagnostic.severity == Severity::error) {
                diagnostic.notes.push_back(fmt::format("needed for the stage '{}'{}", stage.name(), place_text(stage.stage.origin)));
            }
            diagnostics_.push_back(std::move(diagnostic));
        }
        if (is_known) return found.stage;
        Diagnostic& unknown = error(stage.stage.origin, "ADP-PLAN-001", fmt::format("there is no stage '{}'", stage.stage.text));
        unknown.notes.push_back(suggestion(stage.stage.text, registry_.stage_names(), "the stages are"));
        unknown.hint = fmt::format("`adpipe plugins --why {}` shows where it was looked for", stage.stage.text);
        return nullptr;
    }

    static std::string place_text(const Origin& origin) {
        return origin.source ? fmt::format(" ({}:{})", origin.source->name(), origin.mark.line) : std::string{};
    }

    // ---- connections

    void connect(const StageConfig& stage, PlannedStage& planned) {
        check_wires(stage, *planned.decl);
        for (const PortDecl& port : planned.decl->inputs) {
            const auto wire = std::find_if(stage.from.begin(), stage.from.end(),
                                           [&](const Wire& other) { return other.port.text == port.name; });
            if (wire != stage.from.end()) planned.inputs.push_back(connect_by_hand(*wire, port));
            else if (is_second_of_its_type(port, *planned.decl)) planned.inputs.emplace_back();
            else planned.inputs.push_back(connect_by_type(stage, port));
        }
    }

    /// An optional input beside a required one of the same type takes something else than that one does: only the user can say what.
    static bool is_second_of_its_type(const PortDecl& port, const StageDecl& decl) {
        if (port.use != PortUse::optional) return false;
        return std::any_of(decl.inputs.begin(), decl.inputs.end(), [&](const PortDecl& other) {
            return other.use == PortUse::required && std::string_view{other.type} == port.type;
        });
    }

    void check_wires(const StageConfig& stage, const StageDecl& decl) {
        std::vector<std::string> ports;
        for (const PortDecl& port : decl.inputs) ports.emplace_back(port.name);
        for (const Wire& wire : stage.from) {
            if (std::find(ports.begin(), ports.end(), wire.port.text) != ports.end()) continue;
            error(wire.port.origin, "ADP-PLAN-004", fmt::format("stage '{}' has no input '{}'", decl.name, wire.port.text)).notes = {
                suggestion(wire.port.text, ports, "its inputs")};
        }
    }

    std::vector<OutputRef> connect_by_type(const StageConfig& stage, const PortDecl& port) {
        const std::vector<OutputRef>& candidates = current_[port.type];
        if (port.use == PortUse::many || candidates.size() == 1) return candidates;
        if (candidates.empty()) {
            // A stage that is missing might have made it.
            if (port.use == PortUse::required && !stage_is_missing_) report_no_producer(stage, port);
            return {};
        }
        std::vector<std::string> names;
        for (const OutputRef& candidate : candidates) {
            const std::string name = output_text(candidate);
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
        }
        if (names.size() == 1) return {};  // two stages with one id, which is reported
        Diagnostic& ambiguous = error(stage.stage.origin, "ADP-PLAN-003",
                                      fmt::format("several stages make {} for the input '{}' of '{}'", port.type, port.name, stage.name()));
        ambiguous.notes = {fmt::format("candidates: {}", fmt::join(names, ", "))};
        ambiguous.hint = fmt::format("choose one with `from: {{{}: {}}}`", port.name, names.back());
        return {};
    }

    void report_no_producer(const StageConfig& stage, const PortDecl& port) {
        Diagnostic& missing = error(stage.stage.origin, "ADP-PLAN-002",
                                    fmt::format("stage '{}' needs {} for its input '{}', and no earlier stage makes it", stage.name(),
                                                port.type, port.name));
        const std::string_view kind = maker_of(port.type);
        if (!kind.empty()) missing.hint = fmt::format("put a '{0}' stage before it (`adpipe list --kind {0}`)", kind);
    }

    std::vector<OutputRef> connect_by_hand(const Wire& wire, const PortDecl& port) {
        if (wire.producers.size() == 1 && wire.producers[0].text == "none" && port.use != PortUse::required) return {};
        std::vector<OutputRef> sources;
        for (const ConfigText& producer : wire.producers) {
            if (const auto source = find_output(producer, port)) sources.push_back(*source);
        }
        if (wire.producers.size() > 1 && port.use != PortUse::many) {
            error(wire.producers[1].origin, "ADP-PLAN-006", fmt::format("the input '{}' takes one artifact", port.name));
        }
        return sources;
    }

    /// `id`, or `id.port` where a stage makes several artifacts of one type.
    std::optional<OutputRef> find_output(const ConfigText& producer, const PortDecl& port) {
        std::string_view id = producer.text;
        std::string_view port_name;
        std::size_t index = index_of(id);
        if (index == plan_.stages.size() && id.find('.') != std::string_view::npos) {
            port_name = id.substr(id.rfind('.') + 1);
            index = index_of(id.substr(0, id.rfind('.')));
        }
        if (index == plan_.stages.size()) {
            report_unknown_producer(producer);
            return std::nullopt;
        }
        const StageDecl* const decl = plan_.stages[index].decl;
        if (decl == nullptr) return std::nullopt;
        std::vector<OutputRef> matches;
        for (std::size_t i = 0; i < decl->outputs.size(); ++i) {
            const PortDecl& output = decl->outputs[i];
            const bool is_meant = port_name.empty() || port_name == output.name;
            if (is_meant && std::string_view{port.type} == output.type) matches.push_back({index, i});
        }
        if (matches.size() == 1) return matches.front();
        report_no_match(producer, port, *decl);
        return std::nullopt;
    }

    std::size_t index_of(std::string_view id) const {
        const auto stage = std::find_if(plan_.stages.begin(), plan_.stages.end(), [&](const PlannedStage& s) { return s.id == id; });
        return static_cast<std::size_t>(stage - plan_.stages.begin());
    }

    void report_unknown_producer(const ConfigText& producer) {
        const auto later = std::find_if(config_.stages.begin() + static_cast<std::ptrdiff_t>(plan_.stages.size()), config_.stages.end(),
                                        [&](const StageConfig& stage) { return stage.name() == producer.text; });
        if (later != config_.stages.end()) {
            error(producer.origin, "ADP-PLAN-005",
                  fmt::format("stage '{}' does not come before the stage that reads from it", producer.text))
                .hint = "stages run in the order of the config";
            return;
        }
        std::vector<std::string> ids;
        for (const PlannedStage& stage : plan_.stages) ids.push_back(stage.id);
        error(producer.origin, "ADP-PLAN-005", fmt::format("no earlier stage is called '{}'", producer.text)).notes = {
            suggestion(producer.text, ids, "the earlier stages are")};
    }

    void report_no_match(const ConfigText& producer, const PortDecl& port, const StageDecl& decl) {
        std::vector<std::string> outputs;
        for (const PortDecl& output : decl.outputs) outputs.push_back(fmt::format("{} ({})", output.name, output.type));
        error(producer.origin, "ADP-PLAN-006",
              fmt::format("the input '{}' takes {}; '{}' does not make exactly one", port.name, port.type, producer.text))
            .notes = {outputs.empty() ? "it has no outputs" : fmt::format("its outputs: {}", fmt::join(outputs, ", "))};
    }

    std::string output_text(const OutputRef& output) const {
        const PlannedStage& stage = plan_.stages[output.stage];
        const std::string_view type = stage.decl->outputs[output.port].type;
        const auto same_type = std::count_if(stage.decl->outputs.begin(), stage.decl->outputs.end(),
                                             [&](const PortDecl& port) { return type == port.type; });
        return same_type == 1 ? stage.id : fmt::format("{}.{}", stage.id, stage.decl->outputs[output.port].name);
    }

    void offer_outputs(std::size_t index) {
        const PlannedStage& stage = plan_.stages[index];
        for (const PortDecl& output : stage.decl->outputs) {
            auto& offered = current_[output.type];
            for (std::size_t i = 0; i < stage.inputs.size(); ++i) {
                if (std::string_view{stage.decl->inputs[i].type} != output.type) continue;
                for (const OutputRef& used : stage.inputs[i]) std::erase(offered, used);  // this stage's result replaces it
            }
        }
        for (std::size_t i = 0; i < stage.decl->outputs.size(); ++i) current_[stage.decl->outputs[i].type].push_back({index, i});
    }

    // ---- the whole

    void keep_results() {
        for (const std::string& type : config_.keep) {
            if (const auto& offered = current_[type]; !offered.empty()) plan_.kept.push_back(offered.back());
        }
    }

    void find_last_uses() {
        std::map<OutputRef, std::size_t> last;
        for (std::size_t i = 0; i < plan_.stages.size(); ++i) {
            for (std::size_t port = 0; port < plan_.stages[i].decl->outputs.size(); ++port) last[{i, port}] = i;
            for (const auto& sources : plan_.stages[i].inputs) {
                for (const OutputRef& source : sources) last[source] = i;
            }
        }
        for (const auto& [output, stage] : last) {
            const bool is_kept = std::find(plan_.kept.begin(), plan_.kept.end(), output) != plan_.kept.end();
            if (!is_kept) plan_.stages[stage].last_used.push_back(output);
        }
    }

    void warn_of_unused_stages() {
        std::vector<bool> is_used(plan_.stages.size(), false);
        for (const PlannedStage& stage : plan_.stages) {
            for (const auto& sources : stage.inputs) {
                for (const OutputRef& source : sources) is_used[source.stage] = true;
            }
        }
        for (const OutputRef& output : plan_.kept) is_used[output.stage] = true;
        for (std::size_t i = 0; i < plan_.stages.size(); ++i) {
            if (is_used[i] || plan_.stages[i].decl->outputs.empty()) continue;
            Diagnostic& unused = error(config_.stages[i].stage.origin, "ADP-PLAN-007",
                                       fmt::format("no stage uses what '{}' makes", plan_.stages[i].id));
            unused.severity = Severity::warning;
        }
    }

    const PipelineConfig& config_;
    Registry& registry_;
    std::vector<Diagnostic>& diagnostics_;
    Plan plan_;
    /// Per artifact type: what stages made so far and no later one replaced, in the order of the config.
    std::map<std::string, std::vector<OutputRef>, std::less<>> current_;
    bool stage_is_missing_ = false;
};

}  // namespace

std::optional<Plan> make_plan(const PipelineConfig& config, Registry& registry, std::vector<Diagnostic>& diagnostics) {
    return Planner{config, registry, diagnostics}.plan();
}

}  // namespace adpipe
