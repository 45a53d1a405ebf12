#include <adpipe/model/attribution.hpp>
#include <adpipe/model/layers.hpp>
#include <adpipe/model/trace.hpp>
#include <adpipe/model/window.hpp>

namespace adpipe {

std::string layer_text(LayerId layer) {
    switch (layer) {
        case layer_prologue: return "prologue";
        case layer_epilogue: return "epilogue";
        case layer_input: return "input";
        case layer_unknown: return "unknown";
        default: return std::to_string(layer);
    }
}

std::string_view group_text(Group group) noexcept {
    switch (group) {
        case Group::other: return "other";
        case Group::norm: return "norm";
        case Group::attention: return "attention";
        case Group::mla: return "mla";
        case Group::moe: return "moe";
        case Group::mlp: return "mlp";
        case Group::mamba: return "mamba";
        case Group::gdn: return "gdn";
    }
    return "other";
}

std::string_view phase_text(Phase phase) noexcept {
    switch (phase) {
        case Phase::unknown: return "unknown";
        case Phase::prefill: return "prefill";
        case Phase::decode: return "decode";
        case Phase::mixed: return "mixed";
        case Phase::capture: return "capture";
        case Phase::other: return "other";
    }
    return "unknown";
}

std::string_view evidence_text(Evidence evidence) noexcept {
    switch (evidence) {
        case Evidence::lineage: return "lineage";
        case Evidence::annotation: return "annotation";
        case Evidence::companion: return "companion";
        case Evidence::sequence: return "sequence";
        case Evidence::name: return "name";
        case Evidence::none: return "none";
    }
    return "none";
}

TextId Layers::text_id(std::string_view text) {
    if (text.empty()) return 0;
    if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
    const auto id = static_cast<TextId>(texts.size());
    texts.emplace_back(text);
    ids_.emplace(text, id);
    return id;
}

const Layer* Layers::find(LayerId number) const noexcept {
    for (const Layer& layer : layers) {
        if (layer.number == number) return &layer;
    }
    return nullptr;
}

StringId Trace::string_id(std::string_view text) {
    if (text.empty()) return 0;
    if (const auto found = string_ids_.find(text); found != string_ids_.end()) return found->second;
    const auto id = static_cast<StringId>(strings.size());
    strings.emplace_back(text);
    string_ids_.emplace(strings.back(), id);
    return id;
}

std::size_t Trace::ShapeHash::operator()(const LaunchShape& shape) const noexcept {
    std::uint64_t hash = static_cast<std::uint64_t>(shape.shared_memory) * 0x9e3779b97f4a7c15U;
    const auto mix = [&](std::int32_t value) { hash = (hash ^ static_cast<std::uint32_t>(value)) * 0xff51afd7ed558ccdU; };
    for (const std::int32_t extent : shape.grid) mix(extent);
    for (const std::int32_t extent : shape.block) mix(extent);
    mix(shape.registers);
    return static_cast<std::size_t>(hash ^ (hash >> 32U));
}

std::uint32_t Trace::shape_id(const LaunchShape& shape) {
    if (shape == LaunchShape{}) return 0;
    const auto [found, is_new] = shape_ids_.try_emplace(shape, static_cast<std::uint32_t>(shapes.size()));
    if (is_new) shapes.push_back(shape);
    return found->second;
}

}  // namespace adpipe
