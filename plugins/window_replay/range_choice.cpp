#include "range_choice.hpp"

#include "range_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace adpipe::window {

namespace {

using Source = Annotations::Source;

bool may_be_step(Source source) { return source == Source::nvtx || source == Source::user; }

/// What schedulers of servers, and the profiler, call one step; the more telling ones first.
constexpr std::array<std::string_view, 6> names_of_steps{"execute_model", "forward_step",  "run_batch",
                                                         "model_forward", "forward_batch", "ProfilerStep#"};

/// How well a name says that its range is a step; 0: not at all.
int rank_of_name(const std::string& text) {
    const Phase phase = facts_of_text(text).phase;
    if (phase == Phase::prefill || phase == Phase::decode || phase == Phase::mixed) return static_cast<int>(names_of_steps.size()) + 1;
    for (std::size_t i = 0; i < names_of_steps.size(); ++i) {
        if (text.find(names_of_steps[i]) != std::string::npos) return static_cast<int>(names_of_steps.size() - i);
    }
    return 0;
}

/// Which names belong to ranges that the program made, each once.
std::vector<bool> used_names(const Trace& trace) {
    std::vector<bool> used(trace.strings.size(), false);
    const Annotations& ranges = trace.annotations;
    for (std::size_t r = 0; r < ranges.size(); ++r) {
        if (may_be_step(ranges.source[r])) used[ranges.name[r]] = true;
    }
    return used;
}

}  // namespace

StepRanges::StepRanges(const Trace& trace, const std::vector<bool>& chosen) : ranges_(trace.annotations) {
    for (std::uint32_t r = 0; r < ranges_.size(); ++r) {
        if (may_be_step(ranges_.source[r]) && chosen[ranges_.name[r]]) by_thread_[{ranges_.process[r], ranges_.thread[r]}].push_back(r);
    }
    for (auto& [thread, rows] : by_thread_) {
        std::sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
            return std::pair(ranges_.start[a], -ranges_.end[a]) < std::pair(ranges_.start[b], -ranges_.end[b]);
        });
        Rows outermost;
        for (const std::uint32_t r : rows) {
            if (outermost.empty() || ranges_.start[r] >= ranges_.end[outermost.back()]) outermost.push_back(r);
        }
        rows = std::move(outermost);
    }
}

std::uint32_t StepRanges::find(std::uint16_t process, std::uint64_t thread, Nanoseconds time) const {
    if (const auto own = by_thread_.find({process, thread}); own != by_thread_.end()) return find_in(own->second, time);
    const auto first = by_thread_.lower_bound({process, 0});
    if (first == by_thread_.end() || first->first.first != process) return none;
    const auto second = std::next(first);
    const bool several = second != by_thread_.end() && second->first.first == process;
    return several ? none : find_in(first->second, time);
}

std::uint32_t StepRanges::find_in(const Rows& rows, Nanoseconds time) const {
    const auto after = std::upper_bound(rows.begin(), rows.end(), time,
                                        [&](Nanoseconds t, std::uint32_t r) { return t < ranges_.start[r]; });
    if (after == rows.begin()) return none;
    const std::uint32_t r = *(after - 1);
    return time <= ranges_.end[r] ? r : none;
}

bool name_matches(std::string_view pattern, std::string_view name) {
    std::size_t at = 0;
    while (!pattern.empty()) {
        const std::string_view part = pattern.substr(0, pattern.find('*'));
        const std::size_t found = name.find(part, at);
        if (found == std::string_view::npos) return false;
        at = found + part.size();
        pattern.remove_prefix(std::min(pattern.size(), part.size() + 1));
    }
    return true;
}

std::string without_numbers(std::string_view name) {
    std::string text;
    for (const char c : name) {
        if (std::isdigit(static_cast<unsigned char>(c)) == 0) text += c;
        else if (text.empty() || text.back() != '#') text += '#';
    }
    return text;
}

std::vector<bool> choose_range_names(const Trace& trace, const std::string& pattern) {
    std::vector<bool> chosen = used_names(trace);
    if (!pattern.empty()) {
        for (std::size_t text = 0; text < chosen.size(); ++text) chosen[text] = chosen[text] && name_matches(pattern, trace.strings[text]);
        return chosen;
    }
    std::vector<int> rank(chosen.size(), 0);
    for (std::size_t text = 0; text < chosen.size(); ++text) {
        if (chosen[text]) rank[text] = rank_of_name(trace.strings[text]);
    }
    const int best = rank.empty() ? 0 : *std::max_element(rank.begin(), rank.end());
    const bool by_phase = best > static_cast<int>(names_of_steps.size());
    for (std::size_t text = 0; text < chosen.size(); ++text) {
        // Where the phase is in the names of steps, a warm-up's is as well.
        const bool warm_up = by_phase && chosen[text] && facts_of_text(trace.strings[text]).phase == Phase::capture;
        chosen[text] = best > 0 && (rank[text] == best || warm_up);
    }
    return chosen;
}

Diagnostic no_step_range(const Trace& trace, const std::string& pattern) {
    Diagnostic diagnostic;
    diagnostic.code = "ADP-WINDOW-003";
    diagnostic.where.file = trace.file.string();
    std::map<std::string, std::size_t> names;
    const Annotations& ranges = trace.annotations;
    for (std::size_t r = 0; r < ranges.size(); ++r) {
        if (may_be_step(ranges.source[r])) ++names[without_numbers(trace.string(ranges.name[r]))];
    }
    diagnostic.message = pattern.empty() ? "no range that launched GPU work is named like a step"
                                         : "no range with '" + pattern + "' in its name launched GPU work";
    if (trace.launches.size() == 0)
        diagnostic.notes.emplace_back("the trace holds no calls that launched kernels, so no kernel can be tied to a range");
    std::vector<std::pair<std::size_t, std::string>> often;
    for (const auto& [name, count] : names) often.emplace_back(count, name);
    std::sort(often.rbegin(), often.rend());
    constexpr std::size_t most_named = 6;
    std::string list;
    for (std::size_t i = 0; i < often.size() && i < most_named; ++i) {
        list.append(list.empty() ? "" : ", ").append(std::to_string(often[i].first)).append(" '").append(often[i].second).append("'");
    }
    if (often.size() > most_named) list += ", …";
    diagnostic.notes.push_back(often.empty() ? "the program named no ranges (NVTX, record_function)"
                                             : "ranges, with # for numbers: " + list);
    diagnostic.hint = often.empty() ? "window.replay finds steps without ranges"
                                    : "name a part of the name of those that are a step each, or use window.replay";
    return diagnostic;
}

}  // namespace adpipe::window
