#include "step_choice.hpp"
#include "step_finder.hpp"

#include <adpipe/plugin.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

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
        bool all_ranks = false;
        bool may_be_empty = false;
    };

    static constexpr const char* name = "window.replay";
    static constexpr const char* summary = "find the forward passes: replays of captured graphs, and eager ones";
    static constexpr const char* doc =
        "Finds every replay of every captured graph, and the forward passes that were launched kernel by kernel. Each gets\n"
        "its phase and batch size with the reason. Replays that the recording cut off are named and left out, and so are those\n"
        "that lost kernels, as long as others of the same graph are whole. The options choose among the rest. Steps of several\n"
        "processes or devices are not mixed: without `rank` or `device`, those of the one that has most of them are taken.\n"
        "`adpipe steps TRACE` lists them all.";
    static constexpr PortDecl inputs[] = {port<Trace>("trace", "the recording")};
    static constexpr PortDecl outputs[] = {port<Window>("window", "its steps, and which were chosen")};
    static constexpr auto options() {
        return std::array{
            option<&Options::phase>("phase", "Steps of this phase only.", {.choices = "all|decode|prefill|mixed|capture|other|unknown"}),
            option<&Options::step>("step", "This step only, by its number; -1: any.", {.minimum = -1}),
            option<&Options::batch>("batch", "Steps of this batch size only; -1: any.", {.minimum = -1}),
            option<&Options::graph>("graph", "Replays of this executable graph only; -1: any.", {.minimum = -1}),
            option<&Options::device>("device", "Steps on this device only; -1: any.", {.minimum = -1}),
            option<&Options::rank>("rank", "Steps of this rank only: as the trace numbers it, else processes count from 0; -1: any.", {.minimum = -1}),
            option<&Options::incomplete>("incomplete", "Keep replays that were cut off or lost kernels."),
            option<&Options::all_ranks>("all_ranks", "Keep steps of several processes and devices side by side."),
            option<&Options::may_be_empty>("may_be_empty", "Go on, with a warning, where no step is what was asked for."),
        };
    }

    explicit ReplayWindow(Options given) : options_(std::move(given)) {}

    void run(Context& context) override {
        const auto trace = context.in_shared<Trace>("trace");
        const auto window = window::find_steps(trace);
        window::choose_steps(*window, choice());
        window->description = window::describe_steps(*window);
        const bool any = std::any_of(window->steps.begin(), window->steps.end(), [](const Step& step) { return step.chosen; });
        if (!any) {
            Diagnostic nothing = window::nothing_chosen(*window, choice());
            if (!options_.may_be_empty) throw Error(std::move(nothing));
            nothing.severity = Severity::warning;
            context.report(std::move(nothing));
        }
        context.summary(window->description);
        context.out<Window>("window", window);
    }

private:
    window::Choice choice() const {
        return {options_.phase, options_.step, options_.batch, options_.graph, options_.device, options_.rank, options_.incomplete, options_.all_ranks};
    }

    Options options_;
};

}  // namespace

ADPIPE_PLUGIN("window_replay", "0.1.0", "window.replay", adpipe::stage<ReplayWindow>())
