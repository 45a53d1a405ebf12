#pragma once

#include "step_choice.hpp"

#include <adpipe/stage.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace adpipe::window {

/// What the stages have in common: which of the steps that they find they choose.
struct WindowOptions {
    std::string range;  ///< of window.annotation alone
    std::string phase = "all";
    std::int64_t step = -1;
    std::int64_t batch = -1;
    std::int64_t graph = -1;
    std::int64_t device = -1;
    std::int64_t rank = -1;
    bool incomplete = false;
    bool all_ranks = false;
    bool slow = true;
    bool may_be_empty = false;
};

/// The options that choose.
constexpr auto choice_options() {
    return std::array{
        option<&WindowOptions::phase>("phase", "Steps of this phase only.", {.choices = "all|decode|prefill|mixed|capture|other|unknown"}),
        option<&WindowOptions::step>("step", "This step only, by its number; -1: any.", {.minimum = -1}),
        option<&WindowOptions::batch>("batch", "Steps of this batch size only; -1: any.", {.minimum = -1}),
        option<&WindowOptions::graph>("graph", "Replays of this executable graph only; -1: any.", {.minimum = -1}),
        option<&WindowOptions::device>("device", "Steps on this device only; -1: any.", {.minimum = -1}),
        option<&WindowOptions::rank>("rank", "Steps of this rank only: as the trace numbers it, else processes count from 0; -1: any.",
                                     {.minimum = -1}),
        option<&WindowOptions::incomplete>("incomplete", "Keep replays that were cut off or lost kernels."),
        option<&WindowOptions::all_ranks>("all_ranks", "Keep steps of several processes and devices side by side."),
        option<&WindowOptions::slow>("slow", "Keep steps that took much longer than others of their kind; they are named either way."),
        option<&WindowOptions::may_be_empty>("may_be_empty", "Go on, with a warning, where no step is what was asked for."),
    };
}

/// Chooses among the steps of a window, says what stands out, and publishes it as the stage's output `window`.
void choose_and_publish(Context& context, const std::shared_ptr<Window>& window, const WindowOptions& options);

}  // namespace adpipe::window
