#pragma once

#include "range_steps.hpp"
#include "window_options.hpp"

#include <adpipe/plugin.hpp>

#include <array>
#include <memory>
#include <utility>

namespace adpipe::window {

class AnnotationWindow final : public Stage {
public:
    using Options = WindowOptions;

    static constexpr const char* name = "window.annotation";
    static constexpr const char* summary = "find the forward passes: what was launched inside ranges that the program named";
    static constexpr const char* doc =
        "Takes the ranges (NVTX, record_function) that mark a step each, and makes one step of all GPU work that was launched inside\n"
        "of one: kernels launched one by one and replays of graphs, however many. For servers that run a pass as several graphs with\n"
        "kernels between them, and for eager passes in which the host waits. Phase and batch size come from the names of the ranges;\n"
        "the options choose as those of window.replay do.";
    static constexpr PortDecl inputs[] = {port<Trace>("trace", "the recording")};
    static constexpr PortDecl outputs[] = {port<Window>("window", "its steps, and which were chosen")};
    static constexpr auto options() {
        constexpr auto choice = choice_options();
        std::array<OptionDecl, choice.size() + 1> all{};
        all[0] = option<&WindowOptions::range>(
            "range",
            "A part of the names of the ranges, where '*' stands for any text; if not given, names that say a "
            "phase, else those of schedulers and of the profiler's steps.");
        for (std::size_t i = 0; i < choice.size(); ++i) all[i + 1] = choice[i];
        return all;
    }

    explicit AnnotationWindow(Options given) : options_(std::move(given)) {}
    void run(Context& context) override;

private:
    Options options_;
};

}  // namespace adpipe::window
