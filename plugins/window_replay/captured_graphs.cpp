#include "range_text.hpp"
#include "step_finder.hpp"
#include "stream_order.hpp"

#include "../shared/huge_pages.hpp"
#include "../shared/parallel.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace adpipe::window {

namespace {

/// A kernel belongs to the launch of a graph if the trace says so, or, where it has no graph ids, if many kernels share one launch.
constexpr std::size_t kernels_of_a_graph_launch = 8;

constexpr const char* cut_at_start = "cut off at the start of the recording";
constexpr const char* cut_at_end = "cut off at the end of the recording";
constexpr const char* lost = "lost by the profiler";

struct Key {
    std::uint64_t graph;
    std::uint64_t correlation;
    std::uint16_t process;
    friend bool operator==(const Key&, const Key&) = default;
};
struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
        std::uint64_t hash = key.graph * 0x9e3779b97f4a7c15U ^ key.correlation;
        hash = (hash ^ (hash >> 29U)) * 0xbf58476d1ce4e5b9U + key.process;
        return static_cast<std::size_t>(hash ^ (hash >> 32U));
    }
};

class ReplayFinder {
public:
    ReplayFinder(const TraceView& view, Window& window) : view_(view), kernels_(view.trace.kernels), window_(window) {}

    void find() {
        if (kernels_.graph.empty() && kernels_.graph_node.empty()) {
            group_by_shared_launch();
        } else {
            group_by_graph();
        }
        new_index_.resize(window_.graphs.size());
        for (std::uint32_t g = 0; g < window_.graphs.size(); ++g) order_nodes(g);
        finish_steps();
        if (window_.graphs.empty()) find_cut_replays(view_.trace, window_);
    }

private:
    // ---- grouping

    void group_by_shared_launch() {
        if (kernels_.correlation.empty()) return;
        const auto launch = [&](std::uint32_t k) {
            return std::pair(kernels_.process.empty() ? std::uint16_t{0} : kernels_.process[k], kernels_.correlation[k]);
        };
        std::vector<std::uint32_t> order;
        for (std::uint32_t k = 0; k < kernels_.size(); ++k) {
            if (kernels_.correlation[k] != no_id) order.push_back(k);
        }
        // A million kernels launched one by one are a million groups of one: sorting finds the others in less time than a table of all.
        const auto earlier = [&](std::uint32_t a, std::uint32_t b) { return std::pair(launch(a), a) < std::pair(launch(b), b); };
        if (!std::is_sorted(order.begin(), order.end(), earlier)) std::sort(order.begin(), order.end(), earlier);
        std::vector<std::pair<std::size_t, std::size_t>> groups;
        for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
            while (end < order.size() && launch(order[end]) == launch(order[begin])) ++end;
            if (end - begin >= kernels_of_a_graph_launch) groups.emplace_back(begin, end);
        }
        std::sort(groups.begin(), groups.end(), [&](const auto& a, const auto& b) { return order[a.first] < order[b.first]; });
        for (const auto& [begin, end] : groups) {
            add_step(order[begin], no_captured_graph);
            window_.steps.back().kernels.assign(order.begin() + static_cast<std::ptrdiff_t>(begin),
                                                order.begin() + static_cast<std::ptrdiff_t>(end));
        }
    }

    void group_by_graph() {
        shared::reserve_in_huge_pages(window_.node_of_kernel, kernels_.size());
        window_.node_of_kernel.assign(kernels_.size(), CapturedGraph::no_node);
        const auto count = static_cast<std::uint32_t>(kernels_.size());
        for (std::uint32_t begin = 0, end = 0; begin < count; begin = end) {
            const Key key = key_of(begin);
            for (end = begin + 1; end < count && key_of(end) == key;) ++end;
            if (key.graph != no_id) add_to_replay(begin, end, key);
        }
    }

    /// Kernels that follow each other in the trace, of one launch.
    void add_to_replay(std::uint32_t begin, std::uint32_t end, const Key& key) {
        Open& open = open_[key];
        if (open.step == Window::no_step) begin_step(open, begin, key);
        for (std::uint32_t k = begin; k < end; ++k) {
            std::uint32_t node = CapturedGraph::no_node;
            if (!kernels_.graph_node.empty() && kernels_.graph_node[k] != no_id) {
                node = node_index(open, kernels_.graph_node[k], k);
                // The same node again: the launch's number was used a second time, this is another replay.
                if (node < open.seen.size() && open.seen[node]) begin_step(open, k, key);
                if (node >= open.seen.size()) open.seen.resize(node + 64);
                open.seen[node] = true;
            }
            window_.node_of_kernel[k] = node;
            window_.steps[open.step].kernels.push_back(k);
        }
    }

    Key key_of(std::uint32_t k) const {
        const std::uint64_t graph = !kernels_.graph.empty()                                           ? kernels_.graph[k]
                                    : !kernels_.graph_node.empty() && kernels_.graph_node[k] != no_id ? kernels_.graph_node[k] >> 32U
                                                                                                      : no_id;
        const std::uint16_t process = kernels_.process.empty() ? std::uint16_t{0} : kernels_.process[k];
        return {graph, kernels_.correlation.empty() ? no_id : kernels_.correlation[k], process};
    }

    struct Open {
        std::uint32_t step = Window::no_step;
        std::uint32_t graph = no_captured_graph;
        std::uint32_t next = 0;  ///< the node behind the last one: replays tend to run their nodes in the same order
        std::vector<bool> seen;
    };

    void begin_step(Open& open, std::uint32_t kernel, const Key& key) {
        const auto [found, is_new] = graph_of_.try_emplace({key.process, key.graph}, static_cast<std::uint32_t>(window_.graphs.size()));
        if (is_new) {
            CapturedGraph graph;
            graph.graph = key.graph;
            graph.process = key.process;
            window_.graphs.push_back(std::move(graph));
            node_ids_.emplace_back();
        }
        open.graph = found->second;
        open.step = static_cast<std::uint32_t>(window_.steps.size());
        open.seen.assign(window_.graphs[open.graph].nodes.size() + 64, false);
        add_step(kernel, open.graph);
        window_.steps.back().kernels.reserve(window_.graphs[open.graph].nodes.size());
    }

    void add_step(std::uint32_t kernel, std::uint32_t graph) {
        Step step;
        step.replay = true;
        step.captured = graph;
        if (graph != no_captured_graph) step.graph = window_.graphs[graph].graph;
        step.process = kernels_.process.empty() ? std::uint16_t{0} : kernels_.process[kernel];
        step.device = kernels_.device.empty() ? -1 : kernels_.device[kernel];
        window_.steps.push_back(std::move(step));
    }

    std::uint32_t node_index(Open& open, std::uint64_t node, std::uint32_t kernel) {
        CapturedGraph& graph = window_.graphs[open.graph];
        if (open.next >= graph.nodes.size() || graph.nodes[open.next] != node) {
            const auto [found, is_new] = node_ids_[open.graph].try_emplace(node, static_cast<std::uint32_t>(graph.nodes.size()));
            if (is_new) {
                graph.nodes.push_back(node);
                graph.example.push_back(kernel);
            }
            open.next = found->second;
        }
        return open.next++;
    }

    // ---- order of the nodes

    void order_nodes(std::uint32_t g) {
        CapturedGraph& graph = window_.graphs[g];
        if (graph.nodes.empty()) return;
        look_up_origins(graph);
        const std::vector<std::uint32_t> replay = fullest_replay(g);
        std::vector<std::uint32_t> order(graph.nodes.size());
        std::iota(order.begin(), order.end(), 0U);
        choose_order(graph, replay, order);
        apply_order(g, order);
    }

    void look_up_origins(CapturedGraph& graph) {
        graph.made.assign(graph.nodes.size(), -1);
        graph.made_by.assign(graph.nodes.size(), no_id);
        if (view_.lineage.empty()) return;
        std::vector<NodeOrigin> origins;
        std::unordered_set<std::uint64_t> taken;
        for (const std::uint64_t node : graph.nodes) {
            origins.push_back(view_.lineage.origin(graph.process, node));
            if (origins.back().state == NodeOrigin::State::known) taken.insert(origins.back().node);
        }
        for (std::size_t i = 0; i < origins.size(); ++i) {
            NodeOrigin origin = std::move(origins[i]);
            if (origin.state == NodeOrigin::State::ambiguous) {
                // An executable graph has one clone of each original: what another node has taken is no candidate.
                std::vector<std::uint64_t> left;
                for (const std::uint64_t candidate : origin.candidates) {
                    if (taken.count(candidate) == 0) left.push_back(candidate);
                }
                if (left.size() == 1) origin = view_.lineage.root(graph.process, left.front());
            }
            // A node that is its own root was never cloned from anything: its row is its instantiation, not a capture.
            if (origin.state != NodeOrigin::State::known || origin.node == graph.nodes[i]) continue;
            graph.made[i] = origin.time;
            graph.made_by[i] = origin.thread;
        }
    }

    /// Per node: the kernel that ran it in the replay that has most of them, or none.
    std::vector<std::uint32_t> fullest_replay(std::uint32_t g) const {
        const Step* best = nullptr;
        for (const Step& step : window_.steps) {
            if (step.captured == g && (best == nullptr || step.kernels.size() > best->kernels.size())) best = &step;
        }
        std::vector<std::uint32_t> kernel_of(window_.graphs[g].nodes.size(), CapturedGraph::no_node);
        if (best != nullptr) {
            for (const std::uint32_t k : best->kernels) {
                if (window_.node_of_kernel[k] != CapturedGraph::no_node) kernel_of[window_.node_of_kernel[k]] = k;
            }
        }
        return kernel_of;
    }

    /// Work on one stream runs in the order in which it was captured: counts how often an order contradicts that.
    double contradiction(const std::vector<std::uint32_t>& order, const std::vector<std::uint32_t>& kernel_of) const {
        std::map<std::int64_t, Nanoseconds> last;
        std::size_t pairs = 0, inverted = 0;
        for (const std::uint32_t node : order) {
            const std::uint32_t k = kernel_of[node];
            if (k == CapturedGraph::no_node) continue;
            const std::int64_t stream = kernels_.stream.empty() ? 0 : kernels_.stream[k];
            const auto [found, is_new] = last.try_emplace(stream, kernels_.start[k]);
            if (is_new) continue;
            ++pairs;
            inverted += kernels_.start[k] < found->second ? 1 : 0;
            found->second = kernels_.start[k];
        }
        return pairs == 0 ? 0 : static_cast<double>(inverted) / static_cast<double>(pairs);
    }

    void choose_order(CapturedGraph& graph, const std::vector<std::uint32_t>& kernel_of, std::vector<std::uint32_t>& order) const {
        constexpr double tolerated = 0.01;
        const auto known = static_cast<std::size_t>(
            std::count_if(graph.made.begin(), graph.made.end(), [](Nanoseconds time) { return time >= 0; }));
        std::vector<std::uint32_t> by_id = order;
        std::sort(by_id.begin(), by_id.end(), [&](std::uint32_t a, std::uint32_t b) { return graph.nodes[a] < graph.nodes[b]; });
        if (known > 0 && known * 10 >= graph.nodes.size() * 9) {
            std::vector<std::uint32_t> by_capture = ordered_by_capture(graph, by_id, kernel_of);
            if (contradiction(by_capture, kernel_of) <= tolerated) {
                order = std::move(by_capture);
                graph.capture_order = true;
                graph.order_reason = "order of capture, from the creation of the nodes";
                return;
            }
        }
        if (contradiction(by_id, kernel_of) <= tolerated) {
            order = std::move(by_id);
            graph.capture_order = true;
            graph.order_reason = "order of capture, from the numbers of the nodes";
            return;
        }
        std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return std::tuple(relative_start(graph, a, kernel_of), a) < std::tuple(relative_start(graph, b, kernel_of), b);
        });
        graph.order_reason = "order of start: the numbers of the nodes contradict the order on the streams";
    }

    /// Nodes by time of capture; those without one where their number puts them.
    std::vector<std::uint32_t> ordered_by_capture(const CapturedGraph& graph, const std::vector<std::uint32_t>& by_id,
                                                  const std::vector<std::uint32_t>& kernel_of) const {
        std::vector<Nanoseconds> key = graph.made;
        std::vector<std::uint32_t> known_by_id;
        for (const std::uint32_t node : by_id) {
            if (key[node] >= 0) known_by_id.push_back(node);
        }
        const bool ids_in_order = std::is_sorted(known_by_id.begin(), known_by_id.end(),
                                                 [&](std::uint32_t a, std::uint32_t b) { return key[a] < key[b]; });
        std::vector<std::uint32_t> order = by_id;
        if (!ids_in_order) {
            std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
                return relative_start(graph, a, kernel_of) < relative_start(graph, b, kernel_of);
            });
        }
        Nanoseconds before = 0;
        for (const std::uint32_t node : order) {
            if (key[node] < 0) key[node] = before;
            before = key[node];
        }
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key[a] < key[b]; });
        return order;
    }

    /// When the node ran, counted from the start of the replay: of the fullest one, or of the one in which it was seen first.
    Nanoseconds relative_start(const CapturedGraph& graph, std::uint32_t node, const std::vector<std::uint32_t>& kernel_of) const {
        const std::uint32_t k = kernel_of[node] != CapturedGraph::no_node ? kernel_of[node] : graph.example[node];
        if (replay_start_.empty()) {
            replay_start_.assign(kernels_.size(), -1);
            for (const Step& step : window_.steps) {
                Nanoseconds first = -1;
                for (const std::uint32_t other : step.kernels)
                    first = first < 0 ? kernels_.start[other] : std::min(first, kernels_.start[other]);
                for (const std::uint32_t other : step.kernels) replay_start_[other] = first;
            }
        }
        return kernels_.start[k] - replay_start_[k];
    }

    void apply_order(std::uint32_t g, const std::vector<std::uint32_t>& order) {
        CapturedGraph& graph = window_.graphs[g];
        std::vector<std::uint32_t>& new_index = new_index_[g];
        new_index.resize(order.size());
        CapturedGraph sorted = graph;
        for (std::uint32_t i = 0; i < order.size(); ++i) {
            new_index[order[i]] = i;
            sorted.nodes[i] = graph.nodes[order[i]];
            sorted.made[i] = graph.made[order[i]];
            sorted.made_by[i] = graph.made_by[order[i]];
            sorted.example[i] = graph.example[order[i]];
        }
        graph = std::move(sorted);
        find_batch_size(graph);
    }

    void find_batch_size(CapturedGraph& graph) const {
        for (std::size_t i = 0; i < graph.nodes.size() && graph.batch_size < 0; i += std::max<std::size_t>(1, graph.nodes.size() / 4)) {
            if (graph.made[i] < 0) continue;
            for (auto r = view_.ranges.innermost(graph.made_by[i], graph.made[i]); r != RangeIndex::none; r = view_.ranges.parent(r)) {
                const RangeFacts facts = facts_of_text(view_.trace.string(view_.trace.annotations.name[r]));
                if (facts.batch_size >= 0) {
                    graph.batch_size = facts.batch_size;
                    break;
                }
            }
        }
    }

    // ---- the steps themselves

    void finish_steps() {
        const std::size_t steps = window_.steps.size();
        constexpr std::size_t kernels_worth_a_thread = 100'000;
        shared::in_parts(steps, steps * kernels_worth_a_thread / std::max<std::size_t>(kernels_.size(), 1),
                         [&](std::size_t begin, std::size_t end) {
                             for (std::size_t s = begin; s < end; ++s) finish(window_.steps[s]);
                         });
    }

    void finish(Step& step) {
        const CapturedGraph* graph = step.captured == no_captured_graph ? nullptr : &window_.graphs[step.captured];
        const bool by_node = graph != nullptr && !graph->nodes.empty();
        if (by_node) renumber_nodes(step);
        step.launch_order = by_node && graph->capture_order;
        if (step.launch_order) put_in_order_of_nodes(step.kernels, graph->nodes.size());
        else sort_by_time(kernels_, step.kernels);
        step.start = kernels_.start[step.kernels.front()];
        step.end = kernels_.end[step.kernels.front()];
        for (const std::uint32_t k : step.kernels) {
            step.start = std::min(step.start, kernels_.start[k]);
            step.end = std::max(step.end, kernels_.end[k]);
        }
        if (graph != nullptr) step.batch_size = graph->batch_size;
        judge_phase(step);
        judge_completeness(step, graph);
    }

    /// The nodes of a graph were numbered as they came, and have been put in order since.
    void renumber_nodes(const Step& step) {
        const std::vector<std::uint32_t>& new_index = new_index_[step.captured];
        for (const std::uint32_t k : step.kernels) {
            std::uint32_t& node = window_.node_of_kernel[k];
            if (node != CapturedGraph::no_node) node = new_index[node];
        }
    }

    /// A replay runs each node once, so each kernel has its place; those of no node come last.
    void put_in_order_of_nodes(std::vector<std::uint32_t>& kernels, std::size_t nodes) const {
        std::vector<std::uint32_t> kernel_of_node(nodes, CapturedGraph::no_node), of_no_node;
        for (const std::uint32_t k : kernels) {
            const std::uint32_t node = window_.node_of_kernel[k];
            if (node == CapturedGraph::no_node) of_no_node.push_back(k);
            else kernel_of_node[node] = k;
        }
        sort_by_time(kernels_, of_no_node);
        kernels.clear();
        std::copy_if(kernel_of_node.begin(), kernel_of_node.end(), std::back_inserter(kernels),
                     [](std::uint32_t k) { return k != CapturedGraph::no_node; });
        kernels.insert(kernels.end(), of_no_node.begin(), of_no_node.end());
    }

    std::uint32_t launch_of(const Step& step) const {
        const std::uint32_t k = step.kernels.front();
        if (kernels_.correlation.empty()) return LaunchIndex::none;
        return view_.launches.find(step.process, kernels_.correlation[k], step.end);
    }

    void judge_phase(Step& step) const {
        const std::uint32_t launch = launch_of(step);
        if (launch != LaunchIndex::none) {
            const Launches& calls = view_.trace.launches;
            for (auto r = view_.ranges.innermost(calls.thread[launch], calls.start[launch]); r != RangeIndex::none;
                 r = view_.ranges.parent(r)) {
                const std::string& text = view_.trace.string(view_.trace.annotations.name[r]);
                const RangeFacts facts = facts_of_text(text);
                if (step.batch_size < 0) step.batch_size = facts.batch_size;
                if (facts.phase == Phase::unknown) continue;
                step.phase = facts.phase;
                step.reason = "launched inside the range '" + text + "'";
                return;
            }
        }
        step.phase = Phase::decode;
        step.reason = "a captured graph: servers replay graphs for decoding";
    }

    void judge_completeness(Step& step, const CapturedGraph* graph) const {
        const bool has_calls = view_.trace.launches.size() > 0;
        const bool no_launch = has_calls && launch_of(step) == LaunchIndex::none;
        const std::size_t whole = graph != nullptr ? graph->nodes.size() : 0;
        if (whole > step.kernels.size()) {
            step.complete = false;
            step.missing = std::string(loss(step, *graph, no_launch)) + ": " + std::to_string(whole - step.kernels.size()) + " of " +
                           std::to_string(whole) + " kernels";
        } else if (no_launch) {
            step.complete = false;
            step.missing = std::string(cut_at_start) + ": its launch is not in it";
        }
    }

    /// Missing kernels at one end of a replay at that end of the recording were cut off; others were lost.
    const char* loss(const Step& step, const CapturedGraph& graph, bool no_launch) const {
        std::vector<bool> there(graph.nodes.size(), false);
        for (const std::uint32_t k : step.kernels) {
            if (window_.node_of_kernel[k] != CapturedGraph::no_node) there[window_.node_of_kernel[k]] = true;
        }
        const std::size_t missing = graph.nodes.size() - step.kernels.size();
        const auto missing_in = [&](std::size_t from, std::size_t to) {
            return static_cast<std::size_t>(
                std::count(there.begin() + static_cast<std::ptrdiff_t>(from), there.begin() + static_cast<std::ptrdiff_t>(to), false));
        };
        const std::size_t size = graph.nodes.size();
        const std::size_t slack = std::max<std::size_t>(8, size / 20);
        const bool at_front = missing_in(0, std::min(size, missing + slack)) * 10 >= missing * 9;
        const bool at_back = missing_in(size - std::min(size, missing + slack), size) * 10 >= missing * 9;
        if (no_launch || (at_front && !at_back && missing > 2)) return cut_at_start;
        if (at_back && !at_front && missing > 2) return cut_at_end;
        return lost;
    }

    const TraceView& view_;
    const Kernels& kernels_;
    Window& window_;
    std::unordered_map<Key, Open, KeyHash> open_;
    std::map<std::pair<std::uint16_t, std::uint64_t>, std::uint32_t> graph_of_;
    std::vector<std::unordered_map<std::uint64_t, std::uint32_t>> node_ids_;
    std::vector<std::vector<std::uint32_t>> new_index_;  ///< per graph and number of a node as it came: its place in order
    mutable std::vector<Nanoseconds> replay_start_;      ///< per kernel, made when asked for
};

}  // namespace

void find_replays(const TraceView& view, Window& window) { ReplayFinder(view, window).find(); }

}  // namespace adpipe::window
