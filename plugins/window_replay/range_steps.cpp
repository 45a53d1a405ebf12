#include "range_steps.hpp"

#include "range_choice.hpp"
#include "range_text.hpp"
#include "stream_order.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace adpipe::window {

namespace {

/// A kernel inside a step.
struct Work {
    std::uint32_t kernel;
    std::uint32_t launch;
};

class RangeStepFinder {
public:
    RangeStepFinder(const TraceView& view, const std::string& pattern, Window& window)
        : view_(view), trace_(view.trace), kernels_(trace_.kernels), window_(window), steps_(trace_, choose_range_names(trace_, pattern)) {}

    void find() {
        find_replays(view_, window_);
        replays_ = std::move(window_.steps);
        window_.steps.clear();
        replay_of_.assign(kernels_.size(), no_replay);
        for (std::uint32_t r = 0; r < replays_.size(); ++r) {
            for (const std::uint32_t k : replays_[r].kernels) replay_of_[k] = r;
        }
        std::map<std::pair<std::uint32_t, std::int32_t>, std::vector<Work>> by_range;
        for (std::uint32_t k = 0; k < kernels_.size(); ++k) {
            const std::uint32_t launch = launch_of(k);
            if (launch == LaunchIndex::none) continue;
            const std::uint32_t range = steps_.find(process_of(k), trace_.launches.thread[launch], trace_.launches.start[launch]);
            if (range != StepRanges::none) by_range[{range, kernels_.device.empty() ? -1 : kernels_.device[k]}].push_back({k, launch});
        }
        for (auto& [key, work] : by_range) add_step(key.first, key.second, work);
        name_losses();
    }

private:
    std::uint16_t process_of(std::uint32_t k) const { return kernels_.process.empty() ? std::uint16_t{0} : kernels_.process[k]; }

    /// All kernels of a replay were launched by one call: the one before the first of them started.
    std::uint32_t launch_of(std::uint32_t k) const {
        if (kernels_.correlation.empty() || kernels_.correlation[k] == no_id) return LaunchIndex::none;
        return view_.launches.find(process_of(k), kernels_.correlation[k], kernels_.start[k]);
    }

    void add_step(std::uint32_t range, std::int32_t device, std::vector<Work>& work) {
        Step step;
        step.process = process_of(work.front().kernel);
        step.device = device;
        step.launch_order = true;
        sort_by_launch(work, step);
        step.start = kernels_.start[work.front().kernel];
        for (const Work& one : work) {
            step.kernels.push_back(one.kernel);
            step.start = std::min(step.start, kernels_.start[one.kernel]);
            step.end = std::max(step.end, kernels_.end[one.kernel]);
        }
        judge_phase(step, range, work);
        take_over_replays(step, work);
        range_of_step_.push_back(range);
        window_.steps.push_back(std::move(step));
    }

    /// By launch; within a replay by node where their order is known, else by start.
    void sort_by_launch(std::vector<Work>& work, Step& step) const {
        const auto node = [&](std::uint32_t k) -> std::uint32_t {
            const bool ordered = replay_of_[k] != no_replay && replays_[replay_of_[k]].launch_order;
            return ordered ? window_.node_of_kernel[k] : 0;
        };
        std::sort(work.begin(), work.end(), [&](const Work& a, const Work& b) {
            return std::tuple(trace_.launches.start[a.launch], a.launch, node(a.kernel), kernels_.start[a.kernel], a.kernel) <
                   std::tuple(trace_.launches.start[b.launch], b.launch, node(b.kernel), kernels_.start[b.kernel], b.kernel);
        });
        for (const Work& one : work) {
            const std::uint32_t replay = replay_of_[one.kernel];
            if (replay != no_replay && !replays_[replay].launch_order) step.launch_order = false;
        }
        if (step.launch_order) return;
        std::vector<std::uint32_t> order;
        std::unordered_map<std::uint32_t, std::uint32_t> launch_of_kernel;
        for (const Work& one : work) {
            order.push_back(one.kernel);
            launch_of_kernel.emplace(one.kernel, one.launch);
        }
        sort_by_time(kernels_, order);
        for (std::size_t i = 0; i < work.size(); ++i) work[i] = {order[i], launch_of_kernel.at(order[i])};
    }

    /// From the name of the step's range, of those around it, and of those inside that hold its middle.
    void judge_phase(Step& step, std::uint32_t range, const std::vector<Work>& work) const {
        const Work& middle = work[work.size() / 2];
        std::vector<std::uint32_t> ranges{range};
        for (auto r = view_.ranges.parent(range); r != RangeIndex::none; r = view_.ranges.parent(r)) ranges.push_back(r);
        auto inner = view_.ranges.innermost(trace_.launches.thread[middle.launch], trace_.launches.start[middle.launch]);
        for (; inner != RangeIndex::none && inner != range; inner = view_.ranges.parent(inner)) ranges.push_back(inner);
        for (const std::uint32_t r : ranges) {
            const std::string& text = trace_.string(trace_.annotations.name[r]);
            const RangeFacts facts = facts_of_text(text);
            if (step.batch_size < 0) step.batch_size = facts.batch_size;
            if (facts.phase == Phase::unknown) continue;
            step.phase = facts.phase;
            step.reason = "the range '" + text + "'";
            break;
        }
        if (step.phase == Phase::unknown) step.reason = "the range '" + trace_.string(trace_.annotations.name[range]) + "' says no phase";
    }

    /// A step that replays one graph, and does little else, is that graph's; what a replay lacks, its step lacks.
    void take_over_replays(Step& step, const std::vector<Work>& work) const {
        std::map<std::uint32_t, std::size_t> count;
        for (const Work& one : work) {
            if (replay_of_[one.kernel] != no_replay) ++count[replay_of_[one.kernel]];
        }
        for (const auto& [r, kernels] : count) {
            const Step& replay = replays_[r];
            if (step.batch_size < 0 && kernels * 2 > work.size()) step.batch_size = replay.batch_size;
            if (!replay.complete && step.complete) {
                step.complete = false;
                step.missing = replay.missing;
            }
            if (count.size() > 1) continue;
            step.graph = replay.graph;
            step.replay = kernels * 2 > work.size();
            // Alone, or where the step was cut: a graph's replays are known by node, whatever one of them lacks.
            if (kernels == work.size() || (step.replay && !step.complete)) step.captured = replay.captured;
        }
        if (!step.replay) step.graph = no_id;
        if (step.phase == Phase::unknown && step.replay) {
            step.phase = Phase::decode;
            step.reason += "; a captured graph: servers replay graphs for decoding";
        }
    }

    /// Launches without a kernel in the recording: more of them than in other ranges of the kind means that the step was cut off or lost some.
    void name_losses() {
        std::unordered_set<std::uint64_t> ran;
        const auto key = [](std::uint16_t process, std::uint64_t correlation) { return correlation * 0x9e3779b97f4a7c15U + process; };
        for (std::uint32_t k = 0; k < kernels_.size(); ++k) {
            if (!kernels_.correlation.empty()) ran.insert(key(process_of(k), kernels_.correlation[k]));
        }
        std::unordered_map<std::uint32_t, std::size_t> without_kernel;  // per range
        const Launches& calls = trace_.launches;
        for (std::size_t i = 0; i < calls.size(); ++i) {
            const std::string& name = trace_.string(calls.name[i]);
            if (name.find("Launch") == std::string::npos || ran.count(key(calls.process[i], calls.correlation[i])) != 0) continue;
            const std::uint32_t range = steps_.find(calls.process[i], calls.thread[i], calls.start[i]);
            if (range != StepRanges::none) ++without_kernel[range];
        }
        if (!without_kernel.empty()) compare_losses(without_kernel);
    }

    void compare_losses(const std::unordered_map<std::uint32_t, std::size_t>& without_kernel) {
        std::map<std::string, std::vector<std::size_t>> of_kind;
        const auto kind = [&](std::size_t s) { return without_numbers(trace_.string(trace_.annotations.name[range_of_step_[s]])); };
        const auto lost = [&](std::size_t s) {
            const auto found = without_kernel.find(range_of_step_[s]);
            return found == without_kernel.end() ? std::size_t{0} : found->second;
        };
        for (std::size_t s = 0; s < window_.steps.size(); ++s) of_kind[kind(s)].push_back(lost(s));
        for (auto& [name, counts] : of_kind)
            std::nth_element(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>((counts.size() - 1) / 2), counts.end());
        Nanoseconds last = 0;
        for (const Step& step : window_.steps) last = std::max(last, step.end);
        for (std::size_t s = 0; s < window_.steps.size(); ++s) {
            const auto& counts = of_kind[kind(s)];
            const std::size_t usual = counts[(counts.size() - 1) / 2];
            Step& step = window_.steps[s];
            if (!step.complete || lost(s) <= usual) continue;
            step.complete = false;
            step.missing = std::string(step.end == last ? "cut off at the end of the recording" : "lost by the profiler") +
                           ": the work of " + std::to_string(lost(s) - usual) + " launches";
        }
    }

    const TraceView& view_;
    const Trace& trace_;
    const Kernels& kernels_;
    Window& window_;
    StepRanges steps_;
    std::vector<Step> replays_;
    static constexpr std::uint32_t no_replay = 0xffffffffU;
    std::vector<std::uint32_t> replay_of_;  ///< per kernel, index into `replays_`
    std::vector<std::uint32_t> range_of_step_;
};

}  // namespace

std::shared_ptr<Window> find_range_steps(std::shared_ptr<const Trace> trace, const std::string& pattern) {
    auto window = std::make_shared<Window>();
    window->trace = trace;
    const TraceView view(*trace);
    RangeStepFinder(view, pattern, *window).find();
    if (window->steps.empty()) throw Error(no_step_range(*trace, pattern));
    number_steps(*window);
    return window;
}

}  // namespace adpipe::window
