#include <adpipe/model/graph_fwd.hpp>

#include <algorithm>
#include <array>

namespace adpipe {

namespace {

bool remove_prefix(std::string_view& text, std::string_view prefix) {
    if (text.substr(0, prefix.size()) != prefix) return false;
    text.remove_prefix(prefix.size());
    return true;
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

/// Splits at `separator` where no bracket is open.
template <class Take>
void split_outside_brackets(std::string_view text, char separator, Take take) {
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '(' || c == '[' || c == '<') ++depth;
        if (c == ')' || c == ']' || c == '>') --depth;
        if (c == separator && depth == 0) {
            take(trim(text.substr(begin, i - begin)));
            begin = i + 1;
        }
    }
    take(trim(text.substr(begin)));
}

/// "(a, b)" → a, b; anything that is not one pair of parentheses around the whole → itself. "(s44//4)x256" is not.
std::vector<std::string_view> tuple_elements(std::string_view text) {
    std::vector<std::string_view> elements;
    const bool opens = !text.empty() && text.front() == '(' && text.back() == ')';
    if (opens) {
        int depth = 0;
        std::size_t closes_at = 0;
        for (std::size_t i = 0; i < text.size() && closes_at == 0; ++i) {
            if (text[i] == '(') ++depth;
            if (text[i] == ')' && --depth == 0) closes_at = i;
        }
        if (closes_at == text.size() - 1) {
            const std::string_view inside = text.substr(1, text.size() - 2);
            if (trim(inside).empty()) return elements;
            split_outside_brackets(inside, ',', [&](std::string_view element) {
                if (!element.empty()) elements.push_back(element);
            });
            return elements;
        }
    }
    elements.push_back(text);
    return elements;
}

}  // namespace

std::string_view op_name(std::string_view target) noexcept {
    std::string_view text = target;
    constexpr std::string_view first_letters = "to_<";  // of what is looked for below; most begin with "aten." or "auto_deploy."
    if (text.empty() || first_letters.find(text.front()) == std::string_view::npos) return target;
    if (remove_prefix(text, "torch.ops.") || remove_prefix(text, "operator.") || remove_prefix(text, "_operator.")) return text;
    if (text.size() < 2 || text.front() != '<' || text.back() != '>') return target;
    text = text.substr(1, text.size() - 2);
    if (!remove_prefix(text, "built-in function ") && !remove_prefix(text, "built-in method ") && !remove_prefix(text, "function ") &&
        !remove_prefix(text, "bound method ") && !remove_prefix(text, "class ")) {
        return target;
    }
    const std::size_t end = text.find(' ');
    return end == std::string_view::npos ? text : text.substr(0, end);
}

std::vector<TensorType> output_types(const Vertex& vertex) {
    std::vector<TensorType> types;
    const auto dtypes = tuple_elements(vertex.dtype);
    const auto shapes = tuple_elements(vertex.shape);
    // "(s44//4 + 1)" alone is a dimension, not a tuple: only a tuple of dtypes makes a tuple of shapes.
    const bool is_tuple = !vertex.dtype.empty() && vertex.dtype.front() == '(';
    if (!is_tuple) return {{vertex.shape, vertex.dtype}};
    for (std::size_t i = 0; i < std::max(shapes.size(), dtypes.size()); ++i) {
        types.push_back(
            {i < shapes.size() ? shapes[i] : std::string_view{"?"}, i < dtypes.size() ? dtypes[i] : std::string_view{"unknown"}});
    }
    return types;
}

std::vector<std::string_view> split_dimensions(std::string_view shape) {
    std::vector<std::string_view> dimensions;
    if (shape.empty() || shape == "?" || shape == "scalar") return dimensions;
    int depth = 0;
    std::size_t begin = 0;
    // "Max" and "Mod" hold no 'x' that separates: a separator stands between dimensions, outside brackets, not inside a word.
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const char c = shape[i];
        if (c == '(') ++depth;
        if (c == ')') --depth;
        const bool after_letter = i > 0 && is_letter(shape[i - 1]);
        if (c == 'x' && depth == 0 && i > begin && !after_letter) {
            dimensions.push_back(trim(shape.substr(begin, i - begin)));
            begin = i + 1;
        }
    }
    dimensions.push_back(trim(shape.substr(begin)));
    return dimensions;
}

namespace {

/// "aten.add_.Tensor" → "add_", "auto_deploy.x_inplace" → "x_inplace", "getitem" → "getitem".
std::string_view bare_op(std::string_view op) {
    const std::size_t first = op.find('.');
    if (first == std::string_view::npos) return op;
    const std::string_view rest = op.substr(first + 1);
    return rest.substr(0, rest.find('.'));
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

std::span<const std::uint8_t> in_place_arguments(std::string_view target) noexcept {
    static constexpr std::array<std::uint8_t, 1> first{0};
    static constexpr std::array<std::uint8_t, 2> first_two{0, 1};
    const std::string_view op = bare_op(target);
    // ATen's rule: a trailing underscore writes the first argument ("add_", "copy_", "index_put_"); "__and__" is another thing.
    if (op.size() > 1 && op.back() == '_' && op[op.size() - 2] != '_') return first;
    if (op.size() > 8 && contains(op, "_inplace"))
        return contains(op, "fused_add_rms_norm_inplace") ? std::span<const std::uint8_t>{first_two} : first;
    // Python's operators, "iadd" for "x += y".
    if (op.empty() || (op.front() != 'i' && op != "setitem")) return {};
    static constexpr std::array<std::string_view, 14> operators{"iadd",    "isub", "imul", "itruediv", "ifloordiv", "imod",    "ipow",
                                                                "imatmul", "iand", "ior",  "ixor",     "ilshift",   "irshift", "setitem"};
    if (std::find(operators.begin(), operators.end(), op) != operators.end()) return first;
    return {};
}

}  // namespace adpipe
