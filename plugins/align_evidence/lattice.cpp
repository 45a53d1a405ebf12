#include "lattice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace adpipe::align {

namespace {

constexpr double impossible = -std::numeric_limits<double>::infinity();
constexpr double beam = 22.0;              // log units below the best state of a stage
constexpr std::size_t most_states = 400;   // per stage
constexpr std::uint32_t longest_run = 40;  // kernels of one op
constexpr double stray = -12.0;            // log probability that a kernel in mid-step belongs to no op
constexpr double stray_at_edge = -0.7;
constexpr double lost = -4.0;        // one of an op's kernels is missing, or all are, where events were dropped
constexpr double own_chain = -0.05;  // op on the stream where the graph puts it
constexpr double other_chain = -3.0;
constexpr double learned_share = 0.9;
constexpr float posterior_floor = 1e-4F;
const double dying = std::exp(-beam);  // a run that is less likely, by a factor more for each kernel, is not followed
const double dying_each = std::exp(-8.0);
constexpr double negligible = 1e-250;  // far below what is not followed; near the smallest numbers, arithmetic is slow

double log_add(double a, double b) {
    if (a < b) std::swap(a, b);
    if (b == impossible) return a;
    // What is added is then below half of the last digit of `a`.
    if (b - a < -38 && std::abs(a) >= 1) return a;
    return a + std::log1p(std::exp(b - a));
}

/// One partial alignment: how many kernels of each chain are used up.
struct State {
    std::uint64_t key = 0;
    double forward = impossible;
    double backward = impossible;
};

struct Link {
    std::uint32_t from;
    std::uint32_t to;
    std::uint32_t op;  // no_op: a stray kernel
    std::uint16_t chain;
    std::uint16_t count;
    double weight;
};
constexpr std::uint32_t no_op = 0xffffffffU;

class Aligner {
public:
    explicit Aligner(const LatticeInput& input) : in_(input), chain_count_(input.chains.size()) {
        bits_ = static_cast<unsigned>(64 / std::max<std::size_t>(chain_count_, 1));
        if (bits_ > 32) bits_ = 32;
        for (std::size_t c = 1; c < chain_count_; ++c) {
            if (input.chains[c].size() > input.chains[main_chain_].size()) main_chain_ = c;
        }
    }

    LatticeResult run() {
        LatticeResult result;
        result.placements.resize(chain_count_);
        for (std::size_t c = 0; c < chain_count_; ++c) result.placements[c].resize(in_.chains[c].size());
        stage_.push_back(new_state(0, 0.0));
        for (std::uint32_t pass = 0; pass < in_.passes; ++pass) {
            for (std::uint32_t op = 0; op < in_.ops.size(); ++op) {
                spread_strays(op == 0);
                step(op);
                if (stage_.empty()) return result;
            }
        }
        spread_strays(true);
        const std::uint32_t goal = find_goal();
        if (goal == no_op) return result;
        states_[goal].backward = 0;
        result.log_likelihood = states_[goal].forward;
        result.aligned = true;
        go_backward();
        collect(result, states_[goal].forward);
        return result;
    }

private:
    std::uint64_t position(std::uint64_t key, std::size_t chain) const {
        return (key >> (bits_ * chain)) & ((bits_ == 64) ? ~0ULL : ((1ULL << bits_) - 1));
    }
    std::uint64_t advance(std::uint64_t key, std::size_t chain, std::uint64_t count) const { return key + (count << (bits_ * chain)); }
    std::uint64_t consumed(std::uint64_t key) const {
        std::uint64_t sum = 0;
        for (std::size_t c = 0; c < chain_count_; ++c) sum += position(key, c);
        return sum;
    }

    std::uint32_t new_state(std::uint64_t key, double forward) {
        states_.push_back(State{key, forward, impossible});
        return static_cast<std::uint32_t>(states_.size() - 1);
    }

    /// The state of `key` in `stage`, made if it is not there. Stages are small: a linear search from the back beats a map.
    std::uint32_t state_in(std::vector<std::uint32_t>& stage, std::uint64_t key) {
        for (std::size_t i = stage.size(); i-- > 0;) {
            if (states_[stage[i]].key == key) return stage[i];
        }
        stage.push_back(new_state(key, impossible));
        return stage.back();
    }

    void link(std::uint32_t from, std::uint32_t to, std::uint32_t op, std::size_t chain, std::size_t count, double weight) {
        links_.push_back({from, to, op, static_cast<std::uint16_t>(chain), static_cast<std::uint16_t>(count), weight});
        states_[to].forward = log_add(states_[to].forward, states_[from].forward + weight);
    }

    double best_of(const std::vector<std::uint32_t>& stage) const {
        double best = impossible;
        for (const std::uint32_t s : stage) best = std::max(best, states_[s].forward);
        return best;
    }

    void prune(std::vector<std::uint32_t>& stage) {
        const double floor = best_of(stage) - beam;
        stage.erase(std::remove_if(stage.begin(), stage.end(), [&](std::uint32_t s) { return states_[s].forward < floor; }), stage.end());
        if (stage.size() > most_states) {
            std::nth_element(stage.begin(), stage.begin() + most_states, stage.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return states_[a].forward > states_[b].forward; });
            stage.resize(most_states);
        }
        std::sort(stage.begin(), stage.end(), [&](std::uint32_t a, std::uint32_t b) { return states_[a].key < states_[b].key; });
    }

    /// Kernels that belong to no op. `outside`: before the first or after the last op.
    void spread_strays(bool outside) {
        std::vector<std::uint32_t> queue = stage_;
        const double floor = best_of(stage_) - beam;
        const auto by_consumed = [&](std::uint32_t a, std::uint32_t b) { return consumed(states_[a].key) < consumed(states_[b].key); };
        std::sort(queue.begin(), queue.end(), by_consumed);
        for (std::size_t i = 0; i < queue.size(); ++i) {
            const std::uint32_t from = queue[i];
            for (std::size_t c = 0; c < chain_count_; ++c) {
                const std::uint64_t at = position(states_[from].key, c);
                if (at >= in_.chains[c].size()) continue;
                const LatticeKernel& kernel = in_.chains[c][at];
                const double weight = (outside && kernel.edge ? stray_at_edge : stray);
                if (states_[from].forward + weight < floor && !(outside && kernel.edge)) continue;
                const std::size_t before = stage_.size();
                const std::uint32_t to = state_in(stage_, advance(states_[from].key, c, 1));
                link(from, to, no_op, c, 1, weight);
                if (stage_.size() != before)
                    queue.insert(std::upper_bound(queue.begin() + static_cast<std::ptrdiff_t>(i) + 1, queue.end(), to, by_consumed), to);
            }
        }
    }

    /// From the states before `op` to those after it.
    void step(std::uint32_t op) {
        const LatticeOp& o = in_.ops[op];
        const LaunchProfile& profile = (*in_.model)[o.profile];
        std::vector<std::uint32_t> next;
        const double none = o.seen ? 0.0 : nothing(o, profile);
        std::sort(stage_.begin(), stage_.end(), [&](std::uint32_t a, std::uint32_t b) { return states_[a].key < states_[b].key; });
        const double floor = best_of(stage_) - beam;
        for (const std::uint32_t from : stage_) {
            if (states_[from].forward < floor) continue;
            const std::uint64_t key = states_[from].key;
            link(from, state_in(next, key), op, 0, 0, none);
            for (std::size_t c = 0; c < chain_count_; ++c) {
                const double chain_weight = chain_count_ == 1 ? 0.0 : ((c == main_chain_) != o.side_stream ? own_chain : other_chain);
                const double preference = in_.chain_preference.empty() ? 0.0 : in_.chain_preference[op * chain_count_ + c];
                run_lengths(op, profile, c, position(key, c));
                for (std::size_t n = 0; n < lengths_.size(); ++n) {
                    if (lengths_[n] == impossible) continue;
                    const double weight = lengths_[n] + chain_weight + preference;
                    if (states_[from].forward + weight < floor - beam) continue;
                    link(from, state_in(next, advance(key, c, n + 1)), op, c, n + 1, weight);
                }
            }
        }
        prune(next);
        stage_ = std::move(next);
    }

    double nothing(const LatticeOp& op, const LaunchProfile& profile) const {
        double weight = profile.nothing;
        if (in_.memory != nullptr) weight = in_.memory->log_factor(op.signature, {}, weight, 0, false);
        if (in_.losses) weight = std::max(weight, lost);
        return weight;
    }

    /// Fills lengths_: log probability that `op` launched the next 1, 2, … kernels of the chain.
    void run_lengths(std::uint32_t op, const LaunchProfile& profile, std::size_t chain, std::uint64_t first) {
        const auto& kernels = in_.chains[chain];
        lengths_.clear();
        // Runs are short: their probabilities need no logarithms, which took a third of the time.
        now_.assign(profile.states.size(), 0);
        double fit = 0, hopeless = dying;
        for (std::uint32_t n = 0; n < longest_run && first + n < kernels.size(); ++n) {
            const LatticeKernel& kernel = kernels[first + n];
            if (op < kernel.first_op || op > kernel.last_op) break;
            if (in_.scope_fit && kernel.scope != 0) fit += in_.scope_fit(kernel.scope, op);
            if (fit < -2 * beam) break;
            then_.assign(profile.states.size(), 0);
            double alive = 0, sum = 0;
            for (std::size_t s = 0; s < profile.states.size(); ++s) {
                if (n == 0) then_[s] = profile.states[s].start;
                else if (now_[s] > 0) {
                    for (const auto& [to, share] : profile.states[s].next) then_[to] += now_[s] * share;
                }
            }
            for (std::size_t s = 0; s < profile.states.size(); ++s) {
                double here = then_[s] * in_.model->emission(profile.states[s].emission, kernel.name);
                if (here < negligible) here = 0;
                if (here > alive) alive = here;
                sum += here * profile.states[s].stop;
                then_[s] = here;
            }
            std::swap(now_, then_);
            double total = impossible;
            if (sum > 0) {
                total = std::log(sum) + profile.something;
                if (in_.memory != nullptr) {
                    total = in_.memory->log_factor(in_.ops[op].signature, std::span(kernels).subspan(first, n + 1), total,
                                                   in_.model->log_name_count(), in_.losses);
                }
                total += fit;
            }
            lengths_.push_back(total);
            hopeless *= dying_each;
            if (alive < hopeless) break;
        }
    }

    std::uint32_t find_goal() const {
        std::uint64_t all = 0;
        for (std::size_t c = 0; c < chain_count_; ++c) all = advance(all, c, in_.chains[c].size());
        for (const std::uint32_t s : stage_) {
            if (states_[s].key == all) return s;
        }
        return no_op;
    }

    void go_backward() {
        for (std::size_t i = links_.size(); i-- > 0;) {
            const Link& l = links_[i];
            if (states_[l.to].backward == impossible) continue;
            states_[l.from].backward = log_add(states_[l.from].backward, states_[l.to].backward + l.weight);
        }
    }

    void collect(LatticeResult& result, double total) {
        for (const Link& l : links_) {
            if (l.op == no_op || states_[l.to].backward == impossible) continue;
            const double log_probability = states_[l.from].forward + l.weight + states_[l.to].backward - total;
            if (log_probability < std::log(posterior_floor)) continue;
            const auto probability = static_cast<float>(std::exp(log_probability));
            const auto first = static_cast<std::uint32_t>(position(states_[l.from].key, l.chain));
            result.runs.push_back({l.op, l.chain, first, l.count, probability});
            for (std::uint32_t k = first; k < first + l.count; ++k) {
                auto& list = result.placements[l.chain][k];
                const auto found = std::find_if(list.begin(), list.end(), [&](const Placement& p) { return p.op == l.op; });
                if (found != list.end()) found->probability += probability;
                else list.push_back({l.op, probability});
            }
        }
        for (auto& chain : result.placements) {
            for (auto& list : chain) {
                std::sort(list.begin(), list.end(), [](const Placement& a, const Placement& b) { return a.probability > b.probability; });
            }
        }
    }

    const LatticeInput& in_;
    std::size_t chain_count_;
    std::size_t main_chain_ = 0;
    unsigned bits_ = 32;
    std::vector<State> states_;
    std::vector<Link> links_;
    std::vector<std::uint32_t> stage_;
    std::vector<double> lengths_, now_, then_;
};

}  // namespace

std::uint64_t SequenceMemory::key(std::uint32_t signature, std::span<const LatticeKernel> kernels, bool variants,
                                  std::size_t gap) noexcept {
    std::uint64_t hash = 0x9e3779b97f4a7c15ULL ^ signature;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        if (i == gap) continue;
        hash ^= (variants ? kernels[i].variant : kernels[i].name) + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
        hash *= 0xff51afd7ed558ccdULL;
    }
    return hash;
}

void SequenceMemory::add(std::uint32_t signature, std::span<const LatticeKernel> kernels, double weight) {
    by_name_[key(signature, kernels, false)] += static_cast<float>(weight);
    by_variant_[key(signature, kernels, true)] += static_cast<float>(weight);
    total_[signature] += static_cast<float>(weight);
    if (!losses_) return;
    for (std::size_t gap = 0; kernels.size() > 1 && gap < kernels.size(); ++gap) {
        with_gap_[key(signature, kernels, false, gap)] += static_cast<float>(weight);
    }
}

double SequenceMemory::log_factor(std::uint32_t signature, std::span<const LatticeKernel> kernels, double by_rules, double log_name_count,
                                  bool losses) const {
    const auto total = total_.find(signature);
    if (total == total_.end()) return by_rules;
    const auto count = [&](const auto& map, bool variants) {
        const auto found = map.find(key(signature, kernels, variants));
        return found == map.end() ? 0.0 : static_cast<double>(found->second);
    };
    // Half for the same launch shapes, half for the same names; a rest for what was not seen yet, since another number of tokens
    // may well bring other kernels.
    const double n = total->second;
    double seen = 0.5 * (count(by_variant_, true) + count(by_name_, false)) / n;
    if (losses) seen += std::exp(lost) * count(with_gap_, false) / n;
    const double by_memory = std::log(learned_share * seen) + log_name_count * static_cast<double>(kernels.size());
    return log_add(by_memory, std::log(1.0 - learned_share) + by_rules);
}

LatticeResult align_in_order(const LatticeInput& input) { return Aligner(input).run(); }

}  // namespace adpipe::align
