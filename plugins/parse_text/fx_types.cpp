#include "fx_types.hpp"

#include "characters.hpp"

#include <array>
#include <string>

namespace adpipe::parse {

namespace {

struct DtypeName {
    std::string_view abbreviation;
    std::string_view name;
};

constexpr std::array<DtypeName, 22> dtype_names{{
    {"bf16", "torch.bfloat16"},
    {"f16", "torch.float16"},
    {"f32", "torch.float32"},
    {"f64", "torch.float64"},
    {"f8e4m3fn", "torch.float8_e4m3fn"},
    {"f8e5m2", "torch.float8_e5m2"},
    {"f8e4m3fnuz", "torch.float8_e4m3fnuz"},
    {"f8e5m2fnuz", "torch.float8_e5m2fnuz"},
    {"f8e8m0fnu", "torch.float8_e8m0fnu"},
    {"f4e2m1fnx2", "torch.float4_e2m1fn_x2"},
    {"c32", "torch.complex32"},
    {"c64", "torch.complex64"},
    {"c128", "torch.complex128"},
    {"i8", "torch.int8"},
    {"i16", "torch.int16"},
    {"i32", "torch.int32"},
    {"i64", "torch.int64"},
    {"u8", "torch.uint8"},
    {"u16", "torch.uint16"},
    {"u32", "torch.uint32"},
    {"u64", "torch.uint64"},
    {"b8", "torch.bool"},
}};

/// "s44, s70 + 3, Min(16, s70)" → "s44xs70 + 3xMin(16, s70)": only commas outside brackets part dimensions.
std::string join_dimensions(std::string_view list) {
    std::string shape;
    int depth = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const char c = list[i];
        if (c == '(' || c == '[') ++depth;
        if (c == ')' || c == ']') --depth;
        if (c != ',' || depth != 0) {
            shape += c;
            continue;
        }
        shape += 'x';
        while (i + 1 < list.size() && list[i + 1] == ' ') ++i;
    }
    return shape.empty() ? "scalar" : shape;
}

}  // namespace

FxType FxTypes::read(std::string_view annotation) {
    const auto [known, is_new] = known_.try_emplace(annotation);
    if (is_new) known->second = convert(annotation);
    return known->second;
}

FxType FxTypes::convert(std::string_view annotation) {
    if (starts_with(annotation, "Sym(")) return {"?", "SymInt"};
    const std::size_t open = annotation.find('[');
    const std::size_t close = open == std::string_view::npos ? open : annotation.find(']', open);
    if (close == std::string_view::npos || open == 0) return {{}, annotation};
    FxType type{{}, annotation.substr(0, open)};
    for (const char c : type.dtype) {
        if (!is_class(c, letter_character | digit_character)) return {{}, annotation};  // "Tuple[…]", "(f32[2], f32[3])"
    }
    type.shape = builder_.intern(join_dimensions(annotation.substr(open + 1, close - open - 1)));
    for (const DtypeName& dtype : dtype_names) {
        if (dtype.abbreviation == type.dtype) type.dtype = dtype.name;
    }
    return type;
}

}  // namespace adpipe::parse
