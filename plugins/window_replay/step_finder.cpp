#include "step_finder.hpp"

#include "../shared/huge_pages.hpp"

#include <algorithm>

namespace adpipe::window {

std::shared_ptr<Window> find_steps(std::shared_ptr<const Trace> trace) {
    auto window = std::make_shared<Window>();
    window->trace = trace;
    const TraceView view(*trace);
    find_replays(view, *window);
    find_eager_passes(view, *window);
    number_steps(*window);
    return window;
}

void number_steps(Window& window) {
    shared::reserve_in_huge_pages(window.step_of_kernel, window.trace->kernels.size());
    window.step_of_kernel.assign(window.trace->kernels.size(), Window::no_step);
    std::stable_sort(window.steps.begin(), window.steps.end(), [](const Step& a, const Step& b) { return a.start < b.start; });
    for (std::uint32_t i = 0; i < window.steps.size(); ++i) {
        window.steps[i].number = i;
        for (const std::uint32_t kernel : window.steps[i].kernels) window.step_of_kernel[kernel] = i;
    }
}

}  // namespace adpipe::window
