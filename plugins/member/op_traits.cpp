#include "op_traits.hpp"

#include "glob.hpp"

#include <algorithm>
#include <array>

namespace adpipe::member {

namespace {

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& sorted, std::string_view text) {
    return std::binary_search(sorted.begin(), sorted.end(), text);
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

OpFacts::OpFacts(std::string_view op, VertexKind kind)
    : bare(kind == VertexKind::op ? bare_op(op) : std::string_view{}),
      hash(hash_text(op_without_default(op), static_cast<std::uint64_t>(kind))),
      in_place(kind == VertexKind::op ? in_place_arguments(op) : std::span<const std::uint8_t>{}),
      is_view(member::is_view(bare)),
      is_check(member::is_check(bare)),
      is_identity(member::is_identity(bare)),
      reads_size(member::reads_size(bare)),
      is_number_arithmetic(member::is_number_arithmetic(bare)),
      is_getitem(bare == "getitem"),
      is_indexing(member::is_indexing(bare)) {}

std::string_view bare_op(std::string_view op) noexcept {
    const std::size_t dot = op.find('.');
    if (dot == std::string_view::npos) return op;
    const std::string_view rest = op.substr(dot + 1);
    return rest.substr(0, rest.find('.'));
}

std::string_view op_without_default(std::string_view op) noexcept {
    constexpr std::string_view suffix = ".default";
    if (op.size() > suffix.size() && op.substr(op.size() - suffix.size()) == suffix) op.remove_suffix(suffix.size());
    return op;
}

bool is_identity(std::string_view bare) noexcept {
    static constexpr std::array<std::string_view, 4> identities{"alias", "detach", "lift_fresh", "lift_fresh_copy"};
    return is_one_of(identities, bare);
}

bool is_view(std::string_view bare) noexcept {
    static constexpr std::array<std::string_view, 25> views{
        "alias",     "as_strided", "chunk",     "detach",    "diagonal", "expand",  "expand_as",        "flatten", "getitem",
        "narrow",    "permute",    "reshape",   "select",    "slice",    "split",   "split_with_sizes", "squeeze", "t",
        "transpose", "unbind",     "unflatten", "unsqueeze", "view",     "view_as", "view_dtype"};
    return is_one_of(views, bare) || contains(bare, "stream_passthrough");
}

bool is_indexing(std::string_view bare) noexcept {
    static constexpr std::array<std::string_view, 4> indexing{"select", "slice", "squeeze", "unsqueeze"};
    return is_one_of(indexing, bare);
}

bool reads_size(std::string_view bare) noexcept { return contains(bare, "sym_size") || contains(bare, "sym_numel"); }

bool is_check(std::string_view bare) noexcept {
    return bare.starts_with("_assert") || bare.starts_with("sym_constrain_range") || bare == "_functional_assert_async";
}

bool is_cast(std::string_view bare) noexcept {
    static constexpr std::array<std::string_view, 5> casts{"_to_copy", "float", "half", "to", "type_as"};
    return is_one_of(casts, bare);
}

bool is_number_arithmetic(std::string_view bare) noexcept {
    static constexpr std::array<std::string_view, 15> arithmetic{"add", "ceil", "floor", "floordiv", "ge",      "max",     "min",    "mod",
                                                                 "mul", "neg",  "pow",   "sub",      "sym_max", "sym_min", "truediv"};
    return is_one_of(arithmetic, bare);
}

bool is_shape_only(std::string_view bare) noexcept {
    static constexpr std::array<std::string_view, 12> moves{"_to_copy", "_unsafe_view", "cat",    "clone", "contiguous", "copy_",
                                                            "expand",   "float",        "repeat", "stack", "to",         "type_as"};
    return is_view(bare) || is_one_of(moves, bare) || reads_size(bare);
}

bool is_number_type(std::string_view dtype) noexcept {
    static constexpr std::array<std::string_view, 6> numbers{"SymBool", "SymFloat", "SymInt", "bool", "float", "int"};
    return is_one_of(numbers, dtype);
}

}  // namespace adpipe::member
