#include "kernel_ranges.hpp"

#include "symbols.hpp"

#include <unordered_map>
#include <utility>

namespace segment {

KernelRanges::KernelRanges(std::shared_ptr<const adpipe::Window> window, const std::string& pattern)
    : window_{std::move(window)}, trace_{*window_->trace}, ranges_{trace_.annotations}, launches_{trace_} {
    const auto ranges = static_cast<std::uint32_t>(trace_.annotations.size());
    std::unordered_map<std::string, std::uint32_t> numbered;
    for (std::uint32_t r = 0; r < ranges; ++r) {
        const std::string& name = trace_.string(trace_.annotations.name[r]);
        const std::size_t begin = end_of_fit(name, pattern);
        if (begin == std::string::npos) {
            layer_.push_back(none);
            continue;
        }
        std::size_t end = begin;
        while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
        if (end == begin) layer_.push_back(r);
        else layer_.push_back(numbered.emplace(name.substr(0, end), r).first->second);
    }
}

std::uint32_t KernelRanges::outermost(std::uint64_t thread, adpipe::Nanoseconds time) const {
    std::uint32_t found = none;
    for (std::uint32_t r = ranges_.innermost(thread, time); r != none; r = ranges_.parent(r)) {
        if (layer_[r] != none) found = layer_[r];
    }
    return found;
}

std::uint32_t KernelRanges::layer_of(std::uint32_t kernel) const {
    const adpipe::Kernels& kernels = trace_.kernels;
    const std::uint32_t step = window_->step_of_kernel[kernel];
    const bool is_node = !window_->node_of_kernel.empty() && window_->node_of_kernel[kernel] != adpipe::CapturedGraph::no_node;
    if (is_node && step != adpipe::Window::no_step && window_->steps[step].captured != adpipe::no_captured_graph) {
        const adpipe::CapturedGraph& graph = window_->graphs[window_->steps[step].captured];
        const std::uint32_t node = window_->node_of_kernel[kernel];
        return graph.made[node] < 0 ? none : outermost(graph.made_by[node], graph.made[node]);
    }
    if (kernels.correlation.empty() || kernels.correlation[kernel] == adpipe::no_id) return none;
    const std::uint16_t process = kernels.process.empty() ? std::uint16_t{0} : kernels.process[kernel];
    const std::uint32_t launch = launches_.find(process, kernels.correlation[kernel], kernels.start[kernel]);
    if (launch == adpipe::LaunchIndex::none) return none;
    return outermost(trace_.launches.thread[launch], trace_.launches.start[launch]);
}

}  // namespace segment
