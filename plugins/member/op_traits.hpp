#pragma once

#include <adpipe/model/graph_fwd.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace adpipe::member {

/// What is known of an op by its name alone.
struct OpFacts {
    OpFacts(std::string_view op, VertexKind kind);

    std::string_view bare;                   ///< without namespace and overload; empty for what is no op
    std::uint64_t hash;                      ///< of the op with namespace and overload
    std::span<const std::uint8_t> in_place;  ///< positions of the arguments that it writes
    bool is_view;
    bool is_check;
    bool is_identity;
    bool reads_size;
    bool is_number_arithmetic;
    bool is_getitem;
    bool is_indexing;
};

/// The name of an op without namespace and overload: "aten.add_.Tensor" → "add_", "auto_deploy.x.default" → "x", "getitem" → "getitem".
std::string_view bare_op(std::string_view op) noexcept;

/// The op with its namespace, without the overload "default", which some texts leave out.
std::string_view op_without_default(std::string_view op) noexcept;

/// True for ops whose result is their first argument, unchanged.
bool is_identity(std::string_view bare) noexcept;

/// True for ops whose result shares storage with their first argument.
bool is_view(std::string_view bare) noexcept;

/// True for ops that pick or insert dimensions, as an index expression x[:, None, 3] does.
bool is_indexing(std::string_view bare) noexcept;

/// True for ops that read a size; their result is a number, not a tensor.
bool reads_size(std::string_view bare) noexcept;

/// True for ops that only check a value, and give none: torch.export writes one before each cast.
bool is_check(std::string_view bare) noexcept;

/// True for ops that change a tensor's type.
bool is_cast(std::string_view bare) noexcept;

/// True for arithmetic that gives a number when all its arguments are numbers.
bool is_number_arithmetic(std::string_view bare) noexcept;

/// True for ops that move, cast or reshape a value and compute nothing.
bool is_shape_only(std::string_view bare) noexcept;

/// True for printed types of Python numbers.
bool is_number_type(std::string_view dtype) noexcept;

}  // namespace adpipe::member
