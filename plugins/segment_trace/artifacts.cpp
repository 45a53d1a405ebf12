#include "artifacts.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace segment {

namespace {

using adpipe::Group;
using adpipe::KernelCategory;
using adpipe::VertexId;

std::string two_digits(std::size_t number) { return (number < 10 ? "0" : "") + std::to_string(number); }

/// Letters, digits and '_' only, as names in a graph are.
std::string identifier(const std::string& text) {
    std::string out;
    for (const char c : text) out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    return out;
}

/// The layer's parts by what its kernels are: up to the projection behind the mixer it is attention, then the
/// feed-forward network.
class GroupTeller {
public:
    GroupTeller(const SymbolTable& table, const StepKernels& kernels) : table_{table}, kernels_{kernels} {}

    std::vector<Group> groups_of(const std::vector<std::uint32_t>& layer) const {
        std::size_t mixer_end = 0;
        bool experts = false;
        bool state_space = false;
        for (std::size_t i = 0; i < layer.size(); ++i) {
            const SymbolInfo& info = info_of(layer[i]);
            if (info.mixes_tokens()) mixer_end = i + 1;
            experts = experts || info.category == KernelCategory::moe;
            state_space = state_space || info.category == KernelCategory::state_space;
        }
        const bool has_mixer = mixer_end > 0;
        while (has_mixer && mixer_end < layer.size() && belongs_to_mixer(info_of(layer[mixer_end]))) ++mixer_end;
        const Group mixer = state_space ? state_space_group(layer) : Group::attention;
        std::vector<Group> groups;
        for (std::size_t i = 0; i < layer.size(); ++i) groups.push_back(group_of(info_of(layer[i]), i < mixer_end, mixer, experts));
        return groups;
    }

private:
    const SymbolInfo& info_of(std::uint32_t kernel) const { return table_[kernels_.symbols[kernel]]; }

    static bool belongs_to_mixer(const SymbolInfo& info) {
        return info.category != KernelCategory::norm && !info.feeds_forward() && !info.is_addition;
    }

    Group state_space_group(const std::vector<std::uint32_t>& layer) const {
        for (const std::uint32_t k : layer) {
            if (info_of(k).short_name.find("delta") != std::string::npos) return Group::gdn;
        }
        return Group::mamba;
    }

    static Group group_of(const SymbolInfo& info, bool in_mixer, Group mixer, bool experts) {
        switch (info.category) {
            case KernelCategory::norm: return Group::norm;
            case KernelCategory::attention: return Group::attention;
            case KernelCategory::moe: return Group::moe;
            default: break;
        }
        if (in_mixer) return mixer;
        if (info.category == KernelCategory::communication || info.is_addition) return Group::other;
        return experts ? Group::moe : Group::mlp;
    }

    const SymbolTable& table_;
    const StepKernels& kernels_;
};

class Maker {
public:
    Maker(const Programs& programs, const SymbolTable& table, const std::string& strategy)
        : programs_{programs}, table_{table}, trace_{*programs.window->trace}, builder_{trace_.file, nullptr} {
        layers_->strategy = strategy;
    }

    Artifacts make() {
        for (std::uint16_t p = 0; p < programs_.programs.size(); ++p) add_program(programs_.programs[p], p);
        Artifacts artifacts;
        artifacts.graph = builder_.freeze();
        layers_->graph_digest = artifacts.graph->digest();
        artifacts.layers = layers_;
        artifacts.attribution = attribute(artifacts.graph->digest());
        segmentation_->graph_digest = artifacts.graph->digest();
        segmentation_->strategy = layers_->strategy;
        segmentation_->steps_without_layers = programs_.without_layers;
        segmentation_->steps_cut_off = programs_.cut_off;
        artifacts.segmentation = segmentation_;
        return artifacts;
    }

private:
    void add_program(const Program& program, std::uint16_t module) {
        builder_.begin_module(program.name, module + 1U);
        std::vector<std::vector<std::uint32_t>> of_layer(program.layers.layers.size());
        std::vector<VertexId>& vertex = vertices_.emplace_back(program.kernels.symbols.size(), adpipe::no_vertex);
        std::map<std::string, std::size_t> outside;
        for (std::uint32_t k = 0; k < program.kernels.symbols.size(); ++k) {
            const std::int32_t layer = program.layers.places[k].layer;
            if (layer == Place::unknown) continue;
            std::string name;
            if (layer >= 0) {
                std::vector<std::uint32_t>& members = of_layer[static_cast<std::size_t>(layer)];
                name = layer_prefix(program.numbers[static_cast<std::size_t>(layer)]) + "_" + two_digits(members.size());
                members.push_back(k);
            } else {
                const std::string part = layer == Place::prologue ? "prologue" : "epilogue";
                name = part + "_" + two_digits(outside[part]++);
            }
            vertex[k] = add_vertex(program, k, name);
        }
        set_members(program, of_layer, vertex);
        connect(program, vertex);
        describe(program, module, of_layer);
        add_layers(program, module, of_layer, vertex);
    }

    void describe(const Program& program, std::uint16_t module, const std::vector<std::vector<std::uint32_t>>& of_layer) {
        const Period& period = program.layers.period;
        adpipe::FoundProgram found;
        found.name = program.name;
        found.module = module;
        for (const Instance& instance : program.instances) found.steps.push_back(instance.step);
        std::sort(found.steps.begin(), found.steps.end());
        const std::size_t first_layer = layers_->layers.size();
        for (const std::uint32_t example : program.layers.examples) {
            found.kinds.push_back(
                {0, static_cast<std::uint32_t>(of_layer[example].size()), static_cast<std::int32_t>(first_layer + example)});
        }
        for (const FoundLayer& layer : program.layers.layers) ++found.kinds[layer.kind].layers;
        found.layers = static_cast<std::uint32_t>(program.layers.layers.size());
        found.stacks = program.layers.stacks;
        found.first_kernel = period.first_kernel;
        found.order = program.layers.order;
        found.times_mixed_up = program.layers.times_mixed_up;
        found.confidence = period.confidence;
        if (period.runner_up) {
            const RunnerUp& other = *period.runner_up;
            found.runner_up = {static_cast<std::uint32_t>(other.layers), other.example.size(), other.total / period.layering.total};
        }
        segmentation_->programs.push_back(std::move(found));
    }

    static std::string layer_prefix(const LayerNumber& number) {
        return (number.stack.empty() ? "" : identifier(number.stack) + "_") + "layers_" + std::to_string(number.number);
    }

    VertexId add_vertex(const Program& program, std::uint32_t k, const std::string& name) {
        const std::string& short_name = table_[program.kernels.symbols[k]].short_name;
        adpipe::Vertex vertex;
        vertex.kind = adpipe::VertexKind::op;
        vertex.name = builder_.intern(name + "_" + identifier(short_name));
        vertex.target = builder_.intern("kernel." + identifier(short_name));
        vertex.line = k + 1;
        return builder_.add(vertex).vertex;
    }

    void set_members(const Program& program, const std::vector<std::vector<std::uint32_t>>& of_layer, const std::vector<VertexId>& vertex) {
        const auto last = *std::max_element(vertex.begin(), vertex.end(), [](VertexId a, VertexId b) {
            return (a == adpipe::no_vertex ? 0 : a + 1) < (b == adpipe::no_vertex ? 0 : b + 1);
        });
        layers_->of.resize(std::max<std::size_t>(layers_->of.size(), last + 1));
        for (std::uint32_t k = 0; k < vertex.size(); ++k) {
            if (vertex[k] == adpipe::no_vertex) continue;
            adpipe::Membership& member = layers_->of[vertex[k]];
            const Place& place = program.layers.places[k];
            if (place.layer < 0) {
                member.layer = place.layer == Place::prologue ? adpipe::layer_prologue : adpipe::layer_epilogue;
                member.reason = layers_->text_id(place.layer == Place::prologue ? "before the first repeat" : "after the last repeat");
            }
        }
        const GroupTeller teller{table_, program.kernels};
        for (std::size_t i = 0; i < of_layer.size(); ++i) {
            const std::vector<Group> groups = teller.groups_of(of_layer[i]);
            const FoundLayer& found = program.layers.layers[i];
            const std::string reason = std::string{found.regular ? "repeats as kind " : "departs from kind "} + std::to_string(found.kind) +
                                       " in the order of kernels";
            for (std::size_t j = 0; j < of_layer[i].size(); ++j) {
                adpipe::Membership& member = layers_->of[vertex[of_layer[i][j]]];
                member.layer = program.numbers[i].number;
                member.stack = layers_->text_id(program.numbers[i].stack);
                member.group = groups[j];
                member.certain = found.regular && program.layers.places[of_layer[i][j]].on_main_stream;
                member.reason = layers_->text_id(member.certain || found.regular ? reason : reason + ", by time on another stream");
            }
        }
    }

    /// Kernels of a stream follow each other; a stream's run in a layer begins behind the main stream's kernel that
    /// started before it.
    void connect(const Program& program, const std::vector<VertexId>& vertex) {
        std::map<std::int64_t, std::uint32_t> last_of_stream;
        std::uint32_t previous = 0;
        bool any = false;
        for (std::uint32_t k = 0; k < vertex.size(); ++k) {
            if (vertex[k] == adpipe::no_vertex) continue;
            const auto last = last_of_stream.find(program.kernels.stream[k]);
            if (last != last_of_stream.end()) builder_.connect(vertex[last->second], vertex[k], 0);
            const bool forks = any && program.kernels.stream[previous] != program.kernels.stream[k] &&
                               (last == last_of_stream.end() || changes_layer(program, last->second, k));
            if (forks && (last == last_of_stream.end() || last->second != previous)) builder_.connect(vertex[previous], vertex[k], 1);
            last_of_stream[program.kernels.stream[k]] = k;
            previous = k;
            any = true;
        }
    }

    static bool changes_layer(const Program& program, std::uint32_t a, std::uint32_t b) {
        return program.layers.places[a].layer != program.layers.places[b].layer;
    }

    void add_layers(const Program& program, std::uint16_t module, const std::vector<std::vector<std::uint32_t>>& of_layer,
                    const std::vector<VertexId>& vertex) {
        for (std::size_t i = 0; i < of_layer.size(); ++i) {
            adpipe::Layer layer;
            layer.number = program.numbers[i].number;
            layer.stack = layers_->text_id(program.numbers[i].stack);
            layer.module = module;
            layer.vertex_count = static_cast<std::uint32_t>(of_layer[i].size());
            layer.kind = program.layers.layers[i].kind;
            if (i + 1 < of_layer.size() && !of_layer[i].empty()) layer.boundary_out.push_back(vertex[of_layer[i].back()]);
            layers_->layers.push_back(std::move(layer));
        }
    }

    std::shared_ptr<const adpipe::Attribution> attribute(std::uint64_t digest) {
        auto attribution = std::make_shared<adpipe::Attribution>();
        const std::size_t n = trace_.kernels.size();
        attribution->graph_digest = digest;
        attribution->window = programs_.window;
        attribution->layer.assign(n, adpipe::layer_unknown);
        attribution->evidence.assign(n, adpipe::Evidence::none);
        attribution->confidence.assign(n, 0.0F);
        attribution->reason.assign(n, 0);
        std::vector<VertexId> node(n, adpipe::no_vertex);
        for (std::size_t p = 0; p < programs_.programs.size(); ++p) attribute_program(p, *attribution, node);
        finish(*attribution, node);
        return attribution;
    }

    void attribute_program(std::size_t p, adpipe::Attribution& attribution, std::vector<VertexId>& node) const {
        const Program& program = programs_.programs[p];
        attribution.texts.emplace_back("place in the repeating order of kernels (" + program.layers.order + ")");
        const auto regular = static_cast<std::uint32_t>(attribution.texts.size() - 1);
        attribution.texts.emplace_back("by time, on another stream than the layers' own");
        const auto by_time = static_cast<std::uint32_t>(attribution.texts.size() - 1);
        attribution.texts.emplace_back("in a layer that departs from the other layers of its kind");
        const auto departing = static_cast<std::uint32_t>(attribution.texts.size() - 1);
        attribution.texts.emplace_back("runs between kernels of the layer, in this step only");
        const auto only_here = static_cast<std::uint32_t>(attribution.texts.size() - 1);
        const auto sure = static_cast<float>(program.layers.period.confidence);
        for (const Instance& instance : program.instances) {
            const std::vector<std::uint32_t>& kernels = programs_.window->steps[instance.step].kernels;
            for (std::size_t i = 0; i < kernels.size(); ++i) {
                if (instance.matched[i] < 0) continue;
                const auto k = static_cast<std::size_t>(instance.matched[i]);
                const Place& place = program.layers.places[k];
                if (place.layer == Place::unknown) continue;
                const bool is_regular = place.layer < 0 || program.layers.layers[static_cast<std::size_t>(place.layer)].regular;
                node[kernels[i]] = vertices_[p][k];
                attribution.layer[kernels[i]] = layers_->of[vertices_[p][k]].layer;
                attribution.evidence[kernels[i]] = adpipe::Evidence::sequence;
                attribution.confidence[kernels[i]] = sure * (is_regular ? 1.0F : 0.7F) * (place.on_main_stream ? 1.0F : 0.8F);
                attribution.reason[kernels[i]] = !place.on_main_stream ? by_time : is_regular ? regular : departing;
            }
            for (const auto& [i, layer] : between_kernels_of_a_layer(program, instance)) {
                attribution.layer[kernels[i]] = layer;
                attribution.evidence[kernels[i]] = adpipe::Evidence::sequence;
                attribution.confidence[kernels[i]] = 0.7F * sure;
                attribution.reason[kernels[i]] = only_here;
            }
        }
    }

    /// Kernels of a step that the program's own step does not run, where the kernels before and behind are of one
    /// layer, or where all layers lie on one side; with the layer's number.
    static std::vector<std::pair<std::size_t, std::int32_t>> between_kernels_of_a_layer(const Program& program, const Instance& instance) {
        std::vector<std::pair<std::size_t, std::int32_t>> found;
        std::vector<std::size_t> open;
        const auto take_open = [&](std::int32_t number) {
            for (const std::size_t k : open) found.emplace_back(k, number);
        };
        const auto last_layer = static_cast<std::int32_t>(program.layers.layers.size()) - 1;
        std::int32_t before = Place::prologue;
        for (std::size_t i = 0; i < instance.matched.size(); ++i) {
            const std::int32_t matched = instance.matched[i];
            if (matched < 0) {
                open.push_back(i);
                continue;
            }
            const Place& place = program.layers.places[static_cast<std::size_t>(matched)];
            if (!place.on_main_stream || place.layer == Place::unknown) continue;
            if (before == Place::prologue && place.layer <= 0) take_open(adpipe::layer_prologue);
            else if (before == Place::epilogue) take_open(adpipe::layer_epilogue);
            else if (place.layer == before) take_open(program.numbers[static_cast<std::size_t>(before)].number);
            open.clear();
            before = place.layer;
        }
        if (before == Place::epilogue || before == last_layer) take_open(adpipe::layer_epilogue);
        return found;
    }

    void finish(adpipe::Attribution& attribution, const std::vector<VertexId>& node) const {
        attribution.texts.emplace_back("does not repeat with the layers");
        const auto does_not_repeat = static_cast<std::uint32_t>(attribution.texts.size() - 1);
        attribution.texts.emplace_back("outside of the chosen steps");
        const auto outside = static_cast<std::uint32_t>(attribution.texts.size() - 1);
        std::vector<char> is_chosen;
        for (const adpipe::Step& step : programs_.window->steps) is_chosen.push_back(step.chosen ? 1 : 0);
        attribution.node_begin.resize(node.size() + 1);
        attribution.node_list.resize(node.size());
        std::uint32_t placed = 0;
        for (std::size_t k = 0; k < node.size(); ++k) {
            const adpipe::Nanoseconds duration = trace_.kernels.end[k] - trace_.kernels.start[k];
            if (node[k] != adpipe::no_vertex) {
                attribution.node_list[placed++] = node[k];
                attribution.attributed_ns += duration;
            } else {
                const std::uint32_t step = programs_.window->step_of_kernel[k];
                const bool chosen = step != adpipe::Window::no_step && is_chosen[step] != 0;
                attribution.reason[k] = chosen ? does_not_repeat : outside;
                if (chosen) attribution.unattributed_ns += duration;
            }
            attribution.node_begin[k + 1] = placed;
        }
        attribution.node_list.resize(placed);
    }

    const Programs& programs_;
    const SymbolTable& table_;
    const adpipe::Trace& trace_;
    adpipe::GraphBuilder builder_;
    std::shared_ptr<adpipe::Layers> layers_ = std::make_shared<adpipe::Layers>();
    std::shared_ptr<adpipe::Segmentation> segmentation_ = std::make_shared<adpipe::Segmentation>();
    std::vector<std::vector<VertexId>> vertices_;  ///< per program, per kernel
};

}  // namespace

Artifacts make_artifacts(const Programs& programs, const SymbolTable& table, const std::string& strategy) {
    return Maker{programs, table, strategy}.make();
}

}  // namespace segment
