#include "cut_passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace segment {

namespace {

using adpipe::Step;
using adpipe::Window;
using Rank = std::pair<std::uint16_t, std::int32_t>;  ///< process, device

/// A step that a program's layers were found in.
struct PassLayers {
    std::size_t program = 0;
    std::uint32_t step = 0;
    std::size_t layers = 0;
    bool begins_in_layer = false;  ///< what is before all layers is how a layer ends, or nothing
    bool ends_in_layer = false;    ///< what is behind all layers is how a layer begins, or nothing
};

/// The kernels of each layer of a program, without those of other streams.
std::map<std::int32_t, Symbols> symbols_of_layers(const Program& program) {
    std::map<std::int32_t, Symbols> of_layer;
    for (std::size_t k = 0; k < program.kernels.symbols.size(); ++k) {
        const Place& place = program.layers.places[k];
        if (place.on_main_stream && place.layer >= 0) of_layer[place.layer].push_back(program.kernels.symbols[k]);
    }
    return of_layer;
}

PassLayers look_at(const Program& program, const std::map<std::int32_t, Symbols>& of_layer, const Instance& instance) {
    PassLayers pass;
    pass.step = instance.step;
    std::set<std::int32_t> seen;
    Symbols before;
    Symbols behind;
    for (const std::int32_t matched : instance.matched) {
        if (matched < 0) continue;
        const auto k = static_cast<std::size_t>(matched);
        const Place& place = program.layers.places[k];
        if (!place.on_main_stream || place.layer == Place::unknown) continue;
        if (place.layer >= 0) {
            seen.insert(place.layer);
            behind.clear();
        } else {
            (seen.empty() ? before : behind).push_back(program.kernels.symbols[k]);
        }
    }
    pass.layers = seen.size();
    for (const auto& [layer, symbols] : of_layer) {
        const auto fits = [&](const Symbols& part) { return part.size() < symbols.size(); };
        pass.begins_in_layer |= fits(before) && std::equal(before.rbegin(), before.rend(), symbols.rbegin());
        pass.ends_in_layer |= fits(behind) && std::equal(behind.begin(), behind.end(), symbols.begin());
    }
    return pass;
}

/// First and last step of every process and device.
std::map<Rank, std::pair<std::uint32_t, std::uint32_t>> edges_of(const Window& window) {
    std::map<Rank, std::pair<std::uint32_t, std::uint32_t>> edges;
    for (std::uint32_t s = 0; s < window.steps.size(); ++s) {
        const Step& step = window.steps[s];
        if (step.kernels.empty()) continue;
        auto& [first, last] = edges.try_emplace({step.process, step.device}, s, s).first->second;
        if (step.start < window.steps[first].start) first = s;
        if (step.end > window.steps[last].end) last = s;
    }
    return edges;
}

/// "cut off at the end of the recording: 4 of 24 layers"; empty where the pass is whole.
std::string what_is_cut(const PassLayers& pass, std::size_t whole, bool is_first, bool is_last) {
    if (pass.layers >= whole) return {};
    const bool at_begin = is_first && pass.begins_in_layer;
    const bool at_end = is_last && pass.ends_in_layer;
    if (at_begin == at_end) return {};
    return fmt::format("cut off at the {} of the recording: {} of {} layers", at_begin ? "start" : "end", pass.layers, whole);
}

std::vector<PassLayers> all_passes(const Programs& found) {
    std::vector<PassLayers> passes;
    for (std::size_t p = 0; p < found.programs.size(); ++p) {
        const Program& program = found.programs[p];
        const std::map<std::int32_t, Symbols> of_layer = symbols_of_layers(program);
        for (const Instance& instance : program.instances) {
            passes.push_back(look_at(program, of_layer, instance));
            passes.back().program = p;
        }
    }
    return passes;
}

void remove_instances(Programs& found) {
    const auto is_cut = [&](std::uint32_t step) {
        return std::find(found.cut_off.begin(), found.cut_off.end(), step) != found.cut_off.end();
    };
    for (Program& program : found.programs)
        std::erase_if(program.instances, [&](const Instance& instance) { return is_cut(instance.step); });
    std::erase_if(found.programs, [](const Program& program) { return program.instances.empty(); });
}

}  // namespace

void leave_out_cut_passes(Programs& found) {
    const auto edges = edges_of(*found.window);
    const std::vector<PassLayers> passes = all_passes(found);
    const auto rank_of = [&](const PassLayers& pass) {
        const Step& step = found.window->steps[pass.step];
        return Rank{step.process, step.device};
    };
    std::map<Rank, std::size_t> whole;                                 // layers of the model; ranks may have a share of them each
    std::set<std::tuple<Rank, std::size_t, std::size_t>> seen_inside;  // programs and layers of steps at neither edge
    for (const PassLayers& pass : passes) {
        const Rank rank = rank_of(pass);
        std::size_t& most = whole[rank];
        most = std::max(most, pass.layers);
        const auto& [first, last] = edges.at(rank);
        if (pass.step != first && pass.step != last) seen_inside.insert({rank, pass.program, pass.layers});
    }
    std::vector<std::pair<std::uint32_t, std::string>> cut;
    for (const PassLayers& pass : passes) {
        const Step& step = found.window->steps[pass.step];
        if (step.replay) continue;  // whose kernels are known, so that what is missing was seen before
        const Rank rank = rank_of(pass);
        if (seen_inside.count({rank, pass.program, pass.layers}) > 0) continue;
        const auto& [first, last] = edges.at(rank);
        std::string what = what_is_cut(pass, whole.at(rank), pass.step == first, pass.step == last);
        if (!what.empty()) cut.emplace_back(pass.step, std::move(what));
    }
    if (cut.empty()) return;
    auto window = std::make_shared<Window>(*found.window);
    for (auto& [s, what] : cut) {
        Step& step = window->steps[s];
        step.complete = step.chosen = false;
        step.missing = what;
        step.left_out = std::move(what);
        found.cut_off.push_back(s);
    }
    found.window = std::move(window);
    remove_instances(found);
}

}  // namespace segment
