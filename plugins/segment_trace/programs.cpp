#include "programs.hpp"

#include "cut_passes.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

namespace segment {

namespace {

using adpipe::Step;
using adpipe::Window;

/// Most differences between two sequences that are searched for; memory grows with its square.
constexpr std::int32_t most_differences = 1000;
/// A step is of a program if so much of it is found there.
constexpr double enough_in_common = 0.8;

/// Myers' greedy comparison: pairs of equal elements, or nothing if there are too many differences.
bool match_middle(SymbolSpan a, SymbolSpan b, std::vector<std::pair<std::int32_t, std::int32_t>>& pairs) {
    const auto n = static_cast<std::int32_t>(a.size());
    const auto m = static_cast<std::int32_t>(b.size());
    const std::int32_t limit = std::min(n + m, most_differences);
    std::vector<std::int32_t> reach(2 * static_cast<std::size_t>(limit) + 3, 0);
    const auto at = [&](std::int32_t diagonal) -> std::int32_t& { return reach[static_cast<std::size_t>(diagonal + limit + 1)]; };
    std::vector<std::vector<std::int32_t>> history;
    for (std::int32_t d = 0; d <= limit; ++d) {
        history.emplace_back(reach);
        for (std::int32_t k = -d; k <= d; k += 2) {
            std::int32_t x = k == -d || (k != d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
            while (x < n && x - k < m && x >= 0 && x - k >= 0 && a[static_cast<std::size_t>(x)] == b[static_cast<std::size_t>(x - k)]) {
                ++x;
            }
            at(k) = x;
            if (x < n || x - k < m) continue;
            // Walk back through the history.
            std::int32_t i = n;
            std::int32_t j = m;
            for (std::int32_t step = d; step >= 0; --step) {
                const std::vector<std::int32_t>& before = history[static_cast<std::size_t>(step)];
                const auto was = [&](std::int32_t diagonal) { return before[static_cast<std::size_t>(diagonal + limit + 1)]; };
                const std::int32_t diagonal = i - j;
                const bool down = step > 0 && (diagonal == -step || (diagonal != step && was(diagonal - 1) < was(diagonal + 1)));
                const std::int32_t from = step == 0 ? 0 : down ? diagonal + 1 : diagonal - 1;
                const std::int32_t from_x = step == 0 ? 0 : was(from);
                const std::int32_t snake_x = step == 0 ? 0 : down ? from_x : from_x + 1;
                while (i > snake_x) pairs.emplace_back(--i, --j);
                i = from_x;
                j = from_x - from;
            }
            return true;
        }
    }
    return false;
}

/// A run of equal elements of two sequences.
struct CommonRun {
    std::size_t in_a = 0;
    std::size_t in_b = 0;
    std::size_t length = 0;
};

/// Hashes of all runs of `length` elements, by their beginnings.
std::vector<std::uint64_t> run_hashes(SymbolSpan sequence, std::size_t length) {
    constexpr std::uint64_t factor = 0x9e3779b97f4a7c15U;
    std::uint64_t power = 1;
    for (std::size_t i = 0; i < length; ++i) power *= factor;
    std::vector<std::uint64_t> hashes;
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < sequence.size(); ++i) {
        hash = hash * factor + sequence[i] + 1;
        if (i >= length) hash -= power * (sequence[i - length] + std::uint64_t{1});
        if (i + 1 >= length) hashes.push_back(hash);
    }
    return hashes;
}

/// A common run of that length; the last one in `b` if `last`, else the first.
std::optional<CommonRun> common_run_of(SymbolSpan a, SymbolSpan b, std::size_t length, bool last) {
    if (length == 0 || length > a.size() || length > b.size()) return {};
    std::unordered_map<std::uint64_t, std::size_t> in_b;
    const std::vector<std::uint64_t> of_b = run_hashes(b, length);
    for (std::size_t i = 0; i < of_b.size(); ++i) {
        if (last) in_b[of_b[i]] = i;
        else in_b.emplace(of_b[i], i);
    }
    const std::vector<std::uint64_t> of_a = run_hashes(a, length);
    for (std::size_t i = 0; i < of_a.size(); ++i) {
        const auto found = in_b.find(of_a[i]);
        if (found == in_b.end()) continue;
        const SymbolSpan run = a.subspan(i, length);
        if (std::equal(run.begin(), run.end(), b.begin() + static_cast<std::ptrdiff_t>(found->second)))
            return CommonRun{i, found->second, length};
    }
    return {};
}

CommonRun longest_common_run(SymbolSpan a, SymbolSpan b, bool last) {
    CommonRun best;
    std::size_t too_long = std::min(a.size(), b.size()) + 1;
    while (best.length + 1 < too_long) {
        const std::size_t length = best.length + (too_long - best.length) / 2;
        if (const auto run = common_run_of(a, b, length, last)) best = *run;
        else too_long = length;
    }
    return best;
}

/// Tells steps apart by what they run, without a copy of what is known of their kernels.
class StepHasher {
public:
    StepHasher(const adpipe::Trace& trace, SymbolTable& table) : trace_{trace}, table_{table} {}

    std::uint64_t hash_of(const Step& step) {
        const adpipe::Kernels& all = trace_.kernels;
        std::uint64_t hash = 0xcbf29ce484222325U;
        const auto add = [&](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3U; };
        std::unordered_map<std::int64_t, std::uint64_t> streams;  // by first use: their numbers differ from run to run
        std::int64_t last_stream = 0;
        std::uint64_t number = 0;
        for (const std::uint32_t k : step.kernels) {
            const std::int64_t stream = all.stream.empty() ? 0 : all.stream[k];
            if (streams.empty() || stream != last_stream) {
                number = streams.emplace(stream, streams.size()).first->second;
                last_stream = stream;
            }
            add(symbol_of(k));
            add(number);
        }
        add(step.kernels.size());
        return hash;
    }

private:
    Symbol symbol_of(std::uint32_t k) {
        const adpipe::Kernels& all = trace_.kernels;
        const adpipe::KernelKind kind = all.kind.empty() ? adpipe::KernelKind::kernel : all.kind[k];
        const adpipe::StringId name = all.name.empty() ? 0 : all.name[k];
        if (name == 0) return table_.intern(trace_.string(name), kind);
        if (name >= of_name_.size()) of_name_.resize(name + std::size_t{1});
        if (!of_name_[name]) of_name_[name] = table_.intern(trace_.string(name), kind);
        return *of_name_[name];
    }

    const adpipe::Trace& trace_;
    SymbolTable& table_;
    std::vector<std::optional<Symbol>> of_name_;
};

std::string name_of(const Step& step) {
    std::string name{adpipe::phase_text(step.phase)};
    if (step.phase == adpipe::Phase::unknown) name = "step";
    if (step.batch_size >= 0) name += "_bs" + std::to_string(step.batch_size);
    return name;
}

/// What the program's steps have in common.
std::string name_of(const Program& program, const Window& window) {
    Step common = window.steps[program.instances.front().step];
    for (const Instance& instance : program.instances) {
        const Step& step = window.steps[instance.step];
        if (step.phase != common.phase) common.phase = adpipe::Phase::unknown;
        if (step.batch_size != common.batch_size) common.batch_size = -1;
    }
    return name_of(common);
}

std::vector<std::uint32_t> chosen_steps(const Window& window) {
    std::vector<std::uint32_t> chosen;
    for (std::uint32_t s = 0; s < window.steps.size(); ++s) {
        if (window.steps[s].chosen && !window.steps[s].kernels.empty()) chosen.push_back(s);
    }
    return chosen;
}

/// Replaces one step by its passes. `kernels`: of each pass, indices into the step's.
void replace_by_passes(Window& window, const Step& step, const StepKernels& of_step, const std::vector<Pass>& passes,
                       const std::vector<std::vector<std::uint32_t>>& kernels) {
    for (std::size_t p = 0; p < passes.size(); ++p) {
        Step pass = step;
        pass.kernels.clear();
        for (const std::uint32_t k : kernels[p]) pass.kernels.push_back(of_step.kernel[k]);
        pass.complete = step.complete && !passes[p].cut_at_begin && !passes[p].cut_at_end;
        pass.reason = "pass " + std::to_string(p + 1) + " of " + std::to_string(passes.size()) + " in one window";
        if (!pass.kernels.empty()) {
            const adpipe::Kernels& all = window.trace->kernels;
            pass.start = all.start[pass.kernels.front()];
            pass.end = pass.start;
            for (const std::uint32_t k : pass.kernels) {
                pass.start = std::min(pass.start, all.start[k]);
                pass.end = std::max(pass.end, all.end[k]);
            }
        }
        window.steps.push_back(std::move(pass));
    }
}

void number_steps(Window& window) {
    std::fill(window.step_of_kernel.begin(), window.step_of_kernel.end(), Window::no_step);
    for (std::uint32_t s = 0; s < window.steps.size(); ++s) {
        window.steps[s].number = s;
        for (const std::uint32_t k : window.steps[s].kernels) window.step_of_kernel[k] = s;
    }
}

/// A window in which every chosen step is one pass.
std::shared_ptr<const Window> one_pass_a_step(std::shared_ptr<const Window> window, SymbolTable& table, const LayerFinder& finder) {
    const auto may_hold_several = [](const Step& step) { return step.chosen && !step.replay && !step.kernels.empty(); };
    if (std::none_of(window->steps.begin(), window->steps.end(), may_hold_several)) return window;
    auto split = std::make_shared<Window>();
    *split = *window;
    split->steps.clear();
    bool changed = false;
    const bool rows_are_places = rows_are_places_in_file(*window->trace);
    for (const Step& step : window->steps) {
        if (may_hold_several(step)) {
            StepKernels kernels = kernels_of(*window->trace, step, table, rows_are_places);
            if (const auto layers = find_step_layers(table, kernels, finder)) {
                const std::vector<Pass> passes = passes_of(*layers, step.replay);
                if (passes.size() > 1) {
                    replace_by_passes(*split, step, kernels, passes, split_by_pass(table, kernels, *layers, passes));
                    changed = true;
                    continue;
                }
            }
        }
        split->steps.push_back(step);
    }
    if (!changed) return window;
    number_steps(*split);
    return split;
}

struct Distinct {
    StepKernels kernels;
    std::vector<std::uint32_t> steps;
    bool complete = false;
};

/// Steps by what they run; the likeliest to be whole and typical first.
std::vector<Distinct> distinct_steps(const Window& window, SymbolTable& table) {
    std::vector<Distinct> distinct;
    std::unordered_map<std::uint64_t, std::size_t> known;
    StepHasher hasher{*window.trace, table};
    const bool rows_are_places = rows_are_places_in_file(*window.trace);
    for (const std::uint32_t s : chosen_steps(window)) {
        const auto [it, is_new] = known.emplace(hasher.hash_of(window.steps[s]), distinct.size());
        if (is_new) distinct.push_back({kernels_of(*window.trace, window.steps[s], table, rows_are_places), {}, false});
        distinct[it->second].steps.push_back(s);
        distinct[it->second].complete |= window.steps[s].complete;
    }
    std::stable_sort(distinct.begin(), distinct.end(), [](const Distinct& a, const Distinct& b) {
        if (a.complete != b.complete) return a.complete;
        if (a.steps.size() != b.steps.size()) return a.steps.size() > b.steps.size();
        return a.kernels.symbols.size() > b.kernels.symbols.size();
    });
    return distinct;
}

bool join_program(Programs& found, const Distinct& distinct, bool same_names_only) {
    for (Program& program : found.programs) {
        const std::string& name = program.name;
        if (same_names_only && name != name_of(found.window->steps[distinct.steps.front()])) continue;
        std::vector<std::int32_t> matched = match_sequences(distinct.kernels.symbols, program.kernels.symbols);
        const auto paired = std::count_if(matched.begin(), matched.end(), [](std::int32_t m) { return m >= 0; });
        if (static_cast<double>(paired) < enough_in_common * static_cast<double>(matched.size())) continue;
        for (const std::uint32_t s : distinct.steps) program.instances.push_back({s, matched});
        return true;
    }
    return false;
}

void name_programs(std::vector<Program>& programs, const Window& window) {
    std::unordered_map<std::string, std::size_t> seen;
    for (Program& program : programs) {
        program.name = name_of(program, window);
        const std::size_t number = ++seen[program.name];
        if (number > 1) program.name += "_" + std::to_string(number);
    }
}

void leave_out_steps_without_layers(Programs& found) {
    if (found.without_layers.empty()) return;
    std::sort(found.without_layers.begin(), found.without_layers.end());
    auto window = std::make_shared<Window>(*found.window);
    for (const std::uint32_t s : found.without_layers) window->steps[s].chosen = false;
    found.window = std::move(window);
}

/// What repeats in the order of the file only is in that order from here on, for all who read the steps.
void use_file_order(Programs& found, const Distinct& distinct) {
    auto window = std::make_shared<Window>(*found.window);
    const std::vector<std::int64_t>& row = window->trace->kernels.row;
    for (const std::uint32_t s : distinct.steps) {
        std::vector<std::uint32_t>& kernels = window->steps[s].kernels;
        std::stable_sort(kernels.begin(), kernels.end(), [&](std::uint32_t a, std::uint32_t b) { return row[a] < row[b]; });
    }
    found.window = std::move(window);
}

bool any_times_mixed_up(const Programs& found) {
    return std::any_of(found.programs.begin(), found.programs.end(), [](const Program& program) { return program.layers.times_mixed_up; });
}

/// Times that are mixed up are so in all steps of a trace.
bool join_program_in_file_order(Programs& found, Distinct& distinct) {
    if (distinct.kernels.row.empty() || !any_times_mixed_up(found)) return false;
    Distinct in_file = distinct;
    put_in_file_order(in_file.kernels);
    if (!join_program(found, in_file, true)) return false;
    use_file_order(found, in_file);
    return true;
}

/// From a whole to a whole, or to a part that kept one of its ends.
std::vector<std::int32_t> match_whole(SymbolSpan a, SymbolSpan b) {
    std::vector<std::int32_t> partner(a.size(), -1);
    const std::size_t shorter = std::min(a.size(), b.size());
    std::size_t prefix = 0;
    while (prefix < shorter && a[prefix] == b[prefix]) ++prefix;
    std::size_t suffix = 0;
    while (suffix < shorter && a[a.size() - 1 - suffix] == b[b.size() - 1 - suffix]) ++suffix;
    // A sequence that was cut off matches at its other end: that end goes first.
    if (prefix >= suffix) suffix = std::min(suffix, shorter - prefix);
    else prefix = std::min(prefix, shorter - suffix);
    for (std::size_t i = 0; i < prefix; ++i) partner[i] = static_cast<std::int32_t>(i);
    for (std::size_t i = 0; i < suffix; ++i) {
        partner[a.size() - 1 - i] = static_cast<std::int32_t>(b.size() - 1 - i);
    }
    std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
    if (match_middle(a.subspan(prefix, a.size() - prefix - suffix), b.subspan(prefix, b.size() - prefix - suffix), pairs)) {
        const auto offset = static_cast<std::int32_t>(prefix);
        for (const auto& [i, j] : pairs) partner[static_cast<std::size_t>(i + offset)] = j + offset;
    }
    return partner;
}

std::vector<std::int32_t> match_around(SymbolSpan a, SymbolSpan b, const CommonRun& run) {
    std::vector<std::int32_t> partner = match_whole(a.first(run.in_a), b.first(run.in_b));
    for (std::size_t i = 0; i < run.length; ++i) partner.push_back(static_cast<std::int32_t>(run.in_b + i));
    const std::size_t end = run.in_b + run.length;
    for (const std::int32_t p : match_whole(a.subspan(run.in_a + run.length), b.subspan(end))) {
        partner.push_back(p < 0 ? p : p + static_cast<std::int32_t>(end));
    }
    return partner;
}

}  // namespace

std::vector<std::int32_t> match_sequences(SymbolSpan a, SymbolSpan b) {
    if (!b.empty() && 10 * a.size() < 9 * b.size()) {
        // A part that was cut off, of many that look alike. What does not begin as the whole does was cut off at its
        // beginning.
        const bool cut_at_begin = !a.empty() && a.front() != b.front();
        const CommonRun run = longest_common_run(a, b, cut_at_begin);
        if (2 * run.length > a.size()) return match_around(a, b, run);
    }
    return match_whole(a, b);
}

Programs find_programs(std::shared_ptr<const Window> window, SymbolTable& table, const LayerFinder& finder) {
    Programs found;
    found.window = one_pass_a_step(std::move(window), table, finder);
    for (Distinct& distinct : distinct_steps(*found.window, table)) {
        if (join_program(found, distinct, true) || join_program_in_file_order(found, distinct)) continue;
        auto layers = find_step_layers(table, distinct.kernels, finder);
        if (!layers) {
            if (join_program(found, distinct, false)) continue;
            found.without_layers.insert(found.without_layers.end(), distinct.steps.begin(), distinct.steps.end());
            continue;
        }
        if (layers->times_mixed_up) use_file_order(found, distinct);
        Program program;
        program.name = name_of(found.window->steps[distinct.steps.front()]);
        program.step = distinct.steps.front();
        program.numbers = number_layers(*layers);
        program.layers = std::move(*layers);
        std::vector<std::int32_t> identity(distinct.kernels.symbols.size());
        std::iota(identity.begin(), identity.end(), 0);
        program.kernels = std::move(distinct.kernels);
        for (const std::uint32_t s : distinct.steps) program.instances.push_back({s, identity});
        found.programs.push_back(std::move(program));
    }
    leave_out_cut_passes(found);
    name_programs(found.programs, *found.window);
    leave_out_steps_without_layers(found);
    return found;
}

}  // namespace segment
