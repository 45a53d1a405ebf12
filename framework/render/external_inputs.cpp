#include "render/external_inputs.hpp"

#include <adpipe/render/op_facts.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace adpipe::render {

namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string lower(std::string_view text) {
    std::string out{text};
    std::transform(out.begin(), out.end(), out.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    return out;
}

struct Meaning {
    InputKind kind;
    std::string_view label;
};

/// True if `part` stands in `name` as words of its own: "cos" in "rotary_cos_2", not in "cosine_x".
bool has_words(std::string_view name, std::string_view part) {
    for (std::size_t at = name.find(part); at != std::string_view::npos; at = name.find(part, at + 1)) {
        const std::size_t end = at + part.size();
        const bool starts = at == 0 || std::isalnum(static_cast<unsigned char>(name[at - 1])) == 0;
        const bool stops = end == name.size() || std::isalpha(static_cast<unsigned char>(name[end])) == 0;
        if (starts && stops) return true;
    }
    return false;
}

bool speaks_of_rope(std::string_view name) {
    static constexpr std::array<std::string_view, 5> parts{"rope", "rotary", "cos_sin", "inv_freq", "freqs_cis"};
    return has_words(name, "cos") || has_words(name, "sin") ||
           std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return contains(name, part); });
}

bool speaks_of_batch(std::string_view name) {
    static constexpr std::array<std::string_view, 14> parts{"seqlen",    "seq_len",        "batch_info", "page",   "cache_loc",
                                                            "slot_idx",  "indptr",         "metadata",   "_host",  "block_",
                                                            "input_pos", "initial_states", "chunk_",     "prefill"};
    return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return contains(name, part); });
}

Meaning cache_meaning(std::string_view name) {
    if (contains(name, "conv")) return {InputKind::state_cache, "Convolution state cache"};
    if (contains(name, "ssm")) return {InputKind::state_cache, "SSM state cache"};
    if (contains(name, "delta")) return {InputKind::state_cache, "Delta rule state cache"};
    if (contains(name, "state")) return {InputKind::state_cache, "State cache"};
    if (contains(name, "residual") || contains(name, "hidden")) return {InputKind::other, "Hidden state buffer"};
    return {InputKind::kv_cache, "KV cache"};
}

/// By the vertex' own name and op alone.
std::optional<Meaning> meaning_of(const Vertex& vertex) {
    const std::string name = lower(vertex.name);
    const std::string_view op = bare_op(vertex.op);
    if (speaks_of_rope(name) || op == "cos" || op == "sin") return Meaning{InputKind::rope, "RoPE cos/sin"};
    if (vertex.kind == VertexKind::placeholder && contains(name, "cache") && !speaks_of_batch(name)) return cache_meaning(name);
    if (contains(op, "prepare_metadata") || speaks_of_batch(name)) return Meaning{InputKind::metadata, "batch metadata"};
    if (contains(name, "position")) return Meaning{InputKind::positions, "position ids"};
    if (contains(name, "mask")) return Meaning{InputKind::mask, "attention mask"};
    if (contains(op, "sym_size") || vertex.dtype == "SymInt" || vertex.dtype == "int") {
        return Meaning{InputKind::sizes, "batch and sequence sizes"};
    }
    if (contains(name, "input_ids")) return Meaning{InputKind::other, "token ids"};
    return {};
}

bool is_cast(const Vertex& vertex) {
    const std::string_view op = bare_op(vertex.op);
    return op == "to" || op == "_to_copy" || op == "type_as";
}

/// The meaning of `v` or, where its name tells none, of the value that it reshapes or casts.
std::optional<Meaning> meaning_through_casts(const GraphModel& graph, VertexId v) {
    for (int steps = 0; steps < 64; ++steps) {
        if (auto meaning = meaning_of(graph.vertex(v))) return meaning;
        const auto inputs = graph.inputs(v);
        if (inputs.empty() || !(is_shape_only(graph, v) || is_cast(graph.vertex(v)))) return {};
        v = inputs.front().source;
    }
    return {};
}

/// Rotary tables and masks are often computed by some nameless ops: what do they come from?
std::optional<Meaning> meaning_of_ancestors(const GraphModel& graph, VertexId v) {
    std::vector<VertexId> todo{v};
    std::vector<VertexId> seen{v};
    std::optional<Meaning> found;
    for (std::size_t i = 0; i < todo.size() && todo.size() < 64; ++i) {
        for (const Edge& edge : graph.inputs(todo[i])) {
            const Vertex& vertex = graph.vertex(edge.source);
            if (vertex.kind == VertexKind::weight && !speaks_of_rope(lower(vertex.name))) return {};  // it is computed, not prepared
            const auto meaning = meaning_of(vertex);
            if (meaning && (meaning->kind == InputKind::rope || meaning->kind == InputKind::mask)) return meaning;
            if (meaning && !found && meaning->kind != InputKind::sizes) found = meaning;
            if (std::find(seen.begin(), seen.end(), edge.source) == seen.end()) {
                seen.push_back(edge.source);
                todo.push_back(edge.source);
            }
        }
    }
    return found;
}

std::string value_label(const LayerView& view, VertexId v) {
    const Membership& member = view.membership(v);
    const std::string& stack = view.layers->text(member.stack);
    const std::string prefix = member.stack == view.layer->stack || stack.empty() ? std::string{} : stack + " ";
    if (member.layer >= 0) {
        std::string label = prefix + "layer " + std::to_string(member.layer) + " ";
        if (prefix.empty()) label[0] = 'L';
        return label + std::string{bare_op(view.graph->vertex(v).op)};
    }
    if (member.layer == layer_epilogue && !prefix.empty()) return prefix + "output";
    return std::string{bare_op(view.graph->vertex(v).op)};
}

}  // namespace

bool is_shared_table(const Vertex& vertex) { return vertex.kind == VertexKind::weight && speaks_of_rope(lower(vertex.name)); }

ExternalInput describe_input(const LayerView& view, VertexId v) {
    const Vertex& vertex = view.graph->vertex(v);
    const LayerId layer = view.membership(v).layer;
    if (std::find(view.boundary_in.begin(), view.boundary_in.end(), v) != view.boundary_in.end()) {
        const bool from_layer = layer >= 0 && layer != view.number();
        return {v, InputKind::residual,
                from_layer ? "Layer " + std::to_string(layer) + " residual output" : std::string{"Embedding output"}};
    }
    if (vertex.kind == VertexKind::op && layer >= 0) return {v, InputKind::layer_value, value_label(view, v)};
    auto meaning = meaning_through_casts(*view.graph, v);
    if (!meaning && vertex.kind == VertexKind::op) meaning = meaning_of_ancestors(*view.graph, v);
    if (meaning) return {v, meaning->kind, std::string{meaning->label}};
    if (vertex.kind == VertexKind::op) return {v, InputKind::other, value_label(view, v)};
    return {v, InputKind::other, "input " + std::string{vertex.name}};
}

}  // namespace adpipe::render
