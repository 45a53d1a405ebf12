#pragma once

// Taking kernel names apart. Every function is pure.

#include <string>
#include <string_view>
#include <vector>

namespace adpipe::kernels {

/// What the C++ library makes of a mangled name. A name that is not mangled comes back as it is; of a mangled one that cannot be read
/// (cut off, or of newer types) the text stays mangled.
std::string demangle(std::string_view name);

/// The qualified name of the function: without return type, template arguments and parameters. Of a name that is still mangled, the
/// leading nested name: "_ZN7sgl_hip10activation18act_and_mul_kernelI…" → "sgl_hip::activation::act_and_mul_kernel".
std::string function_name(std::string_view demangled);

/// The part of a qualified name behind its last "::".
std::string_view last_component(std::string_view qualified) noexcept;

/// Arguments of the first use of the template called `name` in `text`, each simplified; empty if there is none.
std::vector<std::string> template_arguments(std::string_view text, std::string_view name);

/// "(int)128" and "128u" → "128", "(bool)0" → "false", "cute::C<64>" → "64", "cute::tuple<cute::C<1>, cute::C<2>>" → "1x2",
/// "cutlass::bfloat16_t" → "bf16".
std::string simple_argument(std::string_view argument);

std::string lower_case(std::string_view text);

/// '*' stands for any text. Both in lower case.
bool glob_matches(std::string_view pattern, std::string_view text) noexcept;

struct Capture {
    std::string_view name;  ///< in the pattern
    std::string_view text;
};
/// Finds `pattern` in `text`; adds what its fields hold to `captures` and returns true, or returns false and adds nothing.
/// Fields: {x} a number, {x:word} letters and digits, {x:dims} "64x16x2", {*} a short gap. A '$' at the end stands for the end of the text.
bool read_pattern(std::string_view pattern, std::string_view text, std::vector<Capture>& captures);

/// `text` with each {name} replaced by its capture. Nothing if one of them is not there.
bool fill_template(std::string_view text, const std::vector<Capture>& captures, std::string& out);

}  // namespace adpipe::kernels
