#include "attributor.hpp"

#include <adpipe/plugin.hpp>

#include <array>
#include <optional>
#include <stdexcept>
#include <string>

namespace {

using namespace adpipe;

class EvidenceAlign final : public Stage {
public:
    struct Options {
        std::filesystem::path rules;
    };

    static constexpr const char* name = "align.evidence";
    static constexpr const char* summary = "put kernels onto the graph's ops, by the strongest evidence there is";
    static constexpr const char* doc =
        "For each kernel, strongest first: the range that was open when its graph node was captured (lineage), the range that was\n"
        "open when it was launched or what the trace wrote on it (annotation), the same of the kernel that stands in its place in\n"
        "another recording of the model (companion), and its place among the step's kernels (sequence): all kernels of a step are\n"
        "aligned with all ops of the graph in order, with the rules of what an op may launch. Where a step cannot be put in order,\n"
        "a name that only one op of the layer launches (name). What stays ambiguous gets no node, but its layer where that is known.";
    static constexpr PortDecl inputs[] = {port<GraphModel>("graph", "the model graph"), port<Layers>("layers", "the layer of each vertex"),
                                          port<Window>("window", "the steps of the recording"),
                                          port<Window>("companion", "steps of another recording of the same model, by `from` only",
                                                       PortUse::optional)};
    static constexpr PortDecl outputs[] = {port<Attribution>("attribution", "vertices per kernel, with evidence")};
    static constexpr auto options() {
        return std::array{option<&Options::rules>("rules", "What ops launch; the file that is installed with adpipe if not given.")};
    }

    explicit EvidenceAlign(Options given) : options_(std::move(given)) {}

    /// YAML takes its time: the trace is read, and its names and the ops are looked through, meanwhile.
    void prepare(const Context& context) override {
        reading_rules_.emplace([file = options_.rules.empty() ? context.data_file("rules/kernels.yaml") : options_.rules] {
            return align::read_launch_rules(file);
        });
    }

    void run(Context& context) override {
        const auto graph = context.in_shared<GraphModel>("graph");
        const auto layers = context.in_shared<Layers>("layers");
        if (layers->graph_digest != graph->digest()) {
            throw std::logic_error("the layers belong to another graph than the one to align with");
        }
        if (!reading_rules_) prepare(context);
        const auto window = context.in_shared<Window>("window");
        const auto companion = context.maybe<Window>("companion");
        align::CompanionUse use;
        const auto attribution = align::attribute(*graph, *layers, window, *reading_rules_, companion, use);
        if (companion && use.asked > 0 && use.answered == 0) context.report(unfit(*companion, use));
        if (const Nanoseconds total = total_of(*attribution); attribution->attributed_ns * 2 < total)
            context.report(unplaced(*window, *attribution));
        context.summary(describe(*attribution));
        context.out<Attribution>("attribution", attribution);
    }

private:
    static Diagnostic unfit(const Window& companion, const align::CompanionUse& use) {
        Diagnostic diagnostic;
        diagnostic.severity = Severity::warning;
        diagnostic.code = "ADP-ALIGN-002";
        diagnostic.where.file = companion.trace->file.string();
        diagnostic.message = "the companion recording says nothing of this one";
        diagnostic.notes.push_back(
            use.passes == 0 ? "in none of its passes do most kernels have a range that names an op, a module or a layer of the graph"
                            : "none of its " + std::to_string(use.passes) + " passes resembles one of the recording's");
        diagnostic.hint = use.passes == 0
                              ? "record it with a range (NVTX, record_function) around each op or module, or over the capture of the graphs"
                              : "it has to be of the same model on the same software; batch sizes may differ";
        return diagnostic;
    }

    /// Most of the time is on no node: mostly the dump of another model, or of another rank or run.
    static Diagnostic unplaced(const Window& window, const Attribution& attribution) {
        Diagnostic diagnostic;
        diagnostic.severity = Severity::warning;
        diagnostic.code = "ADP-ALIGN-003";
        diagnostic.where.file = window.trace->file.string();
        diagnostic.message = "only " + describe(attribution);
        diagnostic.hint =
            "is the dump of the run that was recorded? It has to be of the same model, parallelism and transforms; `adpipe kernels` tells "
            "the reason for "
            "each kernel, `adpipe layers` needs no dump";
        return diagnostic;
    }

    static Nanoseconds total_of(const Attribution& attribution) { return attribution.attributed_ns + attribution.unattributed_ns; }

    static std::string describe(const Attribution& attribution) {
        const Nanoseconds total = total_of(attribution);
        if (total == 0) return "no kernel time in the chosen steps";
        const Nanoseconds permille = attribution.attributed_ns * 1000 / total;
        return std::to_string(permille / 10) + "." + std::to_string(permille % 10) + " % of the kernel time is on a node";
    }

    Options options_;
    std::optional<Beside<align::LaunchRules>> reading_rules_;
};

}  // namespace

ADPIPE_PLUGIN("align_evidence", "0.1.0", "align.evidence", adpipe::stage<EvidenceAlign>())
