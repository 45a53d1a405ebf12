#include "attributor.hpp"

#include "companion.hpp"
#include "passes.hpp"
#include "stream_continuity.hpp"
#include "time_order.hpp"
#include "twin_calls.hpp"

#include "../shared/huge_pages.hpp"
#include "../shared/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

namespace adpipe::align {

namespace {

/// Below this a kernel stays without node: wrong is worse than unknown.
constexpr float sure = 0.95F;
/// Fewer are not worth a thread of their own.
constexpr std::size_t kernels_worth_a_thread = 100'000;
/// Placements that are this sure teach what an op launches.
constexpr float sure_enough_to_learn = 0.9F;

/// The answer for one slot of a pass.
struct Answer {
    std::uint32_t op = OpTable::no_op;
    LayerId layer = layer_unknown;
    Evidence evidence = Evidence::none;
    float confidence = 0;
    std::uint32_t reason = 0;
};

class Attributor {
public:
    Attributor(const GraphModel& graph, const Layers& layers, std::shared_ptr<const Window> window, Beside<LaunchRules>& rules,
               std::shared_ptr<const Window> companion)
        : window_(std::move(window)),
          trace_(*window_->trace),
          ops_(graph, layers),
          names_(trace_),
          ranges_(trace_.annotations),
          rules_(rules),
          model_(rules_.get(), names_.names()),
          scopes_(trace_, ranges_, ops_, ScopeTable::Calls::used),
          result_(std::make_shared<Attribution>()) {
        result_->graph_digest = graph.digest();
        result_->window = window_;
        ops_.bind(model_);
        if (companion) companion_.emplace(std::move(companion), ops_, rules_.get());
    }

    std::shared_ptr<const Attribution> run() {
        runs_repeatedly_.assign(window_->steps.size(), 0);
        passes_ = find_passes(*window_, names_, scopes_, ranges_, companion_ ? &*companion_ : nullptr);
        align_all();
        for (std::size_t p = 0; p < passes_.size(); ++p) answered_.push_back(answer(p));
        for (std::size_t p = 0; p < passes_.size(); ++p) {
            if (is_part(passes_[p])) answer_by_whole_pass(p);
            if (!aligned_[p].aligned) answer_by_name(p);
        }
        begin_answers();
        hand_out();
        publish();
        return result_;
    }

    CompanionUse companion_use() const {
        return companion_ ? CompanionUse{companion_->usable_passes(), companion_->asked(), companion_->answered()} : CompanionUse{};
    }

private:
    // ---- alignment

    void align_all() {
        aligned_.resize(passes_.size());
        // The first knows the rules alone, the second what ops launched; the third what is known of the streams around those still open.
        constexpr int rounds = 3;
        for (int round = 0; round < rounds; ++round) {
            const bool losses = std::any_of(passes_.begin(), passes_.end(), [](const Pass& pass) { return pass.losses; });
            SequenceMemory learned(losses);
            SequenceMemory learned_by_streams(losses);
            bool all_sure = true;
            for (std::size_t begin = 0, end = 0; begin < passes_.size(); begin = end) {
                while (end < passes_.size() && passes_[end].replay == passes_[begin].replay) ++end;
                align_group(begin, end, round);
                for (std::size_t p = begin; p < end; ++p) {
                    learn(p, learned);
                    all_sure = all_sure && (is_part(passes_[p]) || is_sure(aligned_[p]));
                }
            }
            if (all_sure) break;
            memory_ = std::move(learned);
            memory_by_streams_ = std::move(learned_by_streams);
        }
        for (std::size_t p = 0; p < passes_.size(); ++p) share_out_among_twins(aligned_[p], passes_[p].chains, ops_.lattice_ops());
    }

    /// True if the pass is a chain per stream. Two like ops on two streams may then stand in either's place, and the choice of another pass, which
    /// may have run another number of tokens with other kernels, must not decide between them.
    static bool order_is_open(const Pass& pass) { return pass.chains.size() > 1; }

    /// Passes that are all replays or all none, side by side: how many kernels to expect is known from the replays before them.
    void align_group(std::size_t begin, std::size_t end, int round) {
        for (std::size_t p = begin; p < end; ++p) {
            for (const auto& chain : passes_[p].chains) {
                for (const LatticeKernel& kernel : chain) scopes_.prepare_fit(kernel.scope);
            }
        }
        shared::in_parts(end - begin, 1, [&](std::size_t first, std::size_t last) {
            for (std::size_t p = begin + first; p < begin + last; ++p) align_one(p, round);
        });
        for (std::size_t p = begin; p < end; ++p) {
            if (passes_[p].replay && aligned_[p].aligned) expected_kernels_ = std::max(expected_kernels_, placed(aligned_[p]));
        }
    }

    void align_one(std::size_t p, int round) {
        const Pass& pass = passes_[p];
        if (is_part(pass)) return;
        std::vector<LatticeOp> ops = ops_.lattice_ops();
        for (const std::uint32_t op : pass.fixed_op) {
            if (op != OpTable::no_op) ops[op].seen = true;
        }
        LatticeInput input;
        input.ops = ops;
        input.chains = pass.chains;
        input.model = &model_;
        std::vector<float> preference;
        if (round > 0) {
            input.memory = order_is_open(pass) ? &memory_by_streams_ : &memory_;
            if (order_is_open(pass) && aligned_[p].aligned) preference = stream_continuity(aligned_[p], producers(), pass.chains.size());
            input.chain_preference = preference;
        }
        input.scope_fit = [this](std::uint32_t scope, std::uint32_t op) { return scopes_.fit(scope, op); };
        input.losses = pass.losses;
        const bool nothing_fixed = std::all_of(pass.fixed_op.begin(), pass.fixed_op.end(),
                                               [](std::uint32_t op) { return op == OpTable::no_op; });
        LatticeResult best;
        for (const std::uint32_t passes : pass_counts(pass)) {
            input.passes = passes;
            LatticeResult result = align_in_order(input);
            if (!result.aligned || (best.aligned && result.log_likelihood <= best.log_likelihood)) continue;
            // Worse than kernels drawn at random: with ops enough to pass over, any row of kernels fits somehow.
            if (result.log_likelihood <= 0 && (passes > 1 || nothing_fixed)) continue;
            best = std::move(result);
            for (const std::uint32_t s : pass.steps) runs_repeatedly_[s] = passes > 1 ? 1 : 0;
        }
        aligned_[p] = std::move(best);
        if (pass.replay && aligned_[p].aligned) expected_kernels_ = std::max(expected_kernels_, placed(aligned_[p]));
    }

    const std::vector<std::vector<std::uint32_t>>& producers() {
        if (producers_.empty()) producers_ = ops_.producers();
        return producers_;
    }

    static std::size_t placed(const LatticeResult& result) {
        std::size_t count = 0;
        for (const auto& chain : result.placements) {
            count += static_cast<std::size_t>(std::count_if(chain.begin(), chain.end(), [](const auto& list) {
                return !list.empty() && list.front().probability > 0.5F;
            }));
        }
        return count;
    }

    /// How often an eager step may have run through the graph: a warm-up may run it several times without a pause.
    std::vector<std::uint32_t> pass_counts(const Pass& pass) const {
        std::size_t kernels = 0;
        for (const auto& chain : pass.chains) kernels += chain.size();
        if (pass.replay || (expected_kernels_ > 0 && kernels * 2 < expected_kernels_ * 3)) return {1};
        constexpr std::size_t most_kernels_of_an_op = 20;
        if (kernels > most_kernels_of_an_op * ops_.size()) return {};
        if (expected_kernels_ == 0) return {1, 2, 3};
        // More than a warm-up runs without a pause: what looks so are many steps that could not be told apart.
        constexpr std::size_t most_passes = 8;
        const std::size_t whole = kernels / expected_kernels_;
        if (whole > most_passes) return {};
        return {std::max(static_cast<std::uint32_t>(whole), 1U), static_cast<std::uint32_t>(whole) + 1};
    }

    void learn(std::size_t p, SequenceMemory& learned) const {
        const auto& ops = ops_.lattice_ops();
        for (const LatticeResult::Run& run : aligned_[p].runs) {
            if (run.probability < sure_enough_to_learn) continue;
            const auto kernels = std::span<const LatticeKernel>(passes_[p].chains[run.chain]).subspan(run.first, run.count);
            learned.add(ops[run.op].signature, kernels, run.probability);
        }
    }

    static bool is_sure(const LatticeResult& result) {
        if (!result.aligned) return false;
        for (const auto& chain : result.placements) {
            for (const auto& list : chain) {
                const float first = list.empty() ? 0 : list.front().probability;
                if (first > 0.001F && first < 0.999F) return false;
            }
        }
        return true;
    }

    // ---- answers

    /// The answers for the slots of a pass, from its own alignment.
    std::vector<Answer> answer(std::size_t p) {
        const Pass& pass = passes_[p];
        std::vector<Answer> of_slot(pass.slot_count);
        for (std::uint32_t slot = 0; slot < pass.slot_count; ++slot) of_slot[slot] = from_scope(pass, slot);
        if (aligned_[p].aligned) {
            for (std::size_t c = 0; c < pass.chains.size(); ++c) {
                for (std::size_t i = 0; i < pass.chains[c].size(); ++i) {
                    add_placement(of_slot[pass.slots[c][i]], aligned_[p].placements[c][i]);
                }
            }
        } else {
            for (Answer& answer : of_slot) {
                if (answer.op == OpTable::no_op) answer.reason = text("the step's kernels cannot be put in the order of the graph's ops");
            }
        }
        return of_slot;
    }

    /// A part of a pass: what its kernels are is known from a whole pass of the same kernels beside which it can be laid.
    void answer_by_whole_pass(std::size_t p) {
        std::vector<PairItem> items = items_of(passes_[p]);
        std::vector<std::vector<PairMatch>> best;
        std::size_t best_pass = 0, best_matched = 0;
        for (std::size_t other = 0; other < passes_.size(); ++other) {
            if (is_part(passes_[other]) || passes_[other].slot_count < items.size()) continue;
            auto matches = align_pairs(items, items_of(passes_[other]), {passes_[p].cut_begin, passes_[p].cut_end});
            std::size_t matched = 0;
            for (const auto& list : matches)
                matched += std::any_of(list.begin(), list.end(), [](const PairMatch& m) { return m.probability >= sure; }) ? 1 : 0;
            if (matched <= best_matched) continue;
            best = std::move(matches);
            best_pass = other;
            best_matched = matched;
        }
        const std::uint32_t alone = text("the step is a part of a pass, and no whole one has the same kernels there");
        for (std::size_t slot = 0; slot < answered_[p].size(); ++slot) {
            Answer& own = answered_[p][slot];
            if (own.op != OpTable::no_op) continue;
            own.reason = alone;
            if (slot >= best.size()) continue;
            for (const PairMatch& match : best[slot]) {
                const Answer& whole = answered_[best_pass][match.other];
                if (match.probability < sure || (own.layer != layer_unknown && own.layer != whole.layer)) continue;
                own = whole;
                own.evidence = whole.evidence == Evidence::none ? Evidence::none : Evidence::sequence;
                own.confidence = whole.confidence * std::min(match.probability, 1.0F);
            }
        }
    }

    /// The weakest evidence, for passes without order: of all ops of a kernel's layer only one launches kernels of that name, and only one such
    /// kernel ran there.
    void answer_by_name(std::size_t p) {
        const Pass& pass = passes_[p];
        std::vector<Answer>& answers = answered_[p];
        std::map<std::pair<LayerId, std::uint32_t>, std::vector<std::size_t>> of_layer;
        for (std::size_t slot = 0; slot < answers.size(); ++slot)
            of_layer[{answers[slot].layer, names_.name(pass.example[slot])}].push_back(slot);
        for (const auto& [key, slots] : of_layer) {
            Answer& answer = answers[slots.front()];
            if (slots.size() != 1 || answer.op != OpTable::no_op || pass.left_out[slots.front()]) continue;
            const std::uint32_t op = only_op(key.first, key.second);
            if (op == OpTable::no_op) continue;
            answer.op = op;
            answer.layer = ops_.layer(op);
            answer.evidence = Evidence::name;
            answer.confidence = 0.5F;
            answer.reason = text(key.first == layer_unknown ? "no other op of the graph launches kernels of that name"
                                                            : "no other op of its layer launches kernels of that name");
        }
    }

    /// The only op of a layer (of the graph, where the layer is unknown) that launches kernels of that name; no_op if there are several, or none.
    std::uint32_t only_op(LayerId layer, std::uint32_t name) const {
        std::uint32_t only = OpTable::no_op;
        for (std::uint32_t op = 0; op < ops_.size(); ++op) {
            if (layer != layer_unknown && ops_.layer(op) != layer && ops_.also(op) != layer) continue;
            if (!model_.may_launch(ops_.lattice_ops()[op].profile, name)) continue;
            if (only != OpTable::no_op) return OpTable::no_op;
            only = op;
        }
        return only;
    }

    static bool is_part(const Pass& pass) { return pass.cut_begin || pass.cut_end; }

    std::vector<PairItem> items_of(const Pass& pass) {
        std::vector<PairItem> items;
        for (const std::uint32_t kernel : pass.example) {
            items.push_back({names_.name(kernel) + 1, names_.variant(kernel) + 1, 0, 0, true});
        }
        return items;
    }

    // ---- kernels

    /// Before any is handed out.
    void begin_answers() {
        Attribution& out = *result_;
        const std::size_t count = trace_.kernels.size();
        std::vector<std::function<void()>> work;
        const auto fill = [&](auto& column, auto value) {
            work.push_back([&column, value, count] {
                shared::reserve_in_huge_pages(column, count);
                column.assign(count, value);
            });
        };
        fill(op_of_kernel_, OpTable::no_op);
        fill(out.reason, text("outside of every forward pass"));
        fill(out.evidence, Evidence::none);
        fill(out.layer, layer_unknown);
        fill(out.confidence, 0.0F);
        const std::size_t least = count > kernels_worth_a_thread ? 1 : work.size();
        shared::in_parts(work.size(), least, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) work[i]();
        });
    }

    void give(std::uint32_t kernel, const Answer& answer) {
        op_of_kernel_[kernel] = answer.op;
        result_->layer[kernel] = answer.layer;
        result_->evidence[kernel] = answer.evidence;
        result_->confidence[kernel] = answer.confidence;
        result_->reason[kernel] = answer.reason;
    }

    /// From the passes' slots to the kernels of all steps.
    void hand_out() {
        const std::size_t steps = window_->steps.size();
        const std::vector<std::size_t> pass_of_step = find_passes_of_steps();
        Answer beside, nothing;
        beside.reason = text("launched beside the graph of its step");
        std::vector<std::vector<Contradiction>> found(steps);
        shared::in_parts(steps, steps * kernels_worth_a_thread / std::max<std::size_t>(trace_.kernels.size(), 1),
                         [&](std::size_t begin, std::size_t end) {
                             TimeOrder order(ops_.graph());
                             for (std::size_t s = begin; s < end; ++s) {
                                 hand_out_step(window_->steps[s], pass_of_step[s], beside);
                                 if (!trace_.streams_rewritten && runs_repeatedly_[s] == 0)
                                     found[s] = order.contradictions(placed_kernels(window_->steps[s]));
                             }
                         });
        for (std::size_t s = 0; s < steps; ++s) withdraw(window_->steps[s], found[s]);
    }

    static constexpr std::size_t no_pass = static_cast<std::size_t>(-1);

    std::vector<std::size_t> find_passes_of_steps() const {
        std::vector<std::size_t> pass_of_step(window_->steps.size(), no_pass);
        std::vector<std::size_t> pass_of_graph(window_->graphs.size(), no_pass);
        for (std::size_t p = 0; p < passes_.size(); ++p) {
            if (passes_[p].captured != no_captured_graph) pass_of_graph[passes_[p].captured] = p;
            for (const std::uint32_t s : passes_[p].steps) pass_of_step[s] = p;
        }
        for (std::size_t s = 0; s < pass_of_step.size(); ++s) {
            const std::uint32_t graph = window_->steps[s].captured;
            if (graph != no_captured_graph && pass_of_graph[graph] != no_pass) pass_of_step[s] = pass_of_graph[graph];
        }
        return pass_of_step;
    }

    void hand_out_step(const Step& step, std::size_t pass, const Answer& beside) {
        if (pass == no_pass) {
            for (const std::uint32_t k : step.kernels) give(k, Answer{});
            return;
        }
        const bool by_node = passes_[pass].captured != no_captured_graph;
        const std::vector<Answer>& of_slot = answered_[pass];
        for (std::size_t i = 0; i < step.kernels.size(); ++i) {
            const std::uint32_t k = step.kernels[i];
            const std::size_t slot = by_node ? window_->node_of_kernel[k] : i;
            give(k, by_node && slot == CapturedGraph::no_node ? beside : of_slot[slot]);
        }
    }

    /// What ranges and annotations alone say.
    Answer from_scope(const Pass& pass, std::uint32_t slot) {
        Answer answer;
        const Scope& scope = scopes_[pass.scope[slot]];
        if (pass.left_out[slot]) {
            answer.reason = text("launched outside of the ranges that name the ops");
            return answer;
        }
        if (scope.text.empty()) return answer;
        answer.layer = scope.layer;
        if (scope.op == OpTable::no_op && scope.layer == layer_unknown) return answer;
        answer.op = scope.op;
        if (pass.by_companion[slot] > 0) {
            answer.evidence = Evidence::companion;
            answer.confidence = pass.by_companion[slot];
            answer.reason = text("in " + companion_->name() + " launched inside '" + scope.text + "'");
            return answer;
        }
        const bool by_capture = pass.captured_work[slot] && !pass.annotated[slot];
        answer.evidence = by_capture ? Evidence::lineage : Evidence::annotation;
        answer.confidence = 1;
        answer.reason = text((pass.annotated[slot] ? "the trace says '"
                              : by_capture         ? "captured inside '"
                                                   : "launched inside '") +
                             scope.text + "'");
        return answer;
    }

    void add_placement(Answer& answer, const std::vector<Placement>& placements) {
        if (answer.op != OpTable::no_op) return;
        if (!placements.empty() && placements.front().probability >= sure) {
            answer.op = placements.front().op;
            answer.evidence = Evidence::sequence;
            answer.confidence = std::min(placements.front().probability, 1.0F);
            if (answer.layer == layer_unknown) answer.layer = ops_.layer(answer.op);
            answer.reason = text("its place in the order of the kernels");
            return;
        }
        if (placements.empty() || placements.front().probability < 0.05F) {
            if (answer.reason == 0) answer.reason = text("no op of the graph launches it");
            return;
        }
        std::map<LayerId, float> layers;
        for (const Placement& placement : placements) layers[ops_.layer(placement.op)] += placement.probability;
        for (const auto& [layer, probability] : layers) {
            if (answer.layer != layer_unknown || probability < sure) continue;
            answer.layer = layer;
            answer.evidence = Evidence::sequence;
            answer.confidence = std::min(probability, 1.0F);
        }
        std::string reason = "as likely on " + std::string(name_of(placements[0].op));
        if (placements.size() > 1) reason += " as on " + std::string(name_of(placements[1].op));
        answer.reason = text(reason);
    }

    std::vector<PlacedKernel> placed_kernels(const Step& step) const {
        std::vector<PlacedKernel> placed;
        placed.reserve(step.kernels.size());
        for (const std::uint32_t k : step.kernels) {
            if (op_of_kernel_[k] == OpTable::no_op) continue;
            placed.push_back({ops_.vertex(op_of_kernel_[k]), trace_.kernels.start[k], trace_.kernels.stream[k],
                              result_->evidence[k] == Evidence::sequence});
        }
        return placed;
    }

    /// Placements that need what ran after them are taken back.
    void withdraw(const Step& step, const std::vector<Contradiction>& found) {
        for (const Contradiction& one : found) {
            const auto name = [&](VertexId v) { return std::string{ops_.graph().vertex(v).name}; };
            const std::uint32_t reason = text("by its place on its stream " + name(one.doubted) + ", but " + name(one.needs) +
                                              ", which needs " + name(one.made) + ", ran before");
            for (const std::uint32_t k : step.kernels) {
                const std::uint32_t op = op_of_kernel_[k];
                if (op == OpTable::no_op || result_->evidence[k] != Evidence::sequence || ops_.vertex(op) != one.doubted) continue;
                if (one.holds_against(trace_.kernels.start[k])) give(k, {OpTable::no_op, layer_unknown, Evidence::none, 0, reason});
            }
        }
    }

    std::string_view name_of(std::uint32_t op) const { return ops_.graph().vertex(ops_.vertex(op)).name; }

    std::uint32_t text(const std::string& content) {
        const auto [found, is_new] = text_ids_.try_emplace(content, static_cast<std::uint32_t>(result_->texts.size()));
        if (is_new) result_->texts.push_back(content);
        return found->second;
    }

    void publish() {
        Attribution& out = *result_;
        const std::size_t count = op_of_kernel_.size();
        shared::reserve_in_huge_pages(out.node_begin, count + 1);
        shared::reserve_in_huge_pages(out.node_list, count);
        out.node_begin.resize(count + 1);
        out.node_list.resize(count);
        std::uint32_t placed = 0;
        for (std::size_t k = 0; k < count; ++k) {
            if (op_of_kernel_[k] != OpTable::no_op) out.node_list[placed++] = ops_.vertex(op_of_kernel_[k]);
            out.node_begin[k + 1] = placed;
        }
        out.node_list.resize(placed);
        add_times();
    }

    void add_times() {
        Attribution& out = *result_;
        std::vector<char> chosen;
        for (const Step& step : window_->steps) chosen.push_back(step.chosen ? 1 : 0);
        Nanoseconds total = 0;
        for (std::size_t k = 0; k < op_of_kernel_.size(); ++k) {
            const std::uint32_t step = window_->step_of_kernel[k];
            if (step == Window::no_step || chosen[step] == 0) continue;
            const Nanoseconds duration = trace_.kernels.end[k] - trace_.kernels.start[k];
            total += duration;
            (op_of_kernel_[k] != OpTable::no_op ? out.attributed_ns : out.unattributed_ns) += duration;
        }
        if (out.attributed_ns + out.unattributed_ns != total) {
            throw std::logic_error("attributed and unattributed time do not add up to the time of the chosen steps");
        }
    }

    std::shared_ptr<const Window> window_;
    const Trace& trace_;
    OpTable ops_;
    NameTable names_;
    RangeIndex ranges_;
    Beside<LaunchRules>& rules_;  ///< being read while the names and ranges are looked through
    LaunchModel model_;
    ScopeTable scopes_;
    std::optional<Companion> companion_;
    std::vector<Pass> passes_;
    std::vector<LatticeResult> aligned_;
    std::vector<std::vector<Answer>> answered_;          ///< per pass and slot
    std::vector<std::vector<std::uint32_t>> producers_;  ///< per op, once asked for
    SequenceMemory memory_;                              ///< of all passes
    SequenceMemory memory_by_streams_;                   ///< of those whose order is open
    std::size_t expected_kernels_ = 0;
    std::vector<char> runs_repeatedly_;  ///< per step: a warm-up that went through the graph several times without a pause
    std::vector<std::uint32_t> op_of_kernel_;
    std::map<std::string, std::uint32_t> text_ids_;
    std::shared_ptr<Attribution> result_;
};

}  // namespace

std::shared_ptr<const Attribution> attribute(const GraphModel& graph, const Layers& layers, std::shared_ptr<const Window> window,
                                             Beside<LaunchRules>& rules, std::shared_ptr<const Window> companion, CompanionUse& use) {
    Attributor attributor(graph, layers, std::move(window), rules, std::move(companion));
    auto attribution = attributor.run();
    use = attributor.companion_use();
    return attribution;
}

}  // namespace adpipe::align
