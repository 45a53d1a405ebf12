#include <adpipe/render/op_facts.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace adpipe::render {

namespace {

template <std::size_t Size>
bool is_one_of(std::string_view text, const std::array<std::string_view, Size>& words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}
bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
bool remove_prefix(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

constexpr std::array<std::string_view, 34> reshaping_ops{"view",
                                                         "reshape",
                                                         "_unsafe_view",
                                                         "view_as",
                                                         "reshape_as",
                                                         "getitem",
                                                         "t",
                                                         "transpose",
                                                         "permute",
                                                         "movedim",
                                                         "swapaxes",
                                                         "unsqueeze",
                                                         "squeeze",
                                                         "expand",
                                                         "expand_as",
                                                         "split",
                                                         "split_output",
                                                         "chunk",
                                                         "unbind",
                                                         "split_with_sizes",
                                                         "slice",
                                                         "select",
                                                         "narrow",
                                                         "flatten",
                                                         "unflatten",
                                                         "detach",
                                                         "alias",
                                                         "contiguous",
                                                         "dropout",
                                                         "identity",
                                                         "view_as_real",
                                                         "view_as_complex",
                                                         "lift_fresh_copy",
                                                         "unsafe_split"};
constexpr std::array<std::string_view, 6> casting_ops{"to", "_to_copy", "type_as", "float", "half", "bfloat16"};

bool is_known_dtype(std::string_view dtype) {
    return !dtype.empty() && dtype != "unknown" && dtype != "N/A" && dtype.substr(0, 6) == "torch.";
}

/// The value's type, from the op that first printed one; empty if none did.
std::string_view dtype_before(const GraphModel& graph, VertexId v) {
    for (int steps = 0; steps < 64; ++steps) {
        const Vertex& vertex = graph.vertex(v);
        if (is_known_dtype(vertex.dtype)) return vertex.dtype;
        const auto inputs = graph.inputs(v);
        if (vertex.kind != VertexKind::op || inputs.empty() || !is_shape_only(graph, v)) return {};
        v = inputs.front().source;
    }
    return {};
}

}  // namespace

std::string_view bare_op(std::string_view op) noexcept {
    static constexpr std::array<std::string_view, 18> overloads{"default",       "Tensor",      "Scalar",     "dtype",
                                                                "int",           "dim",         "out",        "self",
                                                                "device",        "other",       "src",        "Tensor_Scalar",
                                                                "Scalar_Tensor", "dim_IntList", "using_ints", "dtype_layout",
                                                                "self_int",      "ScalarOther"};
    constexpr std::string_view locals = "<locals>.";
    if (const std::size_t at = op.rfind(locals); at != std::string_view::npos) return op.substr(at + locals.size());
    remove_prefix(op, "torch.ops.");
    const std::size_t first = op.find('.');
    if (first == std::string_view::npos) return op;
    const std::size_t second = op.find('.', first + 1);
    if (second == std::string_view::npos) return op.substr(first + 1);
    if (op.find('.', second + 1) == std::string_view::npos) return op.substr(first + 1, second - first - 1);
    const std::size_t last = op.rfind('.');
    if (!is_one_of(op.substr(last + 1), overloads)) return op.substr(last + 1);
    const std::size_t before = op.rfind('.', last - 1);
    return op.substr(before + 1, last - before - 1);
}

bool is_shape_only(const GraphModel& graph, VertexId v) {
    const Vertex& vertex = graph.vertex(v);
    if (vertex.kind != VertexKind::op) return false;
    const std::string_view op = bare_op(vertex.op);
    if (is_one_of(op, reshaping_ops) || contains(op, "_stream_passthrough")) return true;
    if (!is_one_of(op, casting_ops)) return false;
    const auto inputs = graph.inputs(v);
    return !inputs.empty() && is_known_dtype(vertex.dtype) && dtype_before(graph, inputs.front().source) == vertex.dtype;
}

bool begins_auxiliary_stream(std::string_view op) noexcept { return contains(op, "begin_aux_stream"); }
bool ends_auxiliary_stream(std::string_view op) noexcept { return contains(op, "end_aux_stream"); }

bool is_named_by_weight(std::string_view op) noexcept {
    static constexpr std::array<std::string_view, 8> exact{"mm", "bmm", "addmm", "matmul", "einsum", "conv1d", "embedding", "F.linear"};
    static constexpr std::array<std::string_view, 5> parts{"linear", "norm", "gemm", "conv1d", "embedding"};
    const std::string_view bare = bare_op(op);
    return is_one_of(bare, exact) || std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return contains(bare, part); });
}

std::string weight_role(std::string_view weight, std::int32_t layer) {
    static constexpr std::array<std::string_view, 3> endings{"_weight", ".weight", "_bias"};
    static constexpr std::array<std::string_view, 12> modules{"self_attn", "self_attention", "attention",        "attn", "linear_attn",
                                                              "mlp",       "feed_forward",   "block_sparse_moe", "moe",  "mixer",
                                                              "ffn",       "mamba"};
    std::string_view role = weight;
    for (const char separator : {'_', '.'}) {
        const std::string number = separator + std::to_string(layer) + separator;
        const std::size_t at = weight.find(number);
        // A count of something else ("fused_weight_3_…") tells no role: the path before must speak of layers or blocks.
        const std::string_view before = weight.substr(0, std::min(at, weight.size()));
        const bool is_layer_path = before.ends_with("layers") || before.ends_with("blocks") || before.ends_with("block") ||
                                   before.ends_with("_h") || before.ends_with(".h") || before == "h";
        if (at != std::string_view::npos && is_layer_path) role = weight.substr(at + number.size());
    }
    for (const std::string_view module : modules) {
        std::string_view rest = role;
        if (remove_prefix(rest, module) && rest.size() > 1 && (rest[0] == '_' || rest[0] == '.')) {
            role = rest.substr(1);
            break;
        }
    }
    for (const std::string_view ending : endings) {
        if (role.size() > ending.size() && role.ends_with(ending)) {
            role.remove_suffix(ending.size());
            break;
        }
    }
    return std::string{role};
}

std::string short_dtype(std::string_view dtype) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> names{{{"float8_e4m3fn", "fp8"},
                                                                                          {"float8_e5m2", "fp8e5m2"},
                                                                                          {"bfloat16", "bf16"},
                                                                                          {"float16", "f16"},
                                                                                          {"float32", "f32"},
                                                                                          {"float64", "f64"},
                                                                                          {"uint8", "u8"},
                                                                                          {"int8", "i8"},
                                                                                          {"int32", "i32"},
                                                                                          {"int64", "i64"},
                                                                                          {"complex64", "c64"},
                                                                                          {"bool", "bool"}}};
    if (dtype == "unknown" || dtype == "N/A") return {};
    std::string out;
    while (!dtype.empty()) {
        if (!remove_prefix(dtype, "torch.")) {
            out += dtype.front();
            dtype.remove_prefix(1);
            continue;
        }
        std::size_t end = 0;
        while (end < dtype.size() && dtype[end] != ',' && dtype[end] != ')' && dtype[end] != ' ') ++end;
        const std::string_view name = dtype.substr(0, end);
        const auto* known = std::find_if(names.begin(), names.end(), [&](const auto& entry) { return entry.first == name; });
        out += known == names.end() ? name : known->second;
        dtype.remove_prefix(end);
    }
    return out;
}

}  // namespace adpipe::render
