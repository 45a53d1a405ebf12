#include "step_finder.hpp"

#include <adpipe/plugin.hpp>

#include <map>
#include <set>
#include <array>
#include <string>

namespace {

using namespace adpipe;

class ReplayWindow final : public Stage {
public:
    struct Options {
        std::string phase = "all";
        std::int64_t step = -1;
        std::int64_t batch = -1;
        std::int64_t graph = -1;
        std::int64_t device = -1;
        std::int64_t rank = -1;
        bool incomplete = false;
    };

    static constexpr const char* name = "window.replay";
    static constexpr const char* summary = "find the forward passes: replays of captured graphs, and eager ones";
    static constexpr const char* doc =
        "Finds every replay of every captured graph, and the forward passes that were launched kernel by kernel. Each gets\n"
        "its phase and batch size with the reason. Replays that the recording cut off are named and left out, and so are those\n"
        "that lost kernels, as long as others of the same graph are whole. The options choose among the rest.";
    static constexpr PortDecl inputs[] = {port<Trace>("trace", "the recording")};
    static constexpr PortDecl outputs[] = {port<Window>("window", "its steps, and which were chosen")};
    static constexpr auto options() {
        return std::array{
            option<&Options::phase>("phase", "Steps of this phase only.", {.choices = "all|decode|prefill|mixed|capture|other"}),
            option<&Options::step>("step", "This step only, by its number; -1: any.", {.minimum = -1}),
            option<&Options::batch>("batch", "Steps of this batch size only; -1: any.", {.minimum = -1}),
            option<&Options::graph>("graph", "Replays of this executable graph only; -1: any.", {.minimum = -1}),
            option<&Options::device>("device", "Steps on this device only; -1: any.", {.minimum = -1}),
            option<&Options::rank>("rank", "Steps of this process only, counted from 0; -1: any.", {.minimum = -1}),
            option<&Options::incomplete>("incomplete", "Keep replays that were cut off or lost kernels."),
        };
    }

    explicit ReplayWindow(Options given) : options_(std::move(given)) {}

    void run(Context& context) override {
        const auto trace = context.in_shared<Trace>("trace");
        const auto window = window::find_steps(trace);
        const std::size_t chosen = choose(*window);
        window->description = describe(*window, chosen);
        if (chosen == 0) report_nothing_chosen(context, *trace, *window);
        context.summary(window->description);
        context.out<Window>("window", window);
    }

private:
    std::size_t choose(Window& window) const {
        std::set<std::uint32_t> graphs_with_whole_replay;
        for (const Step& step : window.steps) {
            if (step.complete && step.captured != no_captured_graph) graphs_with_whole_replay.insert(step.captured);
        }
        std::size_t count = 0;
        for (Step& step : window.steps) {
            const bool cut = step.reason.find("cut off") != std::string::npos || step.reason.find("began in the middle") != std::string::npos;
            const bool replaceable = cut || graphs_with_whole_replay.count(step.captured) != 0;
            step.chosen = matches(step) && (step.complete || options_.incomplete || !replaceable);
            count += step.chosen ? 1 : 0;
        }
        return count;
    }

    bool matches(const Step& step) const {
        return (options_.phase == "all" || options_.phase == phase_text(step.phase)) && (options_.step < 0 || options_.step == step.number) &&
               (options_.batch < 0 || options_.batch == step.batch_size) &&
               (options_.graph < 0 || (step.replay && static_cast<std::uint64_t>(options_.graph) == step.graph)) &&
               (options_.device < 0 || options_.device == step.device) && (options_.rank < 0 || options_.rank == step.process);
    }

    static std::string describe(const Window& window, std::size_t chosen) {
        std::map<std::string, std::size_t> kinds;
        std::size_t left_out = 0;
        for (const Step& step : window.steps) {
            if (!step.complete && !step.chosen) ++left_out;
            if (!step.chosen) continue;
            std::string kind(phase_text(step.phase));
            if (step.replay && step.graph != no_id) kind += " graph " + std::to_string(step.graph);
            if (step.batch_size >= 0) kind += " batch " + std::to_string(step.batch_size);
            ++kinds[kind];
        }
        std::string text = std::to_string(chosen) + " of " + std::to_string(window.steps.size()) + " steps";
        const char* separator = ": ";
        constexpr std::size_t most_named = 6;
        std::size_t named = 0;
        for (const auto& [kind, count] : kinds) {
            if (++named > most_named) break;
            text += separator + std::to_string(count) + " " + kind;
            separator = ", ";
        }
        if (named > most_named) text += ", …";
        if (left_out > 0) text += "; left out: " + std::to_string(left_out) + " cut off or with lost kernels";
        return text;
    }

    void report_nothing_chosen(Context& context, const Trace& trace, const Window& window) const {
        Diagnostic diagnostic;
        diagnostic.severity = Severity::warning;
        diagnostic.code = "ADP-WINDOW-001";
        diagnostic.where.file = trace.file.string();
        if (window.steps.empty()) {
            diagnostic.message = "no forward pass was found in the trace";
            if (trace.graph_runs.size() > 0) {
                diagnostic.notes.push_back("the passes ran in graphs that were recorded without their kernels");
                diagnostic.hint = "record again with --cuda-graph-trace=node";
            }
        } else {
            diagnostic.message = "none of the " + std::to_string(window.steps.size()) + " steps is what was asked for";
            std::set<std::string> kinds;
            for (const Step& step : window.steps) {
                kinds.insert(std::string(phase_text(step.phase)) + (step.batch_size >= 0 ? " with batch size " + std::to_string(step.batch_size) : ""));
            }
            std::string there = "there are steps of: ";
            const char* separator = "";
            for (const std::string& kind : kinds) {
                there += separator + kind;
                separator = ", ";
            }
            diagnostic.notes.push_back(std::move(there));
        }
        context.report(std::move(diagnostic));
    }

    Options options_;
};

}  // namespace

ADPIPE_PLUGIN("window_replay", "0.1.0", "window.replay", adpipe::stage<ReplayWindow>())
