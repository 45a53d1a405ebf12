#include "range_text.hpp"
#include "segment_join.hpp"
#include "step_finder.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace adpipe::window {

namespace {

/// Fewer kernels between two boundaries are host work around the passes (sampling, copies), not a pass.
constexpr std::size_t kernels_of_a_pass = 10;

class EagerPassFinder final : public SegmentFacts {
public:
    EagerPassFinder(const TraceView& view, Window& window) : view_(view), trace_(view.trace), kernels_(trace_.kernels), window_(window) {}

    void find() {
        std::vector<bool> in_replay(kernels_.size(), false);
        for (const Step& step : window_.steps) {
            for (const std::uint32_t k : step.kernels) in_replay[k] = true;
        }
        std::map<std::pair<std::uint16_t, std::int32_t>, std::vector<Item>> by_device;
        for (std::uint32_t k = 0; k < kernels_.size(); ++k) {
            if (!in_replay[k]) by_device[{process_of(k), kernels_.device.empty() ? -1 : kernels_.device[k]}].push_back(item(k));
        }
        for (auto& [key, items] : by_device) find_on(key.first, key.second, items);
    }

private:
    struct Cut {
        Nanoseconds time;
        bool is_wait;  ///< the host waited for the GPU, which it may do inside a pass as well
    };

    std::uint16_t process_of(std::uint32_t k) const { return kernels_.process.empty() ? std::uint16_t{0} : kernels_.process[k]; }

    Item item(std::uint32_t k) const {
        const std::uint32_t launch = kernels_.correlation.empty() || kernels_.correlation[k] == no_id
                                         ? LaunchIndex::none
                                         : view_.launches.find(process_of(k), kernels_.correlation[k], kernels_.start[k]);
        return {k, launch, launch == LaunchIndex::none ? kernels_.start[k] : trace_.launches.start[launch]};
    }

    void find_on(std::uint16_t process, std::int32_t device, std::vector<Item>& items) {
        const bool launches_known = most_launches_known(items);
        bool in_launch_order = launches_known;
        if (launches_known) {
            estimate_missing_launches(items);
        } else {
            for (Item& i : items) i.time = kernels_.start[i.kernel];
            in_launch_order = false;
        }
        const auto earlier = [](const Item& a, const Item& b) { return std::tuple(a.time, a.kernel) < std::tuple(b.time, b.kernel); };
        if (!std::is_sorted(items.begin(), items.end(), earlier)) std::sort(items.begin(), items.end(), earlier);
        if (!launches_known) in_launch_order = sort_by_correlation(items);
        const std::vector<Cut> cuts = launches_known ? host_boundaries(process) : device_boundaries(process, items);
        std::vector<Segment> segments = divide(std::move(items), cuts, launches_known);
        for (std::vector<Item>& pass : join_segments(std::move(segments), *this)) add_pass(process, device, pass, in_launch_order);
    }

    /// A few calls may be lost, or lie before the recording.
    static bool most_launches_known(const std::vector<Item>& items) {
        const auto known = static_cast<std::size_t>(
            std::count_if(items.begin(), items.end(), [](const Item& i) { return i.launch != LaunchIndex::none; }));
        return known > 0 && known * 100 >= items.size() * 95;
    }

    /// What has no call was launched about when the work before it was that has one.
    void estimate_missing_launches(std::vector<Item>& items) const {
        if (std::none_of(items.begin(), items.end(), [](const Item& i) { return i.launch == LaunchIndex::none; })) return;
        std::vector<Item*> missing_or_not;
        for (Item& i : items) missing_or_not.push_back(&i);
        std::sort(missing_or_not.begin(), missing_or_not.end(), [&](const Item* a, const Item* b) {
            return std::pair(kernels_.start[a->kernel], a->kernel) < std::pair(kernels_.start[b->kernel], b->kernel);
        });
        const auto first = std::find_if(missing_or_not.begin(), missing_or_not.end(),
                                        [](const Item* i) { return i->launch != LaunchIndex::none; });
        Nanoseconds before = (*first)->time - 1;
        for (Item* const i : missing_or_not) {
            if (i->launch == LaunchIndex::none) i->time = before;
            else before = i->time;
        }
    }

    std::vector<Segment> divide(std::vector<Item> items, const std::vector<Cut>& cuts, bool by_launch) const {
        std::vector<Segment> segments;
        std::size_t cuts_before = 0;
        for (const Item& i : items) {
            const Nanoseconds at = by_launch ? i.time : kernels_.start[i.kernel];
            const auto after = [](Nanoseconds time, const Cut& cut) { return time < cut.time; };
            const auto cut = static_cast<std::size_t>(std::upper_bound(cuts.begin(), cuts.end(), at, after) - cuts.begin());
            if (segments.empty() || cut != cuts_before) {
                const auto first = cuts.begin() + static_cast<std::ptrdiff_t>(std::min(cut, cuts_before));
                const auto last = cuts.begin() + static_cast<std::ptrdiff_t>(std::max(cut, cuts_before));
                segments.emplace_back();
                segments.back().after_wait = segments.size() > 1 && std::all_of(first, last, [](const Cut& c) { return c.is_wait; });
            }
            cuts_before = cut;
            segments.back().items.push_back(i);
        }
        return segments;
    }

    /// Launch calls number their work in order; numbers pass 2^32 in long runs. Uses that order if it agrees with the streams.
    bool sort_by_correlation(std::vector<Item>& items) const {
        if (kernels_.correlation.empty()) return false;
        std::vector<Item> sorted = items;
        std::vector<std::int64_t> number(items.size());
        constexpr std::int64_t wrap = std::int64_t{1} << 32;
        std::int64_t before = 0, offset = 0;
        std::vector<std::pair<std::int64_t, std::size_t>> keys;
        for (std::size_t i = 0; i < items.size(); ++i) {  // by start: a big step down is the wrap
            const std::uint64_t correlation = kernels_.correlation[items[i].kernel];
            if (correlation == no_id) return false;
            const auto value = static_cast<std::int64_t>(correlation & 0xffffffffU);
            if (value + offset < before - wrap / 2) offset += wrap;
            if (value + offset > before + wrap / 2 && offset >= wrap) {
                keys.emplace_back(value + offset - wrap, i);
            } else {
                keys.emplace_back(value + offset, i);
                before = std::max(before, value + offset);
            }
        }
        std::sort(keys.begin(), keys.end());
        std::map<std::int64_t, Nanoseconds> last;
        std::size_t inverted = 0;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            sorted[i] = items[keys[i].second];
            const std::uint32_t k = sorted[i].kernel;
            Nanoseconds& of_stream = last[kernels_.stream.empty() ? 0 : kernels_.stream[k]];
            inverted += kernels_.start[k] < of_stream ? 1 : 0;
            of_stream = kernels_.start[k];
        }
        if (inverted * 100 > items.size()) return false;
        items = std::move(sorted);
        return true;
    }

    /// Where the host launched a graph, began or ended a capture, or waited for the GPU.
    std::vector<Cut> host_boundaries(std::uint16_t process) const {
        std::vector<Cut> cuts;
        const Launches& calls = trace_.launches;
        for (std::size_t i = 0; i < calls.size(); ++i) {
            if (calls.process[i] != process) continue;
            const std::string& name = trace_.string(calls.name[i]);
            for (const char* part : {"GraphLaunch", "Capture", "Synchronize"}) {
                if (name.find(part) != std::string::npos) {
                    cuts.push_back({calls.start[i], part == std::string_view("Synchronize")});
                    break;
                }
            }
        }
        sort_cuts(cuts);
        return cuts;
    }

    /// Without calls: where a replay ran, and where results were copied to the host.
    std::vector<Cut> device_boundaries(std::uint16_t process, const std::vector<Item>& items) const {
        std::vector<Cut> cuts;
        for (const Step& step : window_.steps) {
            if (step.process == process && step.replay) cuts.push_back({step.start, false});
        }
        for (const Item& i : items) {
            if (kernels_.kind[i.kernel] == KernelKind::memcpy && trace_.string(kernels_.name[i.kernel]).find("DtoH") != std::string::npos) {
                cuts.push_back({kernels_.start[i.kernel] + 1, true});
            }
        }
        sort_cuts(cuts);
        return cuts;
    }

    static void sort_cuts(std::vector<Cut>& cuts) {
        std::sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) { return a.time < b.time; });
    }

    void add_pass(std::uint16_t process, std::int32_t device, const std::vector<Item>& pass, bool in_launch_order) {
        const auto is_kernel = [&](const Item& i) { return kernels_.kind[i.kernel] == KernelKind::kernel; };
        if (static_cast<std::size_t>(std::count_if(pass.begin(), pass.end(), is_kernel)) < kernels_of_a_pass) return;
        Step step;
        step.process = process;
        step.device = device;
        step.launch_order = in_launch_order;
        step.start = kernels_.start[pass.front().kernel];
        step.end = kernels_.end[pass.front().kernel];
        for (const Item& i : pass) {
            step.kernels.push_back(i.kernel);
            step.start = std::min(step.start, kernels_.start[i.kernel]);
            step.end = std::max(step.end, kernels_.end[i.kernel]);
        }
        judge(step, pass);
        window_.steps.push_back(std::move(step));
    }

    // ---- what joining asks of segments

    bool is_pass(const Segment& segment) const override {
        const auto is_kernel = [&](const Item& i) { return kernels_.kind[i.kernel] == KernelKind::kernel; };
        return static_cast<std::size_t>(std::count_if(segment.items.begin(), segment.items.end(), is_kernel)) >= kernels_of_a_pass;
    }

    std::uint64_t names(const Segment& segment, std::size_t most) const override {
        std::uint64_t hash = 0;
        for (const Item& i : segment.items) {
            if (kernels_.kind[i.kernel] != KernelKind::kernel) continue;
            if (most-- == 0) break;
            hash = (hash ^ kernels_.name[i.kernel]) * 0x9e3779b97f4a7c15U;
            hash ^= hash >> 29U;
        }
        return hash;
    }

    Nanoseconds gap(const Segment& left, const Segment& right) const override {
        return kernels_.start[right.items.front().kernel] - kernels_.end[left.items.back().kernel];
    }

    /// A range of a step, or of the model's outermost module, that was open at the end of one and still is at the beginning of the other.
    bool share_step_range(const Segment& left, const Segment& right) const override {
        const std::uint32_t last = left.items.back().launch, first = right.items.front().launch;
        if (last == LaunchIndex::none || first == LaunchIndex::none) return false;
        const Launches& calls = trace_.launches;
        const Annotations& ranges = trace_.annotations;
        if (calls.thread[last] != calls.thread[first]) return false;
        for (auto r = view_.ranges.innermost(calls.thread[last], calls.start[last]); r != RangeIndex::none; r = view_.ranges.parent(r)) {
            if (ranges.end[r] < calls.start[first]) continue;
            const std::string& text = trace_.string(ranges.name[r]);
            const bool is_module = text.rfind("nn.Module: ", 0) == 0, is_step = text.rfind("ProfilerStep#", 0) == 0;
            if (is_module || is_step || facts_of_text(text).phase != Phase::unknown) return true;
        }
        return false;
    }

    void judge(Step& step, const std::vector<Item>& pass) {
        const std::uint32_t launch = pass[pass.size() / 2].launch;
        if (launch != LaunchIndex::none && judge_by_ranges(step, launch, true)) return;
        if (judge_by_size(step)) return;
        if (launch != LaunchIndex::none && judge_by_ranges(step, launch, false)) return;
        judge_by_neighbours(step);
    }

    /// By the innermost range around the launch that names a phase. What the program set itself goes before names of operators and
    /// frames, which tell what they do, not what the step is.
    bool judge_by_ranges(Step& step, std::uint32_t launch, bool set_by_program) const {
        using Source = Annotations::Source;
        const Launches& calls = trace_.launches;
        const Annotations& ranges = trace_.annotations;
        for (auto r = view_.ranges.innermost(calls.thread[launch], calls.start[launch]); r != RangeIndex::none;
             r = view_.ranges.parent(r)) {
            if ((ranges.source[r] != Source::cpu_op && ranges.source[r] != Source::python) != set_by_program) continue;
            const std::string& text = trace_.string(ranges.name[r]);
            const RangeFacts facts = facts_of_text(text);
            if (step.batch_size < 0) step.batch_size = facts.batch_size;
            if (facts.phase == Phase::unknown) continue;
            const bool beside = is_beside_a_replay(step, r);
            step.phase = beside ? Phase::other : facts.phase;
            step.reason = (beside ? "too few kernels for a pass, launched beside the replay inside the range '"
                                  : "launched inside the range '") +
                          text + "'";
            return true;
        }
        return false;
    }

    /// True if a range holds the launch of a replay too, of which the step, far smaller, is no second one: it prepares its inputs or takes up its
    /// outputs.
    bool is_beside_a_replay(const Step& step, std::uint32_t range) const {
        const Annotations& ranges = trace_.annotations;
        for (const Step& other : window_.steps) {
            if (!other.replay || other.process != step.process || step.kernels.size() * smallest_share >= other.kernels.size()) continue;
            if (kernels_.correlation.empty()) return false;
            const std::uint32_t k = other.kernels.front();
            const std::uint32_t call = view_.launches.find(other.process, kernels_.correlation[k], kernels_.start[k]);
            if (call == LaunchIndex::none || trace_.launches.thread[call] != ranges.thread[range]) continue;
            if (trace_.launches.start[call] >= ranges.start[range] && trace_.launches.start[call] <= ranges.end[range]) return true;
        }
        return false;
    }

    using KindsOfKernels = std::vector<std::uint64_t>;

    /// The kernels of a step by name and launch shape, in no order.
    KindsOfKernels kinds_of_kernels(const Step& step) const {
        KindsOfKernels kinds;
        for (const std::uint32_t k : step.kernels) {
            kinds.push_back(std::uint64_t{kernels_.name[k]} << 32U | (kernels_.shape.empty() ? 0U : kernels_.shape[k]));
        }
        std::sort(kinds.begin(), kinds.end());
        return kinds;
    }

    /// True if a replay of the process runs the very kernels of the step.
    bool runs_as_a_replay(const Step& step) {
        if (kernels_.shape.empty()) return false;  // names alone do not tell a prefill of one token from many
        if (!replays_are_known_) {
            for (const Step& other : window_.steps) {
                if (other.replay) kinds_of_replays_.emplace(other.process, kinds_of_kernels(other));
            }
            replays_are_known_ = true;
        }
        return kinds_of_replays_.count({step.process, kinds_of_kernels(step)}) != 0;
    }

    /// Beside replays, what has far fewer kernels is no pass, whatever a frame around it is called.
    bool judge_by_size(Step& step) const {
        std::size_t kernels_of_replay = 0;
        bool replay_before = false;
        for (const Step& other : window_.steps) {
            if (!other.replay || other.process != step.process) continue;
            kernels_of_replay = std::max(kernels_of_replay, other.kernels.size());
            replay_before |= other.start < step.start;
        }
        if (step.kernels.size() * smallest_share >= kernels_of_replay || (!replay_before && capture_follows(step))) return false;
        step.phase = Phase::other;
        step.reason = "launched kernel by kernel beside replays, too few kernels for a pass: work around one, such as sampling";
        return true;
    }

    /// Without ranges: a server with captured graphs decodes by replays, so that what it launches one by one is warm-up or prefill.
    void judge_by_neighbours(Step& step) {
        bool any_replay = false, replay_before = false;
        for (const Step& other : window_.steps) {
            if (!other.replay || other.process != step.process) continue;
            any_replay = true;
            replay_before |= other.start < step.start;
        }
        if (!any_replay) {
            step.reason = "launched kernel by kernel; nothing says in which phase";
            return;
        }
        if (!replay_before && capture_follows(step)) {
            step.phase = Phase::capture;
            step.reason = "launched kernel by kernel before the graphs were captured: warm-up";
            return;
        }
        if (runs_as_a_replay(step)) {
            step.phase = Phase::decode;
            step.reason = "launched kernel by kernel, the same kernels with the same launch shapes as those of a captured graph";
            return;
        }
        step.phase = Phase::prefill;
        step.reason = "launched kernel by kernel while graphs are replayed for decoding";
    }

    bool capture_follows(const Step& step) const {
        const Launches& calls = trace_.launches;
        for (std::size_t i = 0; i < calls.size(); ++i) {
            if (calls.process[i] == step.process && calls.start[i] > step.start &&
                trace_.string(calls.name[i]).find("BeginCapture") != std::string::npos) {
                return true;
            }
        }
        return false;
    }

    static constexpr std::size_t smallest_share = 4;                       ///< of a replay's kernels, one in so many, makes a pass
    std::set<std::pair<std::uint16_t, KindsOfKernels>> kinds_of_replays_;  ///< by process; once asked for
    bool replays_are_known_ = false;
    const TraceView& view_;
    const Trace& trace_;
    const Kernels& kernels_;
    Window& window_;
};

}  // namespace

void find_eager_passes(const TraceView& view, Window& window) { EagerPassFinder(view, window).find(); }

}  // namespace adpipe::window
