#include "passes.hpp"

#include "companion.hpp"
#include "losses.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace adpipe::align {

namespace {

/// A kernel of a pass before it is put into a chain.
struct Slot {
    std::uint32_t kernel = 0;  ///< that ran there, or an example
    std::uint32_t scope = ScopeTable::nothing;
    bool annotated = false;     ///< the scope comes from the kernel's own annotation
    bool origin_known = false;  ///< whether the moment of its launch or capture is known at all
    bool edge = false;
    bool captured_work = false;  ///< ran from a captured graph
};

class PassBuilder {
public:
    PassBuilder(const Window& window, NameTable& names, ScopeTable& scopes, const RangeIndex& ranges, Companion* companion)
        : window_(window),
          trace_(*window.trace),
          kernels_(trace_.kernels),
          names_(names),
          scopes_(scopes),
          ranges_(ranges),
          companion_(companion),
          launches_(trace_) {
        for (std::uint32_t g = 0; g < window.graphs.size(); ++g) graph_of_[{window.graphs[g].process, window.graphs[g].graph}] = g;
        for (const Step& step : window.steps) losses_ |= step.missing.find("lost by the profiler") != std::string::npos;
        for (const std::string& message : trace_.profiler_messages) losses_ |= message.find("dropped") != std::string::npos;
    }

    std::vector<Pass> build() {
        for (std::uint32_t g = 0; g < window_.graphs.size(); ++g) {
            const bool is_pass = std::any_of(window_.steps.begin(), window_.steps.end(),
                                             [&](const Step& step) { return step.captured == g; });
            if (is_pass && !window_.graphs[g].nodes.empty()) add_graph(g);
        }
        for (std::uint32_t s = 0; s < window_.steps.size(); ++s) {
            const Step& step = window_.steps[s];
            const bool by_node = step.captured != no_captured_graph && !window_.graphs[step.captured].nodes.empty();
            if (!by_node) add_step(s);
        }
        if (!losses_ && replays_show_losses(passes_)) {
            for (Pass& pass : passes_) pass.losses = true;
        }
        return std::move(passes_);
    }

private:
    void add_graph(std::uint32_t g) {
        const CapturedGraph& graph = window_.graphs[g];
        std::vector<Slot> slots(graph.nodes.size());
        for (std::size_t i = 0; i < slots.size(); ++i) {
            slots[i].kernel = graph.example[i];
            slots[i].scope = scopes_.of_annotation(graph.example[i]);
            slots[i].annotated = slots[i].scope != ScopeTable::nothing;
            slots[i].captured_work = true;
            find_capture(slots[i], graph, static_cast<std::uint32_t>(i));
        }
        Pass pass;
        pass.replay = true;
        pass.captured = g;
        fill(pass, slots, graph.capture_order);
        passes_.push_back(std::move(pass));
    }

    void add_step(std::uint32_t s) {
        const Step& step = window_.steps[s];
        std::vector<Slot> slots(step.kernels.size());
        std::vector<std::uint32_t> ranges(slots.size(), RangeIndex::none);
        for (std::size_t i = 0; i < slots.size(); ++i) {
            const std::uint32_t k = step.kernels[i];
            slots[i].kernel = k;
            slots[i].scope = scopes_.of_annotation(k);
            slots[i].annotated = slots[i].scope != ScopeTable::nothing;
            const std::uint32_t call = kernels_.correlation.empty()
                                           ? LaunchIndex::none
                                           : launches_.find(step.process, kernels_.correlation[k], kernels_.start[k]);
            slots[i].captured_work = runs_from_graph(step, k, call);
            slots[i].edge = !slots[i].captured_work;
            if (slots[i].captured_work) {
                find_capture_in_step(slots[i], step);
                continue;
            }
            if (call == LaunchIndex::none) continue;
            slots[i].origin_known = true;
            ranges[i] = ranges_.innermost(trace_.launches.thread[call], trace_.launches.start[call]);
            if (slots[i].scope == ScopeTable::nothing)
                slots[i].scope = scopes_.at(trace_.launches.thread[call], trace_.launches.start[call]);
        }
        mark_edges(slots, ranges);
        const std::uint64_t hash = hash_of(step, slots);
        const auto [found, is_new] = by_hash_.try_emplace(hash, passes_.size());
        if (!is_new) {
            passes_[found->second].steps.push_back(s);
            return;
        }
        Pass pass;
        pass.replay = step.replay;
        pass.losses = losses_ || !step.complete;
        pass.cut_begin = step.missing.rfind("cut off at the start", 0) == 0;
        pass.cut_end = step.missing.rfind("cut off at the end", 0) == 0;
        pass.steps.push_back(s);
        fill(pass, slots, step.launch_order);
        passes_.push_back(std::move(pass));
    }

    bool has_node(std::uint32_t k) const { return !window_.node_of_kernel.empty() && window_.node_of_kernel[k] != CapturedGraph::no_node; }

    /// A step may hold replays and, before, between and after them, kernels launched one by one.
    bool runs_from_graph(const Step& step, std::uint32_t k, std::uint32_t call) const {
        if (has_node(k)) return true;
        const bool by_graph_launch = call != LaunchIndex::none &&
                                     trace_.string(trace_.launches.name[call]).find("GraphLaunch") != std::string::npos;
        return by_graph_launch || (step.replay && call == LaunchIndex::none);
    }

    void find_capture_in_step(Slot& slot, const Step& step) {
        if (!has_node(slot.kernel)) return;
        const std::uint64_t id = !kernels_.graph.empty() ? kernels_.graph[slot.kernel] : kernels_.graph_node[slot.kernel] >> 32U;
        const auto graph = graph_of_.find({step.process, id});
        if (graph != graph_of_.end()) find_capture(slot, window_.graphs[graph->second], window_.node_of_kernel[slot.kernel]);
    }

    void find_capture(Slot& slot, const CapturedGraph& graph, std::uint32_t node) {
        slot.origin_known = graph.made[node] >= 0;
        if (slot.scope == ScopeTable::nothing && slot.origin_known) slot.scope = scopes_.at(graph.made_by[node], graph.made[node]);
    }

    /// The innermost range that still holds nearly all kernels of the step is its forward pass: what lies outside may well be host work
    /// around it, what lies inside is not.
    void mark_edges(std::vector<Slot>& slots, const std::vector<std::uint32_t>& ranges) {
        std::map<std::uint32_t, std::size_t> held;
        for (const std::uint32_t range : ranges) {
            for (std::uint32_t r = range; r != RangeIndex::none; r = ranges_.parent(r)) ++held[r];
        }
        std::uint32_t core = RangeIndex::none;
        for (const auto& [range, count] : held) {
            if (count * 10 < slots.size() * 8) continue;
            if (core == RangeIndex::none || is_inside(range, core)) core = range;
        }
        // A range that holds the whole step, sampling included, does not tell where the forward pass ends.
        std::size_t outside = 0;
        for (std::size_t i = 0; i < slots.size(); ++i) outside += !slots[i].captured_work && !is_inside(ranges[i], core) ? 1 : 0;
        if (core == RangeIndex::none || outside == 0) return;
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i].captured_work) continue;
            slots[i].edge = !is_inside(ranges[i], core);
            if (slots[i].edge && scopes_[slots[i].scope].text.empty()) slots[i].scope = scopes_.outside_step();
        }
    }

    bool is_inside(std::uint32_t range, std::uint32_t outer) const {
        while (range != RangeIndex::none && range != outer) range = ranges_.parent(range);
        return range == outer;
    }

    std::uint64_t hash_of(const Step& step, const std::vector<Slot>& slots) {
        std::uint64_t hash = (step.replay ? 1 : step.launch_order ? 2 : 3) + (step.missing.rfind("cut off", 0) == 0 ? 4 : 0);
        const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 0xff51afd7ed558ccdU + (hash >> 31U); };
        for (const Slot& slot : slots) {
            mix(names_.variant(slot.kernel));
            mix(slot.scope * 2 + (slot.edge ? 1 : 0));
            if (!step.launch_order && !kernels_.stream.empty()) mix(static_cast<std::uint64_t>(kernels_.stream[slot.kernel]));
        }
        return hash;
    }

    void fill(Pass& pass, std::vector<Slot>& slots, bool ordered) {
        pass.slot_count = slots.size();
        pass.fixed_op.assign(slots.size(), OpTable::no_op);
        pass.scope.assign(slots.size(), ScopeTable::nothing);
        pass.annotated.assign(slots.size(), false);
        pass.left_out.assign(slots.size(), false);
        pass.captured_work.assign(slots.size(), false);
        pass.by_companion.assign(slots.size(), 0);
        pass.example.resize(slots.size());
        for (std::size_t i = 0; i < slots.size(); ++i) pass.example[i] = slots[i].kernel;
        pass.in_order = ordered || one_stream(slots);
        judge_calls(slots);
        judge_unscoped(pass, slots);
        if (companion_ != nullptr && pass.in_order) ask_companion(pass, slots);
        for (std::size_t i = 0; i < slots.size(); ++i) {
            pass.scope[i] = slots[i].scope;
            pass.annotated[i] = slots[i].annotated;
            pass.captured_work[i] = slots[i].captured_work;
            pass.fixed_op[i] = scopes_[slots[i].scope].op;
        }
        const Bounds bounds(pass);
        std::map<std::int64_t, std::size_t> chain_of_stream;
        for (std::uint32_t i = 0; i < slots.size(); ++i) {
            const std::int64_t stream = ordered || kernels_.stream.empty() ? 0 : kernels_.stream[slots[i].kernel];
            const std::size_t chain = chain_of_stream.try_emplace(stream, chain_of_stream.size()).first->second;
            if (chain == pass.chains.size()) {
                pass.chains.emplace_back();
                pass.slots.emplace_back();
            }
            if (pass.fixed_op[i] != OpTable::no_op || pass.left_out[i]) continue;
            LatticeKernel kernel;
            kernel.name = names_.name(slots[i].kernel);
            kernel.variant = names_.variant(slots[i].kernel);
            kernel.scope = slots[i].scope;
            kernel.edge = slots[i].edge;
            if (ordered) bounds.apply(kernel, i);
            pass.chains[chain].push_back(kernel);
            pass.slots[chain].push_back(i);
        }
    }

    /// In launch order, an op lies between those of the kernels before and after. Per slot: the nearest op that is fixed before it, and after it.
    struct Bounds {
        explicit Bounds(const Pass& pass) : before(pass.slot_count, OpTable::no_op), after(pass.slot_count, OpTable::no_op) {
            std::uint32_t nearest = OpTable::no_op;
            for (std::size_t i = 0; i < pass.slot_count; ++i) {
                before[i] = nearest;
                if (pass.fixed_op[i] != OpTable::no_op) nearest = pass.fixed_op[i];
            }
            nearest = OpTable::no_op;
            for (std::size_t i = pass.slot_count; i-- > 0;) {
                after[i] = nearest;
                if (pass.fixed_op[i] != OpTable::no_op) nearest = pass.fixed_op[i];
            }
        }
        void apply(LatticeKernel& kernel, std::uint32_t slot) const {
            if (before[slot] != OpTable::no_op) kernel.first_op = before[slot];
            if (after[slot] != OpTable::no_op) kernel.last_op = after[slot];
            if (kernel.first_op > kernel.last_op)
                kernel.first_op = 0, kernel.last_op = OpTable::no_op;  // ran through the ops several times
        }
        std::vector<std::uint32_t> before, after;
    };

    bool one_stream(const std::vector<Slot>& slots) const {
        if (kernels_.stream.empty() || slots.empty()) return false;
        return std::all_of(slots.begin(), slots.end(),
                           [&](const Slot& slot) { return kernels_.stream[slot.kernel] == kernels_.stream[slots.front().kernel]; });
    }

    /// What the recording itself says stands; where it names a layer, the companion may name the op in it.
    void ask_companion(Pass& pass, std::vector<Slot>& slots) {
        const auto wants = [&](std::size_t i) { return !pass.left_out[i] && scopes_[slots[i].scope].op == OpTable::no_op; };
        std::size_t wanted = 0;
        for (std::size_t i = 0; i < slots.size(); ++i) wanted += wants(i) ? 1 : 0;
        if (wanted == 0) return;
        const Companion::Answer answer = companion_->look_up(trace_, pass.example, {pass.cut_begin, pass.cut_end});
        for (std::size_t i = 0; i < answer.size(); ++i) {
            if (!answer[i] || !wants(i)) continue;
            const Scope& own = scopes_[slots[i].scope];
            const Scope& said = answer[i]->scope;
            const bool adds = own.text.empty() || (said.op != OpTable::no_op && own.layer != layer_unknown && own.layer == said.layer);
            if (!adds) continue;
            slots[i].scope = scopes_.adopt(said);
            slots[i].edge = false;
            pass.by_companion[i] = answer[i]->probability;
        }
    }

    /// What was called tells the op only where the program ran this graph: then nearly all that was launched one by one was launched by what the
    /// graph calls.
    void judge_calls(std::vector<Slot>& slots) {
        std::size_t launched = 0, by_calls = 0;
        for (const Slot& slot : slots) {
            if (!slot.origin_known || scopes_[slot.scope].op != OpTable::no_op) continue;
            ++launched;
            by_calls += scopes_[slot.scope].call.empty() ? 0 : 1;
        }
        if (by_calls * 5 >= launched * 4) return;
        for (Slot& slot : slots) slot.scope = scopes_.without_call(slot.scope);
    }

    /// What it means that nothing names the op or layer of a kernel, where most of its step's kernels have one.
    void judge_unscoped(Pass& pass, std::vector<Slot>& slots) {
        std::size_t with_op = 0, with_layer = 0;
        for (const Slot& slot : slots) {
            with_op += scopes_[slot.scope].op != OpTable::no_op ? 1 : 0;
            with_layer += scopes_[slot.scope].layer >= 0 ? 1 : 0;
        }
        for (std::size_t i = 0; i < slots.size(); ++i) {
            const Scope& scope = scopes_[slots[i].scope];
            if (!slots[i].origin_known || scope.op != OpTable::no_op) continue;
            if (with_op * 2 > slots.size()) {
                pass.left_out[i] = true;
            } else if (with_layer * 2 > slots.size() && scope.text.empty()) {
                slots[i].scope = scopes_.outside_layers();
            }
        }
    }

    const Window& window_;
    const Trace& trace_;
    const Kernels& kernels_;
    NameTable& names_;
    ScopeTable& scopes_;
    const RangeIndex& ranges_;
    Companion* const companion_;
    const LaunchIndex launches_;
    std::map<std::pair<std::uint16_t, std::uint64_t>, std::uint32_t> graph_of_;  ///< by process and id
    bool losses_ = false;
    std::vector<Pass> passes_;
    std::unordered_map<std::uint64_t, std::size_t> by_hash_;
};

}  // namespace

NameTable::NameTable(const Trace& trace) : trace_(trace) {
    StringId last = 0xffffffffU;
    for (std::uint32_t k = 0; k < trace.kernels.size(); ++k) {
        const StringId id = trace.kernels.name[k];
        if (id == last) continue;
        last = id;
        if (!of_string_.try_emplace(id, static_cast<std::uint32_t>(names_.size())).second) continue;
        KernelName name;
        name.lower = trace.string(id);
        for (char& c : name.lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        name.kind = trace.kernels.kind[k];
        names_.push_back(std::move(name));
    }
}

std::uint32_t NameTable::variant(std::uint32_t kernel) {
    const std::uint64_t shape = trace_.kernels.shape.empty() ? 0 : trace_.kernels.shape[kernel];
    const std::uint64_t key = std::uint64_t{trace_.kernels.name[kernel]} << 32U | shape;
    return variants_.try_emplace(key, static_cast<std::uint32_t>(variants_.size())).first->second;
}

std::vector<Pass> find_passes(const Window& window, NameTable& names, ScopeTable& scopes, const RangeIndex& ranges, Companion* companion) {
    return PassBuilder(window, names, scopes, ranges, companion).build();
}

}  // namespace adpipe::align
