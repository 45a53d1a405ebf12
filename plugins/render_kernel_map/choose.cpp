#include "choose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace adpipe::kernel_map {

namespace {

using render::LayerProfile;

/// Layers of a trace: an attribution with the graph and the layers that it speaks of.
struct Source {
    std::shared_ptr<const Layers> layers;
    std::shared_ptr<const Attribution> attribution;
    std::shared_ptr<const Operators> operators;  ///< of its trace; may be none
    render::LayerProfiles profiles;
};

/// The kinds of layer of a program in steps of one phase and batch size.
struct Chosen {
    const Source* source = nullptr;
    std::vector<const LayerProfile*> kinds;
};

[[noreturn]] void throw_missing(const std::string& what, const std::string& hint) { throw Error("ADP-RND-022", what, hint); }

std::vector<Source> sources(const Context& context) {
    const auto graphs = context.many<GraphModel>("graph");
    const auto layers = context.many<Layers>("layers");
    std::vector<Source> found;
    for (auto& attribution : context.many<Attribution>("attribution")) {
        const std::uint64_t digest = attribution->graph_digest;
        const auto graph = std::find_if(graphs.begin(), graphs.end(), [&](const auto& g) { return g->digest() == digest; });
        // The last membership of a graph is the one that stages behind it see.
        const auto members = std::find_if(layers.rbegin(), layers.rend(), [&](const auto& l) { return l->graph_digest == digest; });
        if (graph == graphs.end() || members == layers.rend()) continue;
        Source source{*members, attribution, operators_of(context.many<Operators>("operators"), *attribution->window->trace), {}};
        source.profiles = render::layer_profiles(**graph, **members, *attribution);
        found.push_back(std::move(source));
    }
    return found;
}

bool has_phase(const LayerProfile& profile, const std::string& phase) { return phase_text(profile.phase) == phase; }

/// Profiles of the phase, or all where the trace has none of it; of these the batch size with the most executions of
/// layers.
Chosen choose(const Source& source, const SideChoice& choice, bool phase_is_a_must) {
    const auto& profiles = source.profiles.profiles;
    const bool any = std::any_of(profiles.begin(), profiles.end(), [&](const auto& p) { return has_phase(p, choice.phase); });
    std::map<std::tuple<std::uint16_t, Phase, std::int64_t>, std::pair<std::uint64_t, std::vector<const LayerProfile*>>> groups;
    for (const LayerProfile& profile : profiles) {
        if ((any || phase_is_a_must) && !has_phase(profile, choice.phase)) continue;
        if (choice.batch_size >= 0 && profile.batch_size != choice.batch_size) continue;
        auto& [executions, kinds] = groups[{profile.module, profile.phase, profile.batch_size}];
        executions += profile.executions;
        kinds.push_back(&profile);
    }
    const auto most = std::max_element(groups.begin(), groups.end(),
                                       [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
    return {&source, most == groups.end() ? std::vector<const LayerProfile*>{} : most->second.second};
}

std::set<LayerId> numbers_of(const Chosen& side, const LayerProfile& profile) {
    std::set<LayerId> numbers;
    for (const std::uint32_t l : profile.layers) numbers.insert(side.source->layers->layers[l].number);
    return numbers;
}

using KindPair = std::pair<const LayerProfile*, const LayerProfile*>;

/// Kinds that share layers; where the sides number their layers differently, kinds in order.
std::vector<KindPair> kind_pairs(const Chosen& left, const Chosen& right, const LayerSelection& wanted) {
    const bool named = !wanted.all && !wanted.layers.empty();
    std::vector<KindPair> pairs;
    bool share_numbers = false;
    for (const LayerProfile* a : left.kinds) {
        const std::set<LayerId> numbers = numbers_of(left, *a);
        for (const LayerProfile* b : right.kinds) {
            bool shared = false;
            for (const LayerId number : numbers_of(right, *b)) {
                if (numbers.count(number) == 0) continue;
                share_numbers = true;
                shared = shared || !named || wanted.contains(number);
            }
            if (shared) pairs.emplace_back(a, b);
        }
    }
    if (share_numbers || named) return pairs;
    for (std::size_t i = 0; i < std::min(left.kinds.size(), right.kinds.size()); ++i) pairs.emplace_back(left.kinds[i], right.kinds[i]);
    return pairs;
}

std::string steps_there_are(const Source& source) {
    std::set<std::string> titles;
    for (const LayerProfile& profile : source.profiles.profiles) titles.insert(steps_title(profile));
    std::string text;
    for (const std::string& title : titles) text += (text.empty() ? "" : "; ") + title;
    return text.empty() ? "no layers" : text;
}

Chosen choose_or_throw(const Source& source, const SideChoice& choice, bool phase_is_a_must, const char* which) {
    Chosen chosen = choose(source, choice, phase_is_a_must);
    if (!chosen.kinds.empty()) return chosen;
    std::string wanted = phase_is_a_must ? choice.phase + " steps" : "steps";
    if (choice.batch_size >= 0) wanted += fmt::format(" of batch size {}", choice.batch_size);
    throw_missing(fmt::format("the {} side of the map needs layers in {}; {} has: {}", which, wanted,
                              source.attribution->window->trace->file.filename().string(), steps_there_are(source)),
                  "give a second trace, or choose steps with the options of the stage and of the window stages");
}

constexpr std::size_t most_pairs = 4'000'000;

KernelMap map_of(const Chosen& left, const Chosen& right, const KindPair& pair, const KernelNames& names) {
    const std::size_t rows = pair.first->rows.size();
    const std::size_t columns = pair.second->rows.size();
    if (rows > 0 && columns > most_pairs / rows) {
        throw Error("ADP-RND-023", fmt::format("layers of {} and {} kernels are too long to be laid side by side", rows, columns),
                    "`adpipe tables` writes each of them; `adpipe layers TRACE` shows whether these are layers at all");
    }
    return make_map(make_side(*left.source->layers, *left.source->attribution, *pair.first, names, left.source->operators.get()),
                    make_side(*right.source->layers, *right.source->attribution, *pair.second, names, right.source->operators.get()));
}

}  // namespace

std::vector<KernelMap> choose_maps(Context& context, const SideChoice& left, const SideChoice& right, const KernelNames& names) {
    const std::vector<Source> all = sources(context);
    if (all.empty())
        throw_missing("there is no attribution with its graph and layers to draw a map from", "put a segment or align stage before it");
    const bool one_trace = all.size() == 1;
    const Chosen a = choose_or_throw(all.front(), left, one_trace, "left");
    const Chosen b = choose_or_throw(all.back(), right, one_trace, "right");
    std::vector<KernelMap> maps;
    for (const KindPair& pair : kind_pairs(a, b, context.layers())) {
        if (context.stop_requested()) return maps;
        maps.push_back(map_of(a, b, pair, names));
    }
    if (maps.empty()) {
        throw Error("ADP-RND-022", "none of the layers asked for is on both sides of the map",
                    "leave `layer:` (or --layer) out: every kind of layer is shown then");
    }
    return maps;
}

}  // namespace adpipe::kernel_map
