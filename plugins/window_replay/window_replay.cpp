#include "step_finder.hpp"
#include "window_annotation.hpp"
#include "window_options.hpp"

#include <adpipe/plugin.hpp>

#include <utility>

namespace {

using namespace adpipe;

class ReplayWindow final : public Stage {
public:
    using Options = window::WindowOptions;

    static constexpr const char* name = "window.replay";
    static constexpr const char* summary = "find the forward passes: replays of captured graphs, and eager ones";
    static constexpr const char* doc =
        "Finds every replay of every captured graph, and the forward passes that were launched kernel by kernel. Each gets\n"
        "its phase and batch size with the reason. Replays that the recording cut off are named and left out, and so are those\n"
        "that lost kernels, as long as others of the same graph are whole. The options choose among the rest. A step that took\n"
        "much longer than others of its kind is named, with the kernel that held it up. Steps of several processes or devices\n"
        "are not mixed: without `rank` or `device`, those of the one that has most of them are taken.\n"
        "`adpipe steps TRACE` lists them all.";
    static constexpr PortDecl inputs[] = {port<Trace>("trace", "the recording")};
    static constexpr PortDecl outputs[] = {port<Window>("window", "its steps, and which were chosen")};
    static constexpr auto options() { return window::choice_options(); }

    explicit ReplayWindow(Options given) : options_(std::move(given)) {}
    void run(Context& context) override {
        window::choose_and_publish(context, window::find_steps(context.in_shared<Trace>("trace")), options_);
    }

private:
    Options options_;
};

}  // namespace

ADPIPE_PLUGIN("window_replay", "0.1.0", "window.replay window.annotation", adpipe::stage<ReplayWindow>(),
              adpipe::stage<window::AnnotationWindow>())
