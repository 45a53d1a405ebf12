#include "groups.hpp"

#include "glob.hpp"
#include "op_traits.hpp"

#include <algorithm>
#include <array>

namespace adpipe::member {

namespace {

/// A fused mixture of experts names a thousand weights; the first few say enough.
constexpr std::size_t weights_looked_at = 6;

bool opens_stream(std::string_view bare) { return bare.substr(0, 6) == "begin_" || bare.substr(0, 7) == "record_"; }

}  // namespace

GroupFinder::GroupFinder(const FlowGraph& flow, const LayerTable& table, const LayerNames& names, const Rules& rules,
                         const std::vector<Verdict>& verdicts)
    : flow_(flow), table_(table), names_(names), rules_(rules), verdicts_(verdicts), labels_(flow.size()) {}

std::vector<GroupLabel> GroupFinder::find() {
    find_weights();
    read_features();
    label_by_rules();
    spread();
    return std::move(labels_);
}

/// Name of a weight after the layer's number; the whole name if it has none.
std::string_view GroupFinder::weight_role(FlowId weight) const {
    const Vertex& vertex = flow_.vertex(weight);
    const std::string_view name = full_name(vertex);
    const auto placed = names_.of_activation(name);
    return placed ? placed->role : name;
}

/// The weights that each op uses, also through what is made of weights alone.
void GroupFinder::find_weights() {
    weights_begin_.reserve(flow_.size() + 1);
    weights_begin_.push_back(0);
    for (FlowId v = 0; v < flow_.size(); ++v) {
        if (flow_.kind(v) == VertexKind::op) collect_weights(v, weights_.size() + weights_looked_at);
        weights_begin_.push_back(static_cast<std::uint32_t>(weights_.size()));
    }
}

void GroupFinder::collect_weights(FlowId v, std::size_t enough) {
    for (const FlowId a : flow_.arguments(v)) {
        if (weights_.size() >= enough) return;
        if (flow_.kind(a) == VertexKind::weight || table_.is_weight(a)) weights_.push_back(a);
        else if (verdicts_[a].why == Why::made_of_weights) collect_weights(a, enough);
    }
}

std::span<const FlowId> GroupFinder::weights(FlowId v) const {
    return {weights_.data() + weights_begin_[v], weights_.data() + weights_begin_[v + 1]};
}

/// Which weights and ops each layer has, for rules that ask.
void GroupFinder::read_features() {
    has_feature_.resize(layer_slots());
    constexpr std::uint32_t unknown = 0xffffffffU;
    std::vector<std::uint32_t> of_op(flow_.op_count(), unknown);
    std::unordered_map<std::uint64_t, std::uint32_t> of_role;
    const auto add = [&](std::uint32_t& feature, std::size_t slot, auto text) {
        if (feature == unknown) {
            feature = static_cast<std::uint32_t>(features_.size());
            features_.push_back(text());
        }
        std::vector<std::uint8_t>& has = has_feature_[slot];
        if (has.size() <= feature) has.resize(feature + 1, 0);
        has[feature] = 1;
    };
    for (FlowId v = 0; v < flow_.size(); ++v) {
        if (flow_.kind(v) != VertexKind::op) continue;
        const std::size_t slot = layer_slot(verdicts_[v].layer);
        add(of_op[flow_.op_index(v)], slot, [&] { return flow_.bare(v); });
        for (const FlowId weight : weights(v)) {
            const bool in_layer = table_.of_weight(weight) != no_layer;
            const std::uint64_t role = in_layer ? table_.role(weight) : hash_text(full_name(flow_.vertex(weight)));
            add(of_role.try_emplace(role, unknown).first->second, slot, [&] { return weight_role(weight); });
        }
    }
}

/// True if the layer uses what the rule asks for. The layers have most of their features in common.
bool GroupFinder::layer_allows(std::uint32_t rule, LayerIndex layer) {
    const std::vector<std::string>& wanted = rules_.groups[rule].layer_uses;
    if (wanted.empty()) return true;
    WantedFeatures& asked = wanted_features_[rule];
    if (!asked.is_known) {
        asked.is_known = true;
        // Several rules ask for the same.
        for (std::uint32_t other = 0; other < rules_.groups.size(); ++other) {
            if (other == rule || !wanted_features_[other].is_known || rules_.groups[other].layer_uses != wanted) continue;
            asked.features = wanted_features_[other].features;
            return has_any_feature(asked.features, layer);
        }
        for (std::uint32_t feature = 0; feature < features_.size(); ++feature) {
            if (matches_any(wanted, features_[feature])) asked.features.push_back(feature);
        }
    }
    return has_any_feature(asked.features, layer);
}

bool GroupFinder::has_any_feature(const std::vector<std::uint32_t>& features, LayerIndex layer) const {
    const std::vector<std::uint8_t>& has = has_feature_[layer_slot(layer)];
    return std::any_of(features.begin(), features.end(), [&](std::uint32_t feature) { return feature < has.size() && has[feature] != 0; });
}

std::vector<std::uint32_t> GroupFinder::match_rules(FlowId v) const {
    std::vector<std::string_view> roles;
    for (const FlowId weight : weights(v)) roles.push_back(weight_role(weight));
    std::vector<std::uint32_t> matching;
    for (std::uint32_t i = 0; i < rules_.groups.size(); ++i) {
        const GroupRule& rule = rules_.groups[i];
        if (!rule.ops.empty() && !matches_any(rule.ops, flow_.bare(v))) continue;
        const bool weight_matches = std::any_of(roles.begin(), roles.end(),
                                                [&](std::string_view role) { return matches_any(rule.weights, role); });
        if (!rule.weights.empty() && !weight_matches) continue;
        matching.push_back(i);
    }
    return matching;
}

/// Equal ops that use equal weights match equal rules, in every layer.
const std::vector<std::uint32_t>& GroupFinder::rules_for(FlowId v) {
    std::uint64_t key = flow_.op_hash(v);
    for (const FlowId weight : weights(v)) key = combine(key, table_.role(weight));
    const auto [at, is_new] = matches_.try_emplace(key);
    if (is_new) at->second = match_rules(v);
    return at->second;
}

void GroupFinder::label_by_rules() {
    wanted_features_.resize(rules_.groups.size());
    for (FlowId v = 0; v < flow_.size(); ++v) {
        if (flow_.kind(v) != VertexKind::op) continue;
        for (const std::uint32_t i : rules_for(v)) {
            if (!layer_allows(i, verdicts_[v].layer)) continue;
            const GroupRule& rule = rules_.groups[i];
            labels_[v] = {rule.group, rule.sub_group.empty() ? nullptr : &rule.sub_group, true};
            break;
        }
    }
}

/// Labels for what no rule knows, from the nearest labelled vertices of its layer on either side; none reaches across the residual stream.
void GroupFinder::spread() {
    find_stream();
    look_around();
    std::vector<GroupLabel> settled = labels_;
    for (FlowId v = 0; v < flow_.size(); ++v) {
        if (flow_.kind(v) == VertexKind::op && !labels_[v].known) settled[v] = settle(v);
    }
    // What prepares a value for something that itself was placed by its neighbours goes with that.
    for (FlowId v = flow_.size(); v-- > 0;) {
        if (flow_.kind(v) != VertexKind::op || settled[v].known || on_stream_[v] != 0) continue;
        for (const FlowId user : flow_.users(v)) {
            if (!same_layer(user, v) || on_stream_[user] != 0) continue;
            settled[v] = settled[user];
            if (settled[v].group == Group::norm) settled[v] = {};
            break;
        }
    }
    labels_ = std::move(settled);
    // Weights and inputs go with what reads them.
    for (FlowId v = 0; v < flow_.size(); ++v) {
        if (flow_.kind(v) == VertexKind::op || flow_.users(v).empty()) continue;
        if (same_owner(v, flow_.users(v)[0])) labels_[v] = labels_[flow_.users(v)[0]];
    }
}

void GroupFinder::look_around() {
    before_.resize(flow_.size());
    after_.resize(flow_.size());
    several_before_.assign(flow_.size(), 0);
    several_after_.assign(flow_.size(), 0);
    const auto merge = [](GroupLabel& into, std::uint8_t& several, const GroupLabel& label) {
        if (!label.known) return;
        if (!into.known) into = label;
        else if (into.group == label.group && into.sub_group != label.sub_group) into.sub_group = nullptr;
        else if (!(into == label)) {
            several = 1;
            if (label.group == Group::moe) into = label;  // where experts and shared experts meet
        }
    };
    for (FlowId v = 0; v < flow_.size(); ++v) {
        for (const FlowId s : flow_.sources(v)) {
            if (!same_layer(s, v) || on_stream_[s] != 0) continue;
            merge(before_[v], several_before_[v], labels_[s].known ? labels_[s] : before_[s]);
        }
    }
    for (FlowId v = flow_.size(); v-- > 0;) {
        for (const FlowId user : flow_.users(v)) {
            if (!same_layer(user, v) || on_stream_[user] != 0) continue;
            merge(after_[v], several_after_[v], labels_[user].known ? labels_[user] : after_[user]);
        }
    }
}

bool GroupFinder::same_layer(FlowId a, FlowId b) const {
    return flow_.kind(a) == VertexKind::op && verdicts_[a].layer == verdicts_[b].layer;
}

bool GroupFinder::same_owner(FlowId a, FlowId b) const { return verdicts_[a].layer == verdicts_[b].layer && verdicts_[a].layer >= 0; }

/// True for the sum of two values of one shape, none of them a number or made of weights.
bool GroupFinder::adds_two_values(FlowId v) const {
    const std::string_view bare = flow_.bare(v);
    if (flow_.kind(v) != VertexKind::op || (bare != "add" && bare != "add_")) return false;
    std::size_t values = 0;
    std::string_view shape;
    for (const FlowId a : flow_.arguments(v)) {
        if (flow_.is_number(a) || flow_.kind(a) == VertexKind::weight || verdicts_[a].why == Why::made_of_weights) continue;
        const std::string_view its_shape = flow_.vertex(a).shape;
        const bool comparable = !shape.empty() && shape != "?" && !its_shape.empty() && its_shape != "?";
        if (comparable && its_shape != shape) return false;
        shape = its_shape;
        ++values;
    }
    return values == 2;
}

/// The residual stream: what comes from the layer before, and what the branches are added to. It belongs to no branch.
void GroupFinder::find_stream() {
    on_stream_.assign(flow_.size(), 0);
    for (FlowId v = 0; v < flow_.size(); ++v) {
        if (flow_.kind(v) != VertexKind::op || labels_[v].known) continue;
        const auto arguments = flow_.arguments(v);
        if (flow_.picks_result(v) && !arguments.empty()) {
            // A fused add and norm returns the sum beside the normed value.
            on_stream_[v] = labels_[arguments[0]].group == Group::norm && flow_.picked_result(v) > 0 ? 1 : 0;
        } else if (is_cast(flow_.bare(v)) && !arguments.empty() && (on_stream_[arguments[0]] != 0 || !same_layer(arguments[0], v))) {
            // The cast that a norm begins with leaves the stream.
            const auto users = flow_.users(v);
            const auto keeps = [&](FlowId user) { return adds_two_values(user) || !same_layer(user, v); };
            on_stream_[v] = std::any_of(users.begin(), users.end(), keeps) ? 1 : 0;
        } else if (adds_two_values(v)) {
            // Where norms come after the branches, what they return is the stream.
            const bool joins = std::any_of(arguments.begin(), arguments.end(), [&](FlowId a) {
                return on_stream_[a] != 0 || verdicts_[a].layer != verdicts_[v].layer ||
                       (labels_[a].known && labels_[a].group == Group::norm);
            });
            on_stream_[v] = joins ? 1 : 0;
        }
    }
}

/// True if a norm in one op reads v, none in many of which the first have no weight.
bool GroupFinder::feeds_whole_norm(FlowId v) const {
    const auto users = flow_.users(v);
    return std::any_of(users.begin(), users.end(), [&](FlowId user) {
        const bool of_parts = flow_.bare(user) == "mul" || flow_.bare(user) == "add";
        return same_layer(user, v) && labels_[user].known && labels_[user].group == Group::norm && !of_parts;
    });
}

GroupLabel GroupFinder::settle(FlowId v) const {
    const GroupLabel& before = before_[v];
    const GroupLabel& after = after_[v];
    const bool one_before = before.known && several_before_[v] == 0;
    const bool one_after = after.known && several_after_[v] == 0;
    const std::string_view bare = flow_.bare(v);
    if (on_stream_[v] != 0) return {};
    if (flow_.picks_result(v) && before.known) return before;
    if (opens_stream(bare) && one_after) return after;
    if (one_before && one_after && before.group == after.group) {
        GroupLabel label = before;
        if (before.sub_group != after.sub_group && after.sub_group != nullptr && before.sub_group == nullptr) label = after;
        return label;
    }
    // A norm has its first ops and a last cast; nothing with weights of its own, and nothing more behind it.
    const bool has_weights = !weights(v).empty();
    const bool ends_branch = one_before && before.group != Group::norm && feeds_whole_norm(v);
    if (one_after && after.group == Group::norm && !is_shape_only(bare) && !has_weights && !ends_branch) return after;
    if (one_before && (is_cast(bare) || before.group != Group::norm)) return before;
    if (one_after && !(has_weights && after.group == Group::norm)) return after;
    if (adds_two_values(v) && several_before_[v] != 0 && before.group != Group::moe) return {};  // branches side by side
    const GroupLabel& either = before.known ? before : after;
    return either.group == Group::norm ? GroupLabel{} : either;
}

}  // namespace adpipe::member
