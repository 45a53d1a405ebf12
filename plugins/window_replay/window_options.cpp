#include "window_options.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace adpipe::window {

void choose_and_publish(Context& context, const std::shared_ptr<Window>& window, const WindowOptions& options) {
    const Choice choice{options.phase,  options.step, options.batch,      options.graph,
                        options.device, options.rank, options.incomplete, options.all_ranks};
    choose_steps(*window, choice);
    const std::vector<Straggler> slow = find_stragglers(*window);
    if (!options.slow) leave_out(*window, slow);
    window->description = describe_steps(*window);
    const bool any = std::any_of(window->steps.begin(), window->steps.end(), [](const Step& step) { return step.chosen; });
    if (!any) {
        Diagnostic nothing = nothing_chosen(*window, choice);
        if (!options.may_be_empty) throw Error(std::move(nothing));
        nothing.severity = Severity::warning;
        context.report(std::move(nothing));
    }
    if (auto warning = slow_steps(*window, slow)) context.report(std::move(*warning));
    context.summary(window->description);
    context.out<Window>("window", window);
}

}  // namespace adpipe::window
