#include "reasons.hpp"

#include <algorithm>

namespace adpipe::member {

namespace {

/// "model_layers_5_self_attn_q_proj_weight" → "self_attn_q_proj": the module, as a person would call it.
std::string module_of_role(std::string_view role) {
    for (const std::string_view ending : {std::string_view{"_weight"}, std::string_view{".weight"}, std::string_view{"_bias"}}) {
        if (role.size() > ending.size() && role.substr(role.size() - ending.size()) == ending) {
            role.remove_suffix(ending.size());
            break;
        }
    }
    return std::string{role};
}

}  // namespace

ReasonWriter::ReasonWriter(const GraphModel&, const FlowGraph& flow, const LayerTable& table, const LayerNames& names, Layers& layers)
    : flow_(flow), table_(table), names_(names), layers_(layers) {}

TextId ReasonWriter::text(FlowId v, const Verdict& verdict) {
    if (flow_.kind(v) == VertexKind::weight && verdict.why == Why::made_of_weights) {
        TextId& common = weight_texts_[verdict.layer];
        if (common == 0) common = layers_.text_id(phrase(v, verdict));
        return common;
    }
    // Not looked up: hardly two phrases are equal, and there may be a hundred thousand.
    layers_.texts.push_back(phrase(v, verdict));
    return static_cast<TextId>(layers_.texts.size() - 1);
}

std::string ReasonWriter::name_of(FlowId v) const { return std::string{flow_.vertex(v).name}; }

std::string ReasonWriter::layer_phrase(LayerIndex layer) const {
    if (layer < 0) return "the prologue";
    if (layer >= table_.size()) return "the epilogue";
    return "layer " + std::to_string(table_.layer(layer).number);
}

/// The module whose weight `v` uses, without the layer ("self_attn_q_proj"), and its layer.
const ReasonWriter::WeightUse& ReasonWriter::weight_use(FlowId v) const {
    const auto known = weight_uses_.find(v);
    if (known != weight_uses_.end()) return known->second;
    for (const FlowId s : flow_.arguments(v)) {
        if (table_.of_weight(s) == no_layer) continue;
        const Vertex& weight = flow_.vertex(s);
        const auto name = names_.of_activation(full_name(weight));
        if (name) return weight_uses_[v] = {module_of_role(name->role), table_.of_weight(s)};
    }
    return weight_uses_[v] = {name_of(v), no_layer};
}

std::string ReasonWriter::inside_phrase(const Verdict& verdict) const {
    const std::string layer = layer_phrase(verdict.layer);
    if (verdict.about == no_flow || verdict.about_end == no_flow) return "between names of " + layer;
    const WeightUse& from = weight_use(verdict.about);
    const WeightUse& to = weight_use(verdict.about_end);
    if (to.layer != no_layer && from.layer != no_layer && to.layer != from.layer) {
        return "between " + from.module + " of " + layer_phrase(from.layer) + " and " + to.module + " of " + layer_phrase(to.layer);
    }
    if (from.module == to.module) return "within " + from.module + " of " + layer;
    return "between " + from.module + " and " + to.module + " of " + layer;
}

/// In how many layers v is read directly.
std::uint32_t ReasonWriter::reading_layers(FlowId v) const { return static_cast<std::uint32_t>(flow_.users(v).size()); }

std::string ReasonWriter::phrase(FlowId v, const Verdict& verdict) const {
    const std::string layer = layer_phrase(verdict.layer);
    const std::string about = verdict.about == no_flow ? std::string{} : name_of(verdict.about);
    switch (verdict.why) {
        case Why::uses_weight: return about.empty() ? "uses a weight of " + layer : "uses " + about;
        case Why::made_of_weights:
            return flow_.kind(v) == VertexKind::op ? "made of weights of " + layer : "a weight of " + layer;
        case Why::named: return "its name says so";
        case Why::inside: return inside_phrase(verdict);
        case Why::shared: return "made once, read in " + std::to_string(std::max(verdict.count, reading_layers(v))) + " places";
        case Why::feeds_shared: return "needed for what is made once";
        case Why::loop_index: return "picked by the layer's number, outside the layer";
        case Why::per_layer: return "each layer has one at this place";
        case Why::only_user: return "only " + layer + " reads it";
        case Why::like_first_layer: return "begins " + layer + " as " + about + " begins the first";
        case Why::like_last_layer: return "ends " + layer + " as " + about + " ends the last";
        case Why::like_other_layers: return "at the place of " + about + " in its layer";
        case Why::before_cut: return about.empty() ? "after the weights of " + layer : "up to " + about + ", which carries " + layer + " on";
        case Why::after_cut: return about.empty() ? "before the weights of " + layer : "after " + about + ", which carries the layer before on";
        case Why::between_layers: return "added between two layers";
        case Why::feeds_between: return "needed only for what is added between layers";
        case Why::users_in_layer: return "all that reads it is in " + layer;
        case Why::joins_branch: return "adds the branch of " + layer + " to what it had before";
        case Why::first_reader: return layer + " is the first that uses it";
        case Why::result_of: return "a result of " + about;
        case Why::residual_sum: return "the sum that " + about + " returns beside the normed value";
        case Why::checks: return "checks what " + about + " uses";
        case Why::dead_end: return "made in " + layer + ", read by nothing";
        case Why::side_result: return "leaves the model from " + layer;
        case Why::before_layers: return "no layer comes before it";
        case Why::after_layers: return "after the last layer";
        case Why::no_layers: return "this module has no numbered layers";
        case Why::metadata: return "prepares what the layers read";
        case Why::brackets: return "brackets work of " + layer;
        case Why::nothing: break;
    }
    return "not decided";
}

}  // namespace adpipe::member
