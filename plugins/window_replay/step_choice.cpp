#include "step_choice.hpp"

#include <adpipe/model/step_times.hpp>
#include <adpipe/render/number.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace adpipe::window {

namespace {

constexpr const char* not_asked_for = "not asked for";

/// Rank as the trace says, else the number of the process.
std::int64_t rank_of(const Window& window, const Step& step) {
    const auto& processes = window.trace->processes;
    const bool known = step.process < processes.size() && processes[step.process].rank >= 0;
    return known ? processes[step.process].rank : step.process;
}

bool is_asked_for(const Window& window, const Step& step, const Choice& choice) {
    const auto fits = [](std::int64_t wanted, std::int64_t value) { return wanted < 0 || wanted == value; };
    return (choice.phase == "all" || choice.phase == phase_text(step.phase)) && fits(choice.step, step.number) &&
           fits(choice.batch, step.batch_size) && fits(choice.device, step.device) && fits(choice.rank, rank_of(window, step)) &&
           (choice.graph < 0 || (step.replay && static_cast<std::uint64_t>(choice.graph) == step.graph));
}

/// A replay that lost kernels is better than none of its graph; one that was cut off is not.
std::set<std::uint32_t> graphs_with_whole_replay(const Window& window) {
    std::set<std::uint32_t> graphs;
    for (const Step& step : window.steps) {
        if (step.complete && step.captured != no_captured_graph) graphs.insert(step.captured);
    }
    return graphs;
}

/// Leaves out all but the steps of the process and device that has most of them.
void keep_one_rank(Window& window) {
    std::map<std::pair<std::uint16_t, std::int32_t>, std::size_t> count;
    for (const Step& step : window.steps) {
        if (step.chosen) ++count[{step.process, step.device}];
    }
    if (count.size() < 2) return;
    const auto best = std::max_element(count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    for (Step& step : window.steps) {
        if (!step.chosen || std::pair{step.process, step.device} == best->first) continue;
        step.chosen = false;
        step.left_out = left_out_other_rank;
    }
}

/// "decode graph 5 batch 8"
std::string kind_of(const Step& step) {
    std::string kind(phase_text(step.phase));
    if (step.replay && step.graph != no_id) kind += " graph " + std::to_string(step.graph);
    if (step.batch_size >= 0) kind += " batch " + std::to_string(step.batch_size);
    return kind;
}

/// "6 decode graph 5 batch 8, 2 prefill"; at most a few kinds.
std::string counted(const std::map<std::string, std::size_t>& kinds) {
    constexpr std::size_t most_named = 6;
    std::string text;
    std::size_t named = 0;
    for (const auto& [kind, count] : kinds) {
        if (++named > most_named) return text + ", …";
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
    }
    return text;
}

/// "phase decode, batch 16"
std::string wish(const Choice& choice) {
    std::string text = choice.phase == "all" ? "" : "phase " + choice.phase;
    const std::pair<const char*, std::int64_t> numbers[] = {
        {"step", choice.step}, {"graph", choice.graph}, {"batch", choice.batch}, {"rank", choice.rank}, {"device", choice.device}};
    for (const auto& [name, value] : numbers) {
        if (value >= 0) text += (text.empty() ? "" : ", ") + std::string(name) + " " + std::to_string(value);
    }
    return text;
}

}  // namespace

void choose_steps(Window& window, const Choice& choice) {
    const std::set<std::uint32_t> whole = graphs_with_whole_replay(window);
    for (Step& step : window.steps) {
        const bool cut = step.missing.rfind("cut off", 0) == 0;
        const bool replaceable = cut || whole.count(step.captured) != 0;
        step.left_out.clear();
        if (!is_asked_for(window, step, choice)) step.left_out = not_asked_for;
        else if (!step.complete && !choice.incomplete && replaceable) step.left_out = step.missing;
        step.chosen = step.left_out.empty();
    }
    if (!choice.all_ranks) keep_one_rank(window);
}

std::string describe_steps(const Window& window) {
    std::map<std::string, std::size_t> used, left_out;
    std::size_t chosen = 0;
    for (const Step& step : window.steps) {
        chosen += step.chosen ? 1 : 0;
        if (step.chosen) ++used[kind_of(step)];
        else ++left_out[std::string(phase_text(step.phase)) + " " + step.left_out.substr(0, step.left_out.find(':'))];
    }
    std::string text = std::to_string(chosen) + " of " + std::to_string(window.steps.size()) +
                       (window.steps.size() == 1 ? " step" : " steps");
    if (!used.empty()) text += ": " + counted(used);
    if (!left_out.empty()) text += "; left out: " + counted(left_out);
    return text;
}

Diagnostic nothing_chosen(const Window& window, const Choice& choice) {
    const Trace& trace = *window.trace;
    Diagnostic diagnostic;
    diagnostic.code = "ADP-WINDOW-001";
    diagnostic.where.file = trace.file.string();
    if (window.steps.empty()) {
        diagnostic.message = "no forward pass was found in the trace";
        if (trace.graph_runs.size() > 0) {
            diagnostic.notes.push_back("the passes ran in " + std::to_string(trace.graph_runs.size()) +
                                       " launches of graphs that were recorded without their kernels");
            diagnostic.hint = "record again with --cuda-graph-trace=node";
        } else {
            const std::size_t events = trace.kernels.size();
            constexpr const char* no_pass = " neither a replay of a graph nor a row of kernels long enough for a model";
            if (events == 0) diagnostic.notes.push_back("it holds no GPU event");
            else if (events == 1) diagnostic.notes.push_back(std::string{"its one GPU event is"} + no_pass);
            else diagnostic.notes.push_back("its " + std::to_string(events) + " GPU events are" + no_pass);
        }
        return diagnostic;
    }
    const std::string wanted = wish(choice);
    diagnostic.message = (window.steps.size() == 1
                              ? "the one step of the trace is not what was asked for"
                              : "none of the " + std::to_string(window.steps.size()) + " steps is what was asked for") +
                         (wanted.empty() ? "" : ": " + wanted);
    std::map<std::string, std::size_t> kinds;
    for (const Step& step : window.steps) {
        ++kinds[kind_of(step) + (step.missing.empty() ? "" : " (" + step.missing.substr(0, step.missing.find(':')) + ")")];
    }
    diagnostic.notes.push_back("there are: " + counted(kinds));
    diagnostic.hint = "list them with: adpipe steps " + trace.file.filename().string();
    if (wanted.rfind("phase ", 0) == 0) diagnostic.hint += "; phase \"all\" takes them whatever they are";
    return diagnostic;
}

void leave_out(Window& window, const std::vector<Straggler>& slow) {
    for (const Straggler& straggler : slow) {
        Step& step = window.steps[straggler.step];
        if (!step.chosen) continue;
        step.chosen = false;
        step.left_out = "slow: " + straggler_text(*window.trace, straggler);
    }
}

std::optional<Diagnostic> slow_steps(const Window& window, std::vector<Straggler> slow) {
    std::erase_if(slow, [&](const Straggler& straggler) { return !window.steps[straggler.step].chosen; });
    if (slow.empty()) return std::nullopt;
    const auto chosen = std::count_if(window.steps.begin(), window.steps.end(), [](const Step& step) { return step.chosen; });
    Diagnostic diagnostic;
    diagnostic.severity = Severity::warning;
    diagnostic.code = "ADP-WINDOW-002";
    diagnostic.where.file = window.trace->file.string();
    diagnostic.message = std::to_string(slow.size()) + " of the " + std::to_string(chosen) +
                         " chosen steps took much longer than others of " + (slow.size() == 1 ? "its" : "their") + " kind";
    constexpr std::size_t most_named = 5;
    std::sort(slow.begin(), slow.end(), [](const Straggler& a, const Straggler& b) { return a.wall - a.median > b.wall - b.median; });
    for (std::size_t i = 0; i < slow.size() && i < most_named; ++i) {
        const Step& step = window.steps[slow[i].step];
        diagnostic.notes.push_back("step " + std::to_string(step.number) + " (" + kind_of(step) + ") took " +
                                   render::duration_text(slow[i].wall) + ", " + straggler_text(*window.trace, slow[i]));
    }
    if (slow.size() > most_named)
        diagnostic.notes.push_back("and " + std::to_string(slow.size() - most_named) + " more; adpipe steps lists them");
    diagnostic.hint =
        "medians hardly move by them, means and maxima do; --step looks at one alone, `slow: false` of window.replay leaves them out";
    return diagnostic;
}

}  // namespace adpipe::window
