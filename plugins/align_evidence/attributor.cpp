#include "attributor.hpp"

#include "companion.hpp"
#include "passes.hpp"
#include "time_order.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

namespace adpipe::align {

namespace {

/// Below this a kernel stays without node: wrong is worse than unknown.
constexpr float sure = 0.95F;
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
    Attributor(const GraphModel& graph, const Layers& layers, std::shared_ptr<const Window> window, const LaunchRules& rules,
               std::shared_ptr<const Window> companion)
        : window_(std::move(window)), trace_(*window_->trace), ops_(graph, layers), names_(trace_), model_(rules, names_.names()),
          ranges_(trace_.annotations), scopes_(trace_, ranges_, ops_), result_(std::make_shared<Attribution>()) {
        result_->graph_digest = graph.digest();
        result_->window = window_;
        ops_.bind(model_);
        if (companion) companion_.emplace(std::move(companion), ops_, rules);
    }

    std::shared_ptr<const Attribution> run() {
        runs_repeatedly_.assign(window_->steps.size(), false);
        passes_ = find_passes(*window_, names_, scopes_, ranges_, companion_ ? &*companion_ : nullptr);
        align_all();
        const std::size_t count = trace_.kernels.size();
        answers_.assign(count, Answer{});
        const std::uint32_t no_step = text("outside of every forward pass");
        for (std::size_t k = 0; k < count; ++k) {
            if (window_->step_of_kernel[k] == Window::no_step) answers_[k].reason = no_step;
        }
        for (std::size_t p = 0; p < passes_.size(); ++p) answered_.push_back(answer(p));
        for (std::size_t p = 0; p < passes_.size(); ++p) {
            if (is_part(passes_[p])) answer_by_whole_pass(p);
            if (!aligned_[p].aligned) answer_by_name(p);
        }
        for (std::size_t p = 0; p < passes_.size(); ++p) hand_out(p);
        if (!trace_.streams_rewritten) {
            for (std::size_t s = 0; s < window_->steps.size(); ++s) {
                if (!runs_repeatedly_[s]) withdraw_what_time_forbids(window_->steps[s]);
            }
        }
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
        constexpr int rounds = 2;
        for (int round = 0; round < rounds; ++round) {
            SequenceMemory learned(std::any_of(passes_.begin(), passes_.end(), [](const Pass& pass) { return pass.losses; }));
            bool all_sure = true;
            for (std::size_t p = 0; p < passes_.size(); ++p) {
                align_one(p, round);
                learn(p, learned);
                all_sure = all_sure && (is_part(passes_[p]) || is_sure(aligned_[p]));
            }
            if (all_sure) break;
            memory_ = std::move(learned);
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
        input.memory = round == 0 ? nullptr : &memory_;
        input.scope_fit = [this](std::uint32_t scope, std::uint32_t op) { return scopes_.fit(scope, op); };
        input.losses = pass.losses;
        const bool nothing_fixed = std::all_of(pass.fixed_op.begin(), pass.fixed_op.end(), [](std::uint32_t op) { return op == OpTable::no_op; });
        LatticeResult best;
        for (const std::uint32_t passes : pass_counts(pass)) {
            input.passes = passes;
            LatticeResult result = align_in_order(input);
            if (!result.aligned || (best.aligned && result.log_likelihood <= best.log_likelihood)) continue;
            // Worse than kernels drawn at random: with ops enough to pass over, any row of kernels fits somehow.
            if (result.log_likelihood <= 0 && (passes > 1 || nothing_fixed)) continue;
            best = std::move(result);
            for (const std::uint32_t s : pass.steps) runs_repeatedly_[s] = passes > 1;
        }
        aligned_[p] = std::move(best);
        if (pass.replay && aligned_[p].aligned) expected_kernels_ = std::max(expected_kernels_, placed(aligned_[p]));
    }

    static std::size_t placed(const LatticeResult& result) {
        std::size_t count = 0;
        for (const auto& chain : result.placements) {
            count += static_cast<std::size_t>(
                std::count_if(chain.begin(), chain.end(), [](const auto& list) { return !list.empty() && list.front().probability > 0.5F; }));
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
            for (const auto& list : matches) matched += std::any_of(list.begin(), list.end(), [](const PairMatch& m) { return m.probability >= sure; }) ? 1 : 0;
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
        for (std::size_t slot = 0; slot < answers.size(); ++slot) of_layer[{answers[slot].layer, names_.name(pass.example[slot])}].push_back(slot);
        for (const auto& [key, slots] : of_layer) {
            Answer& answer = answers[slots.front()];
            if (slots.size() != 1 || answer.op != OpTable::no_op || pass.left_out[slots.front()]) continue;
            const std::uint32_t op = only_op(key.first, key.second);
            if (op == OpTable::no_op) continue;
            answer.op = op;
            answer.layer = ops_.layer(op);
            answer.evidence = Evidence::name;
            answer.confidence = 0.5F;
            answer.reason = text(key.first == layer_unknown ? "no other op of the graph launches kernels of that name" :
                                                              "no other op of its layer launches kernels of that name");
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

    void hand_out(std::size_t p) {
        const Pass& pass = passes_[p];
        const std::vector<Answer>& of_slot = answered_[p];
        if (pass.captured != no_captured_graph) {
            const std::uint32_t beside = text("launched beside the graph of its step");
            for (const Step& step : window_->steps) {
                if (step.captured != pass.captured) continue;
                for (const std::uint32_t k : step.kernels) {
                    const std::uint32_t node = window_->node_of_kernel[k];
                    if (node != CapturedGraph::no_node) answers_[k] = of_slot[node];
                    else answers_[k].reason = beside;
                }
            }
        } else {
            for (const std::uint32_t s : pass.steps) {
                const auto& kernels = window_->steps[s].kernels;
                for (std::size_t i = 0; i < kernels.size(); ++i) answers_[kernels[i]] = of_slot[i];
            }
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
        answer.reason = text((pass.annotated[slot] ? "the trace says '" : by_capture ? "captured inside '" : "launched inside '") + scope.text + "'");
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

    /// Placements that need what ran after them are taken back.
    void withdraw_what_time_forbids(const Step& step) {
        std::vector<PlacedKernel> placed;
        for (const std::uint32_t k : step.kernels) {
            const Answer& answer = answers_[k];
            if (answer.op == OpTable::no_op) continue;
            placed.push_back({ops_.vertex(answer.op), trace_.kernels.start[k], trace_.kernels.stream[k], answer.evidence == Evidence::sequence});
        }
        const std::vector<Contradiction> found = contradictions(ops_.graph(), placed);
        for (const Contradiction& one : found) {
            const auto name = [&](VertexId v) { return std::string{ops_.graph().vertex(v).name}; };
            const std::uint32_t reason = text("by its place on its stream " + name(one.doubted) + ", but " + name(one.needs) + ", which needs " +
                                              name(one.made) + ", ran before");
            for (const std::uint32_t k : step.kernels) {
                Answer& answer = answers_[k];
                if (answer.op == OpTable::no_op || answer.evidence != Evidence::sequence || ops_.vertex(answer.op) != one.doubted) continue;
                if (one.holds_against(trace_.kernels.start[k])) answer = {OpTable::no_op, layer_unknown, Evidence::none, 0, reason};
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
        const std::size_t count = answers_.size();
        out.layer.resize(count);
        out.evidence.resize(count);
        out.confidence.resize(count);
        out.reason.resize(count);
        out.node_begin.resize(count + 1, 0);
        Nanoseconds total = 0;
        for (std::size_t k = 0; k < count; ++k) {
            const Answer& answer = answers_[k];
            out.layer[k] = answer.layer;
            out.evidence[k] = answer.evidence;
            out.confidence[k] = answer.confidence;
            out.reason[k] = answer.reason;
            if (answer.op != OpTable::no_op) out.node_list.push_back(ops_.vertex(answer.op));
            out.node_begin[k + 1] = static_cast<std::uint32_t>(out.node_list.size());
            const std::uint32_t step = window_->step_of_kernel[k];
            if (step == Window::no_step || !window_->steps[step].chosen) continue;
            const Nanoseconds duration = trace_.kernels.end[k] - trace_.kernels.start[k];
            total += duration;
            (answer.op != OpTable::no_op ? out.attributed_ns : out.unattributed_ns) += duration;
        }
        if (out.attributed_ns + out.unattributed_ns != total) {
            throw std::logic_error("attributed and unattributed time do not add up to the time of the chosen steps");
        }
    }

    std::shared_ptr<const Window> window_;
    const Trace& trace_;
    OpTable ops_;
    NameTable names_;
    LaunchModel model_;
    RangeIndex ranges_;
    ScopeTable scopes_;
    std::optional<Companion> companion_;
    std::vector<Pass> passes_;
    std::vector<LatticeResult> aligned_;
    std::vector<std::vector<Answer>> answered_;  ///< per pass and slot
    SequenceMemory memory_;
    std::size_t expected_kernels_ = 0;
    std::vector<bool> runs_repeatedly_;  ///< per step: a warm-up that went through the graph several times without a pause
    std::vector<Answer> answers_;
    std::map<std::string, std::uint32_t> text_ids_;
    std::shared_ptr<Attribution> result_;
};

}  // namespace

std::shared_ptr<const Attribution> attribute(const GraphModel& graph, const Layers& layers, std::shared_ptr<const Window> window,
                                             const LaunchRules& rules, std::shared_ptr<const Window> companion, CompanionUse& use) {
    Attributor attributor(graph, layers, std::move(window), rules, std::move(companion));
    auto attribution = attributor.run();
    use = attributor.companion_use();
    return attribution;
}

}  // namespace adpipe::align
