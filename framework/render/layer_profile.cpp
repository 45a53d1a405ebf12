#include <adpipe/render/layer_profile.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

namespace adpipe::render {

namespace {

using Names = std::vector<StringId>;

/// The kernels of one layer in one step.
struct Execution {
    std::uint32_t layer;
    std::uint32_t step;
    std::span<const std::uint32_t> kernels;  ///< in the order of the step
};

struct ProfileKey {
    std::uint16_t module;
    Phase phase;
    std::int64_t batch_size;
    std::uint32_t kind;
    friend bool operator<(const ProfileKey& a, const ProfileKey& b) {
        return std::tie(a.module, a.phase, a.batch_size, a.kind) < std::tie(b.module, b.phase, b.batch_size, b.kind);
    }
};

Nanoseconds length_of_union(std::vector<std::pair<Nanoseconds, Nanoseconds>>& intervals) {
    if (!std::is_sorted(intervals.begin(), intervals.end())) std::sort(intervals.begin(), intervals.end());
    Nanoseconds length = 0;
    Nanoseconds reached = intervals.empty() ? 0 : intervals.front().first;
    for (const auto& [start, end] : intervals) {
        length += std::max<Nanoseconds>(0, end - std::max(start, reached));
        reached = std::max(reached, end);
    }
    return length;
}

/// For each element of `names` its partner in `pattern`, or -1: a longest common subsequence. Layers have some dozen
/// kernels.
std::vector<std::int32_t> partners(const Names& pattern, const Names& names) {
    const std::size_t columns = pattern.size() + 1;
    std::vector<std::uint32_t> common((names.size() + 1) * columns, 0);
    for (std::size_t i = names.size(); i-- > 0;) {
        for (std::size_t j = pattern.size(); j-- > 0;) {
            common[i * columns + j] = names[i] == pattern[j] ? common[(i + 1) * columns + j + 1] + 1
                                                             : std::max(common[(i + 1) * columns + j], common[i * columns + j + 1]);
        }
    }
    std::vector<std::int32_t> partner(names.size(), -1);
    for (std::size_t i = 0, j = 0; i < names.size() && j < pattern.size();) {
        if (names[i] == pattern[j]) partner[i++] = static_cast<std::int32_t>(j++);
        else if (common[(i + 1) * columns + j] >= common[i * columns + j + 1]) ++i;
        else ++j;
    }
    return partner;
}

class Profiler {
public:
    Profiler(const GraphModel& graph, const Layers& layers, const Attribution& attribution)
        : graph_(graph), layers_(layers), attribution_(attribution), window_(*attribution.window), trace_(*window_.trace) {
        for (std::uint32_t i = 0; i < layers.layers.size(); ++i) {
            const Layer& layer = layers.layers[i];
            index_.emplace(std::tuple(layer.module, layer.stack, layer.number), i);
            by_number_.emplace(std::pair(layer.module, layer.number), i);
        }
        for (VertexId v = 0; v < graph.size(); ++v) {
            const Membership& member = layers.of[v];
            const auto found = index_.find(std::tuple(graph.vertex(v).module, member.stack, member.layer));
            layer_of_vertex_.push_back(found == index_.end() ? no_layer : found->second);
        }
    }

    LayerProfiles run() {
        for (std::uint32_t s = 0; s < window_.steps.size(); ++s) {
            if (window_.steps[s].chosen) add_step(s);
        }
        for (auto& [key, executions] : executions_) result_.profiles.push_back(profile(key, executions));
        return std::move(result_);
    }

private:
    Nanoseconds duration(std::uint32_t k) const { return trace_.kernels.end[k] - trace_.kernels.start[k]; }
    Names names_of(const Execution& execution) const {
        Names names;
        for (const std::uint32_t k : execution.kernels) names.push_back(trace_.kernels.name[k]);
        return names;
    }

    bool has_names(const Execution& execution, const Names& names) const {
        return std::equal(execution.kernels.begin(), execution.kernels.end(), names.begin(), names.end(),
                          [this](std::uint32_t k, StringId name) { return trace_.kernels.name[k] == name; });
    }

    void add_step(std::uint32_t s) {
        const Step& step = window_.steps[s];
        for (auto& [layer, kernels] : by_layer_) kernels.clear();
        auto last = by_layer_.end();  // most kernels are of the layer of the one before
        ProfileTotals& totals = result_.totals;
        const std::uint16_t module = module_of(step);
        for (const std::uint32_t k : step.kernels) {
            totals.all += duration(k);
            ++totals.kernels;
            const auto layer = layer_of(k, module);
            if (layer) {
                if (last == by_layer_.end() || last->first != *layer) last = by_layer_.try_emplace(*layer).first;
                last->second.push_back(k);
                totals.in_layers += duration(k);
                ++totals.kernels_in_layers;
            } else if (attribution_.layer[k] == layer_unknown) {
                totals.unknown += duration(k);
                ++totals.kernels_unknown;
            } else {
                totals.outside += duration(k);
                ++totals.kernels_outside;
            }
        }
        std::vector<std::uint32_t>& kernels_in_layers = kernels_of_steps_.emplace_back();
        kernels_in_layers.reserve(step.kernels.size());
        for (const auto& [layer, kernels] : by_layer_) {
            if (kernels.empty()) continue;
            const auto first = kernels_in_layers.insert(kernels_in_layers.end(), kernels.begin(), kernels.end());
            const Layer& found = layers_.layers[layer];
            executions_[{found.module, step.phase, step.batch_size, found.kind}].push_back({layer, s, {first, kernels_in_layers.end()}});
        }
    }

    /// The module whose nodes launched the step's kernels.
    std::uint16_t module_of(const Step& step) const {
        for (const std::uint32_t k : step.kernels) {
            if (const auto nodes = attribution_.nodes(k); !nodes.empty()) return graph_.vertex(nodes.front()).module;
        }
        return layers_.layers.empty() ? std::uint16_t{0} : layers_.layers.front().module;
    }

    std::optional<std::uint32_t> layer_of(std::uint32_t k, std::uint16_t module) const {
        const auto nodes = attribution_.nodes(k);
        if (nodes.empty()) {
            const auto found = by_number_.find(std::pair(module, attribution_.layer[k]));
            return found == by_number_.end() ? std::nullopt : std::optional{found->second};
        }
        const std::uint32_t layer = layer_of_vertex_[nodes.front()];
        return layer == no_layer ? std::nullopt : std::optional{layer};
    }

    /// Rows are the kernels of the commonest sequence; what other layers have beside these follows the row behind which
    /// it runs.
    LayerProfile profile(const ProfileKey& key, const std::vector<Execution>& executions) const {
        LayerProfile profile;
        profile.module = key.module;
        profile.kind = key.kind;
        profile.phase = key.phase;
        profile.batch_size = key.batch_size;
        profile.executions = static_cast<std::uint32_t>(executions.size());
        count(executions, profile);
        std::map<Names, std::vector<std::size_t>> variants;
        auto last = variants.end();
        for (std::size_t i = 0; i < executions.size(); ++i) {
            if (last == variants.end() || !has_names(executions[i], last->first))
                last = variants.try_emplace(names_of(executions[i])).first;
            last->second.push_back(i);
        }
        const auto commonest = std::max_element(variants.begin(), variants.end(), [](const auto& a, const auto& b) {
            return std::pair(a.second.size(), a.first.size()) < std::pair(b.second.size(), b.first.size());
        });
        Rows rows;
        for (const std::uint32_t k : executions[commonest->second.front()].kernels) rows.add_regular(row_of(k, true));
        for (const auto& [names, members] : variants) {
            const std::vector<std::int32_t> partner = partners(commonest->first, names);
            for (const std::size_t i : members) add_execution(executions[i], partner, rows);
        }
        profile.rows = rows.take();
        for (const ProfileRow& row : profile.rows) profile.total += row.time.total;
        return profile;
    }

    void count(const std::vector<Execution>& executions, LayerProfile& profile) const {
        std::vector<bool> has_layer(layers_.layers.size(), false);
        std::vector<Nanoseconds> sums;
        std::vector<Nanoseconds> walls;
        std::vector<std::pair<Nanoseconds, Nanoseconds>> intervals;
        std::uint32_t last_step = no_step;  // executions come step by step
        for (const Execution& execution : executions) {
            has_layer[execution.layer] = true;
            if (execution.step != last_step) ++profile.steps;
            last_step = execution.step;
            Nanoseconds sum = 0;
            intervals.clear();
            for (const std::uint32_t k : execution.kernels) {
                sum += duration(k);
                intervals.emplace_back(trace_.kernels.start[k], trace_.kernels.end[k]);
            }
            sums.push_back(sum);
            walls.push_back(length_of_union(intervals));
        }
        for (std::uint32_t layer = 0; layer < has_layer.size(); ++layer) {
            if (has_layer[layer]) profile.layers.push_back(layer);
        }
        profile.layer_sum = spread_of(std::move(sums));
        profile.layer_wall = spread_of(std::move(walls));
    }

    ProfileRow row_of(std::uint32_t k, bool regular) const {
        ProfileRow row;
        row.example = k;
        row.name = trace_.kernels.name[k];
        row.kind = trace_.kernels.kind.empty() ? KernelKind::kernel : trace_.kernels.kind[k];
        const auto nodes = attribution_.nodes(k);
        row.node = !regular || nodes.empty() ? no_vertex : nodes.front();
        row.regular = regular;
        return row;
    }

    /// What the kernels of a row measured.
    struct Samples {
        std::vector<Nanoseconds> durations;
        std::vector<std::uint32_t> list;
        std::map<std::uint32_t, std::uint32_t> shapes;  ///< how often each launch shape came

        void add(const Kernels& kernels, std::uint32_t k) {
            durations.push_back(kernels.end[k] - kernels.start[k]);
            list.push_back(k);
            if (!kernels.shape.empty() && kernels.shape[k] != 0) ++shapes[kernels.shape[k]];
        }
        void put_into(ProfileRow& row) {
            row.time = spread_of(std::move(durations));
            row.kernels = std::move(list);
            for (const auto& [shape, count] : shapes) row.shapes.push_back(shape);
            std::stable_sort(row.shapes.begin(), row.shapes.end(),
                             [this](std::uint32_t a, std::uint32_t b) { return shapes.at(a) > shapes.at(b); });
        }
    };

    /// Rows with what their kernels measured.
    struct Rows {
        using ExtraKey = std::tuple<std::int32_t, StringId, std::uint32_t>;  ///< position, name, running number there
        std::vector<ProfileRow> regular;
        std::vector<Samples> samples;
        std::map<ExtraKey, std::pair<ProfileRow, Samples>> extra;

        void add_regular(ProfileRow row) {
            row.position = static_cast<std::uint32_t>(regular.size());
            regular.push_back(row);
            samples.emplace_back();
        }
        std::vector<ProfileRow> take() {
            std::vector<ProfileRow> rows;
            auto next = extra.begin();
            const auto take_extra = [&](std::int32_t position) {
                for (; next != extra.end() && std::get<0>(next->first) <= position; ++next) {
                    rows.push_back(next->second.first);
                    rows.back().position = static_cast<std::uint32_t>(position);
                    next->second.second.put_into(rows.back());
                }
            };
            for (std::size_t i = 0; i < regular.size(); ++i) {
                rows.push_back(regular[i]);
                samples[i].put_into(rows.back());
                take_extra(static_cast<std::int32_t>(i));
            }
            return rows;
        }
    };

    void add_execution(const Execution& execution, const std::vector<std::int32_t>& partner, Rows& rows) const {
        std::int32_t before = -1;  // the last position whose kernel runs
        std::map<std::pair<std::int32_t, StringId>, std::uint32_t> seen;
        for (std::size_t i = 0; i < execution.kernels.size();) {
            std::size_t end = i;
            while (end < partner.size() && partner[end] < 0) ++end;
            const std::int32_t next = end < partner.size() ? partner[end] : static_cast<std::int32_t>(rows.regular.size());
            for (; i < end; ++i) {
                // Kernels of the pattern between `before` and `next` do not run here: these stand for them.
                before = std::max(0, std::min(before + 1, next - 1));
                const std::uint32_t k = execution.kernels[i];
                const StringId name = trace_.kernels.name[k];
                const std::uint32_t number = seen[{before, name}]++;
                rows.extra.try_emplace({before, name, number}, row_of(k, false), Samples{}).first->second.second.add(trace_.kernels, k);
            }
            if (end == partner.size()) break;
            rows.samples[static_cast<std::size_t>(next)].add(trace_.kernels, execution.kernels[end]);
            before = next;
            i = end + 1;
        }
    }

    const GraphModel& graph_;
    const Layers& layers_;
    const Attribution& attribution_;
    const Window& window_;
    const Trace& trace_;
    static constexpr std::uint32_t no_layer = 0xffffffffU;
    static constexpr std::uint32_t no_step = 0xffffffffU;
    std::map<std::tuple<std::uint16_t, TextId, LayerId>, std::uint32_t> index_;
    std::vector<std::uint32_t> layer_of_vertex_;
    std::map<std::pair<std::uint16_t, LayerId>, std::uint32_t> by_number_;  ///< the first stack's
    std::map<std::uint32_t, std::vector<std::uint32_t>> by_layer_;          ///< the kernels of the step that is being added
    std::deque<std::vector<std::uint32_t>> kernels_of_steps_;               ///< per step those in layers, one layer behind the other
    std::map<ProfileKey, std::vector<Execution>> executions_;
    LayerProfiles result_;
};

}  // namespace

LayerProfiles layer_profiles(const GraphModel& graph, const Layers& layers, const Attribution& attribution) {
    return Profiler(graph, layers, attribution).run();
}

bool any_operator(const Operators& operators, const LayerProfiles& profiles) {
    const auto known = [&](const ProfileRow& row) {
        return std::any_of(row.kernels.begin(), row.kernels.end(), [&](std::uint32_t k) { return operators.of_kernel[k] != 0; });
    };
    return std::any_of(profiles.profiles.begin(), profiles.profiles.end(),
                       [&](const LayerProfile& profile) { return std::any_of(profile.rows.begin(), profile.rows.end(), known); });
}

std::string number_ranges(std::vector<std::int64_t> numbers) {
    std::sort(numbers.begin(), numbers.end());
    std::string text;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        text += (text.empty() ? "" : ", ") + std::to_string(numbers[i]);
        if (last > i) text += "-" + std::to_string(numbers[last]);
        i = last + 1;
    }
    return text;
}

}  // namespace adpipe::render
