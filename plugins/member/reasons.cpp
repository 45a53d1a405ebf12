#include "reasons.hpp"

#include <algorithm>
#include <initializer_list>

namespace adpipe::member {

namespace {

/// "model_layers_5_self_attn_q_proj_weight" → "self_attn_q_proj": the module, as a person would call it.
std::string_view module_of_role(std::string_view role) {
    for (const std::string_view ending : {std::string_view{"_weight"}, std::string_view{".weight"}, std::string_view{"_bias"}}) {
        if (role.size() > ending.size() && role.ends_with(ending)) return role.substr(0, role.size() - ending.size());
    }
    return role;
}

/// One allocation a phrase: there may be a hundred thousand.
std::string join(std::initializer_list<std::string_view> parts) {
    std::size_t size = 0;
    for (const std::string_view part : parts) size += part.size();
    std::string text;
    text.reserve(size);
    for (const std::string_view part : parts) text.append(part);
    return text;
}

}  // namespace

ReasonWriter::ReasonWriter(const FlowGraph& flow, const LayerTable& table, const LayerNames& names, Layers& layers)
    : flow_(flow), table_(table), names_(names), layers_(layers), weight_uses_(flow.size()) {
    layer_phrases_.emplace_back("the prologue");
    for (LayerIndex layer = 0; layer < table.size(); ++layer)
        layer_phrases_.push_back("layer " + std::to_string(table.layer(layer).number));
    layer_phrases_.emplace_back("the epilogue");
}

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

std::string_view ReasonWriter::name_of(FlowId v) const { return v == no_flow ? std::string_view{} : flow_.vertex(v).name; }

const std::string& ReasonWriter::layer_phrase(LayerIndex layer) const {
    return layer_phrases_[layer < 0 ? 0 : static_cast<std::size_t>(std::min(layer, table_.size()) + 1)];
}

/// The module whose weight `v` uses, without the layer ("self_attn_q_proj"), and its layer.
const ReasonWriter::WeightUse& ReasonWriter::weight_use(FlowId v) {
    WeightUse& use = weight_uses_[v];
    if (use.known) return use;
    use = {name_of(v), no_layer, true};
    for (const FlowId s : flow_.arguments(v)) {
        if (table_.of_weight(s) == no_layer) continue;
        const auto name = names_.of_activation(full_name(flow_.vertex(s)));
        if (!name) continue;
        use = {module_of_role(name->role), table_.of_weight(s), true};
        break;
    }
    return use;
}

std::string ReasonWriter::inside_phrase(const Verdict& verdict) {
    const std::string& layer = layer_phrase(verdict.layer);
    if (verdict.about == no_flow || verdict.about_end == no_flow) return join({"between names of ", layer});
    const WeightUse& from = weight_use(verdict.about);
    const WeightUse& to = weight_use(verdict.about_end);
    if (to.layer != no_layer && from.layer != no_layer && to.layer != from.layer) {
        return join({"between ", from.module, " of ", layer_phrase(from.layer), " and ", to.module, " of ", layer_phrase(to.layer)});
    }
    if (from.module == to.module) return join({"within ", from.module, " of ", layer});
    return join({"between ", from.module, " and ", to.module, " of ", layer});
}

/// In how many layers v is read directly.
std::uint32_t ReasonWriter::reading_layers(FlowId v) const { return static_cast<std::uint32_t>(flow_.users(v).size()); }

std::string ReasonWriter::phrase(FlowId v, const Verdict& verdict) {
    const std::string& layer = layer_phrase(verdict.layer);
    const std::string_view about = name_of(verdict.about);
    switch (verdict.why) {
        case Why::uses_weight: return about.empty() ? join({"uses a weight of ", layer}) : join({"uses ", about});
        case Why::made_of_weights:
            return flow_.kind(v) == VertexKind::op ? join({"made of weights of ", layer}) : join({"a weight of ", layer});
        case Why::named: return "its name says so";
        case Why::inside: return inside_phrase(verdict);
        case Why::shared: return "made once, read in " + std::to_string(std::max(verdict.count, reading_layers(v))) + " places";
        case Why::feeds_shared: return "needed for what is made once";
        case Why::loop_index: return "picked by the layer's number, outside the layer";
        case Why::per_layer: return "each layer has one at this place";
        case Why::only_user: return join({"only ", layer, " reads it"});
        case Why::like_first_layer: return join({"begins ", layer, " as ", about, " begins the first"});
        case Why::like_last_layer: return join({"ends ", layer, " as ", about, " ends the last"});
        case Why::like_other_layers: return join({"at the place of ", about, " in its layer"});
        case Why::before_cut:
            return about.empty() ? join({"after the weights of ", layer}) : join({"up to ", about, ", which carries ", layer, " on"});
        case Why::after_cut:
            return about.empty() ? join({"before the weights of ", layer}) : join({"after ", about, ", which carries the layer before on"});
        case Why::between_layers: return "added between two layers";
        case Why::feeds_between: return "needed only for what is added between layers";
        case Why::users_in_layer: return join({"all that reads it is in ", layer});
        case Why::joins_branch: return join({"adds the branch of ", layer, " to what it had before"});
        case Why::first_reader: return join({layer, " is the first that uses it"});
        case Why::result_of: return join({"a result of ", about});
        case Why::residual_sum: return join({"the sum that ", about, " returns beside the normed value"});
        case Why::checks: return join({"checks what ", about, " uses"});
        case Why::dead_end: return join({"made in ", layer, ", read by nothing"});
        case Why::side_result: return join({"leaves the model from ", layer});
        case Why::before_layers: return "no layer comes before it";
        case Why::after_layers: return "after the last layer";
        case Why::no_layers: return "this module has no numbered layers";
        case Why::metadata: return "prepares what the layers read";
        case Why::brackets: return join({"brackets work of ", layer});
        case Why::nothing: break;
    }
    return "not decided";
}

}  // namespace adpipe::member
