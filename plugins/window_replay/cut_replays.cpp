#include "step_finder.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace adpipe::window {

namespace {

/// The names of a replay's kernels, sorted; streams that overlap change their order from replay to replay.
std::vector<StringId> sorted_names(const Kernels& kernels, const Step& step) {
    std::vector<StringId> names;
    for (const std::uint32_t k : step.kernels) names.push_back(kernels.name[k]);
    std::sort(names.begin(), names.end());
    return names;
}

/// The fewest kernels that another replay has beyond all of this one's; 0 if another is its equal, or none holds it.
std::size_t kernels_missing(std::size_t replay, const std::vector<std::vector<StringId>>& names) {
    std::size_t fewest = 0;
    for (std::size_t other = 0; other < names.size(); ++other) {
        if (other == replay) continue;
        if (names[other] == names[replay]) return 0;
        if (names[other].size() <= names[replay].size()) continue;
        if (!std::includes(names[other].begin(), names[other].end(), names[replay].begin(), names[replay].end())) continue;
        const std::size_t missing = names[other].size() - names[replay].size();
        fewest = fewest == 0 ? missing : std::min(fewest, missing);
    }
    return fewest;
}

}  // namespace

void find_cut_replays(const Trace& trace, Window& window) {
    std::map<std::pair<std::uint16_t, std::int32_t>, std::vector<std::uint32_t>> by_device;
    for (std::uint32_t s = 0; s < window.steps.size(); ++s) by_device[{window.steps[s].process, window.steps[s].device}].push_back(s);
    for (auto& [device, replays] : by_device) {
        std::sort(replays.begin(), replays.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return window.steps[a].start < window.steps[b].start; });
        std::vector<std::vector<StringId>> names;
        for (const std::uint32_t s : replays) names.push_back(sorted_names(trace.kernels, window.steps[s]));
        for (const bool first : {true, false}) {
            const std::size_t which = first ? 0 : replays.size() - 1;
            Step& step = window.steps[replays[which]];
            const std::size_t missing = kernels_missing(which, names);
            if (missing == 0) continue;
            step.complete = false;
            step.missing = std::string("cut off at the ") + (first ? "start" : "end") + " of the recording: " + std::to_string(missing) +
                           " of " + std::to_string(missing + step.kernels.size()) + " kernels";
        }
    }
}

}  // namespace adpipe::window
