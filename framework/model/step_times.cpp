#include <adpipe/model/step_times.hpp>
#include <adpipe/render/kernel_name.hpp>
#include <adpipe/render/number.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace adpipe {

namespace {

constexpr std::size_t fewest_peers = 3;
/// Looking into a step costs as much as there are kernels in all steps of its kind.
constexpr std::size_t most_explained = 5;

/// The upper one of the two middle values.
Nanoseconds middle_of(std::vector<Nanoseconds> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// What steps of one kind have in common.
using StepKind = std::tuple<std::uint16_t, std::int32_t, Phase, std::uint64_t, std::uint64_t>;

StepKind kind_of_step(const Kernels& kernels, const Step& step) {
    std::uint64_t work = 0;
    if (!step.replay || step.graph == no_id) {
        for (const std::uint32_t k : step.kernels) {
            work = (work ^ kernels.name[k]) * 0x9e3779b97f4a7c15U + (kernels.shape.empty() ? 0 : kernels.shape[k]);
            work ^= work >> 29U;
        }
    }
    return {step.process, step.device, step.phase, step.replay ? step.graph : no_id, work};
}

/// A step's kernels by what they are comparable by: the node of the captured graph, else their place in the step.
class Slots {
public:
    Slots(const Window& window, const std::vector<std::uint32_t>& peers) : window_(window), peers_(peers) {
        by_node_ = !window.node_of_kernel.empty() && window.steps[peers.front()].captured != no_captured_graph;
    }

    /// The median time of the work of kernel number `place` of `step`, over the other steps; -1 if none has it.
    Nanoseconds elsewhere(std::uint32_t step, std::size_t place) {
        if (times_.empty()) collect(step);
        const std::size_t slot = slot_of(step, place);
        return slot < times_.size() && !times_[slot].empty() ? middle_of(times_[slot]) : -1;
    }

private:
    std::size_t slot_of(std::uint32_t step, std::size_t place) const {
        return by_node_ ? window_.node_of_kernel[window_.steps[step].kernels[place]] : place;
    }

    void collect(std::uint32_t without) {
        const Kernels& kernels = window_.trace->kernels;
        for (const std::uint32_t s : peers_) {
            if (s == without) continue;
            const std::vector<std::uint32_t>& of_step = window_.steps[s].kernels;
            for (std::size_t place = 0; place < of_step.size(); ++place) {
                const std::size_t slot = slot_of(s, place);
                if (slot == CapturedGraph::no_node) continue;
                if (slot >= times_.size()) times_.resize(slot + 1);
                times_[slot].push_back(kernels.end[of_step[place]] - kernels.start[of_step[place]]);
            }
        }
    }

    const Window& window_;
    const std::vector<std::uint32_t>& peers_;
    bool by_node_;
    std::vector<std::vector<Nanoseconds>> times_;
};

class StragglerSearch {
public:
    explicit StragglerSearch(const Window& window) : window_(window), kernels_(window.trace->kernels) {
        for (std::uint32_t s = 0; s < window.steps.size(); ++s) {
            const bool cut = window.steps[s].missing.rfind("cut off", 0) == 0;  // some kernels lost in the middle change its time little
            if (!cut && !window.steps[s].kernels.empty()) kinds_[kind_of_step(kernels_, window.steps[s])].push_back(s);
        }
    }

    std::vector<Straggler> run() {
        for (const auto& [kind, peers] : kinds_) {
            if (peers.size() >= fewest_peers) look_at(peers);
        }
        const auto excess = [](const Straggler& straggler) { return straggler.wall - straggler.median; };
        std::sort(found_.begin(), found_.end(),
                  [&](const Straggler& a, const Straggler& b) { return std::pair(excess(b), a.step) < std::pair(excess(a), b.step); });
        for (std::size_t i = 0; i < std::min(found_.size(), most_explained); ++i) explain(found_[i]);
        std::sort(found_.begin(), found_.end(), [](const Straggler& a, const Straggler& b) { return a.step < b.step; });
        return std::move(found_);
    }

private:
    Nanoseconds wall(std::uint32_t s) const { return window_.steps[s].end - window_.steps[s].start; }

    void look_at(const std::vector<std::uint32_t>& peers) {
        constexpr Nanoseconds usual_deviations = 12;  // 8 standard deviations, as the median deviation of normal noise is two thirds of one
        constexpr std::size_t enough_for_deviation = 8;
        std::vector<Nanoseconds> walls, deviations;
        for (const std::uint32_t s : peers) walls.push_back(wall(s));
        const Nanoseconds median = middle_of(walls);
        for (const Nanoseconds w : walls) deviations.push_back(std::abs(w - median));
        const Nanoseconds deviation = middle_of(deviations);
        for (const std::uint32_t s : peers) {
            const Nanoseconds excess = wall(s) - median;
            const bool far_out = peers.size() >= enough_for_deviation && excess * 5 > median && excess > usual_deviations * deviation;
            if (excess * 2 > median || far_out) found_.push_back({s, peers.size(), wall(s), median, Straggler::Cause::unknown, 0, 0, 0});
        }
    }

    void explain(Straggler& straggler) const {
        const std::uint32_t s = straggler.step;
        const std::vector<std::uint32_t>& peers = kinds_.at(kind_of_step(kernels_, window_.steps[s]));
        const Nanoseconds half = (straggler.wall - straggler.median) / 2;
        Nanoseconds most = 0;
        Slots slots(window_, peers);
        const std::vector<std::uint32_t>& kernels = window_.steps[s].kernels;
        for (std::size_t place = 0; place < kernels.size(); ++place) {
            const Nanoseconds took = kernels_.end[kernels[place]] - kernels_.start[kernels[place]];
            if (took <= most) continue;  // its excess is smaller still
            const Nanoseconds elsewhere = slots.elsewhere(s, place);
            if (elsewhere < 0 || took - elsewhere <= most) continue;
            most = took - elsewhere;
            straggler.kernel = kernels[place];
            straggler.took = took;
            straggler.elsewhere = elsewhere;
        }
        straggler.cause = Straggler::Cause::spread;
        if (most >= half) {
            straggler.cause = Straggler::Cause::kernel;
        } else if (const auto [idle, elsewhere] = idle_of(s, peers); idle - elsewhere >= half) {
            straggler.cause = Straggler::Cause::idle;
            straggler.took = idle;
            straggler.elsewhere = elsewhere;
        }
    }

    /// Idle time of the step, and the median of the others.
    std::pair<Nanoseconds, Nanoseconds> idle_of(std::uint32_t s, const std::vector<std::uint32_t>& peers) const {
        std::vector<Nanoseconds> others;
        for (const std::uint32_t other : peers) {
            if (other != s) others.push_back(times_of(kernels_, window_.steps[other]).idle);
        }
        return {times_of(kernels_, window_.steps[s]).idle, middle_of(others)};
    }

    const Window& window_;
    const Kernels& kernels_;
    std::map<StepKind, std::vector<std::uint32_t>> kinds_;
    std::vector<Straggler> found_;
};

}  // namespace

StepTimes times_of(const Kernels& kernels, const Step& step) {
    std::vector<std::pair<Nanoseconds, Nanoseconds>> spans;
    StepTimes times;
    for (const std::uint32_t k : step.kernels) {
        spans.emplace_back(kernels.start[k], kernels.end[k]);
        times.sum += kernels.end[k] - kernels.start[k];
    }
    std::sort(spans.begin(), spans.end());
    times.wall = step.end - step.start;
    times.idle = times.wall;
    Nanoseconds covered = step.start;
    for (const auto& [start, end] : spans) {
        if (end <= covered) continue;
        times.idle -= end - std::max(start, covered);
        covered = end;
    }
    return times;
}

std::vector<Straggler> find_stragglers(const Window& window) { return StragglerSearch(window).run(); }

std::string straggler_text(const Trace& trace, const Straggler& straggler) {
    const Nanoseconds tenths = straggler.median > 0 ? straggler.wall * 10 / straggler.median : 0;
    std::string text = std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " times the median of its kind";
    const std::string times = render::duration_text(straggler.took) + ", elsewhere " + render::duration_text(straggler.elsewhere);
    switch (straggler.cause) {
        case Straggler::Cause::unknown: break;
        case Straggler::Cause::spread: text += ": no single kernel took the time"; break;
        case Straggler::Cause::idle: text.append(": the GPU was idle for ").append(times); break;
        case Straggler::Cause::kernel:
            text.append(": ")
                .append(render::short_kernel_name(trace.string(trace.kernels.name[straggler.kernel])))
                .append(" took ")
                .append(times);
            break;
    }
    return text;
}

}  // namespace adpipe
