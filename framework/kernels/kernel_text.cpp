#include "kernels/kernel_text.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <memory>

namespace adpipe::kernels {

namespace {

/// Longer names are not taken apart: nothing real is that long, and the C++ library's time and memory grow with the length.
constexpr std::size_t longest_mangled_name = 64 * 1024;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_alnum(char c) noexcept { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool opens(char c) noexcept { return c == '<' || c == '(' || c == '[' || c == '{'; }
bool closes(char c) noexcept { return c == '>' || c == ')' || c == ']' || c == '}'; }
bool starts_with(std::string_view text, std::string_view start) noexcept { return text.substr(0, start.size()) == start; }
bool ends_with(std::string_view text, std::string_view end) noexcept {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

std::string demangle_with_library(const std::string& name) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> plain{abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free};
    return status == 0 && plain ? std::string{plain.get()} : std::string{};
}

std::string_view trimmed(std::string_view text) noexcept {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

/// Reads "13GemmUniversal" at `at` and moves behind it; empty if no such name stands there.
std::string_view mangled_component(std::string_view text, std::size_t& at) noexcept {
    std::size_t length = 0;
    std::size_t i = at;
    while (i < text.size() && is_digit(text[i]) && length < text.size()) {
        length = length * 10 + static_cast<std::size_t>(text[i++] - '0');
    }
    if (length == 0 || length > text.size() - i) return {};
    at = i + length;
    return text.substr(i, length);
}

std::string name_in_mangled(std::string_view mangled) {
    std::size_t at = 2;  // behind "_Z"
    if (mangled.substr(at, 1) == "N") ++at;
    std::string name;
    while (true) {
        const std::string_view component = mangled_component(mangled, at);
        if (component.empty()) return name;
        if (starts_with(component, "_GLOBAL__N_")) continue;
        if (!name.empty()) name += "::";
        name += component;
    }
}

/// Without the text in brackets.
std::string without_arguments(std::string_view text) {
    std::string out;
    int depth = 0;
    for (const char c : text) {
        if (closes(c)) --depth;
        else if (opens(c)) ++depth;
        else if (depth <= 0) out += c;
    }
    return out;
}

std::vector<std::string_view> split_arguments(std::string_view arguments) {
    std::vector<std::string_view> parts;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (opens(arguments[i])) ++depth;
        if (closes(arguments[i])) --depth;
        if (arguments[i] == ',' && depth == 0) {
            parts.push_back(trimmed(arguments.substr(begin, i - begin)));
            begin = i + 1;
        }
    }
    const std::string_view last = trimmed(arguments.substr(begin));
    if (!last.empty() || !parts.empty()) parts.push_back(last);
    return parts;
}

/// What stands between the bracket at `open` and the one that closes it; all the rest if none does.
std::string_view bracketed(std::string_view text, std::size_t open) noexcept {
    int depth = 0;
    for (std::size_t i = open; i < text.size(); ++i) {
        if (opens(text[i])) ++depth;
        if (closes(text[i]) && --depth == 0) return text.substr(open + 1, i - open - 1);
    }
    return text.substr(open + 1);
}

std::string_view short_type(std::string_view type) noexcept {
    static constexpr std::array<std::array<std::string_view, 2>, 34> types{{
        {"__nv_bfloat16", "bf16"},
        {"__hip_bfloat16", "bf16"},
        {"c10::BFloat16", "bf16"},
        {"cutlass::bfloat16_t", "bf16"},
        {"std::bfloat16_t", "bf16"},
        {"hip_bfloat16", "bf16"},
        {"__bf16", "bf16"},
        {"ck::bhalf_t", "bf16"},
        {"ck_tile::bf16_t", "bf16"},
        {"__half", "fp16"},
        {"half", "fp16"},
        {"c10::Half", "fp16"},
        {"cutlass::half_t", "fp16"},
        {"_Float16", "fp16"},
        {"ck::half_t", "fp16"},
        {"float", "fp32"},
        {"double", "fp64"},
        {"__nv_fp8_e4m3", "fp8_e4m3"},
        {"__nv_fp8_e5m2", "fp8_e5m2"},
        {"cutlass::float_e4m3_t", "fp8_e4m3"},
        {"cutlass::float_e5m2_t", "fp8_e5m2"},
        {"c10::Float8_e4m3fn", "fp8_e4m3"},
        {"c10::Float8_e4m3fnuz", "fp8_e4m3fnuz"},
        {"ck::f8_fnuz_t", "fp8_e4m3fnuz"},
        {"ck::f8_ocp_t", "fp8_e4m3"},
        {"ck::f8_t", "fp8_e4m3"},
        {"__nv_fp4_e2m1", "fp4_e2m1"},
        {"cutlass::float_e2m1_t", "fp4_e2m1"},
        {"signed char", "int8"},
        {"int8_t", "int8"},
        {"int", "int32"},
        {"long", "int64"},
        {"unsigned char", "uint8"},
        {"cutlass::tfloat32_t", "tf32"},
    }};
    for (const auto& [full, name] : types) {
        if (type == full) return name;
    }
    return {};
}

bool is_number(std::string_view text) noexcept {
    if (!text.empty() && text.front() == '-') text.remove_prefix(1);
    return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

/// "tuple<C<1>, C<2>>" and "Sequence<16, 4>" → "1x2", "16x4"; empty if it is no list of numbers.
std::string number_list(std::string_view argument) {
    const std::size_t open = argument.find('<');
    if (open == std::string_view::npos || !ends_with(argument, ">")) return {};
    std::string out;
    for (const std::string_view part : split_arguments(bracketed(argument, open))) {
        const std::string number = simple_argument(part);
        if (!is_number(number)) return {};
        if (!out.empty()) out += 'x';
        out += number;
    }
    return out;
}

std::size_t field_end(std::string_view text, std::size_t at, std::string_view type) noexcept {
    std::size_t end = at;
    if (type == "word") {
        while (end < text.size() && is_alnum(text[end])) ++end;
        return end;
    }
    while (end < text.size() && is_digit(text[end])) ++end;
    if (type != "dims") return end;
    while (end > at && end + 1 < text.size() && text[end] == 'x' && is_digit(text[end + 1])) {
        ++end;
        while (end < text.size() && is_digit(text[end])) ++end;
    }
    return end;
}

/// Matches the whole pattern at `at`.
bool read_at(std::string_view pattern, std::string_view text, std::size_t at, std::vector<Capture>& captures) {
    static constexpr std::size_t longest_gap = 96;
    while (!pattern.empty()) {
        const std::size_t brace = pattern.find('{');
        if (pattern == "$") return at == text.size();
        const std::string_view literal = pattern.substr(0, brace);
        if (text.substr(std::min(at, text.size()), literal.size()) != literal) return false;
        at += literal.size();
        if (brace == std::string_view::npos) return true;
        const std::size_t close = pattern.find('}', brace);
        if (close == std::string_view::npos) return false;
        const std::string_view field = pattern.substr(brace + 1, close - brace - 1);
        pattern.remove_prefix(close + 1);
        if (field == "*") {
            const std::string_view behind = pattern.substr(0, pattern.find('{'));
            const std::size_t found = text.substr(std::min(at, text.size()), longest_gap + behind.size()).find(behind);
            if (behind.empty() || found == std::string_view::npos) return false;
            at += found;
            continue;
        }
        const std::size_t colon = field.find(':');
        std::size_t end = field_end(text, at, colon == std::string_view::npos ? "" : field.substr(colon + 1));
        const std::string_view next = pattern.substr(0, pattern.find('{'));
        if (!next.empty() && next != "$") {  // "bf16gmem" holds the type and the literal behind it
            const std::size_t found = text.substr(at, end - at + next.size()).find(next);
            if (found != std::string_view::npos && found > 0) end = at + found;
        }
        if (end == at) return false;
        captures.push_back({field.substr(0, colon), text.substr(at, end - at)});
        at = end;
    }
    return true;
}

}  // namespace

std::string demangle(std::string_view name) {
    if (ends_with(name, ".kd")) name.remove_suffix(3);  // AMD's suffix for kernel descriptors
    if (!starts_with(name, "_Z") || name.size() > longest_mangled_name) return std::string{name};
    const std::string mangled{name};
    std::string plain = demangle_with_library(mangled);
    if (plain.empty() && mangled.find("DF16") != std::string::npos) {
        // 16-bit floats are younger than many C++ libraries. A type of the same rank that no kernel uses stands in for them.
        std::string stand_in = mangled;
        replace_all(stand_in, "DF16b", "De");
        replace_all(stand_in, "DF16_", "Dd");
        plain = demangle_with_library(stand_in);
        replace_all(plain, "decimal128", "__bf16");
        replace_all(plain, "decimal64", "_Float16");
    }
    return plain.empty() ? mangled : plain;
}

std::string function_name(std::string_view demangled) {
    if (starts_with(demangled, "_ZN") || (starts_with(demangled, "_Z") && demangled.size() > 2 && is_digit(demangled[2]))) {
        std::string name = name_in_mangled(demangled);
        if (!name.empty()) return name;
    }
    if (starts_with(demangled, "Memcpy ") || starts_with(demangled, "Memset ")) {  // "Memcpy DtoD (Device -> Device)"
        return std::string{trimmed(demangled.substr(0, demangled.find('(')))};
    }
    std::string text{demangled};
    for (const std::string_view scope : {"(anonymous namespace)::", "<unnamed>::", "{anonymous}::"}) replace_all(text, scope, "");
    int depth = 0;
    std::size_t begin = 0;
    std::size_t end = text.size();
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '(' && depth == 0 && i > begin) {
            end = i;
            break;
        }
        if (c == ' ' && depth == 0 && i + 1 < text.size()) begin = i + 1;
        if (opens(c)) ++depth;
        if (closes(c)) --depth;
    }
    std::string name = without_arguments(std::string_view{text}.substr(begin, end - begin));
    return name.empty() ? text : name;
}

std::string_view last_component(std::string_view qualified) noexcept {
    const std::size_t colons = qualified.rfind("::");
    return colons == std::string_view::npos ? qualified : qualified.substr(colons + 2);
}

std::vector<std::string> template_arguments(std::string_view text, std::string_view name) {
    for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
        const std::size_t open = at + name.size();
        if (open >= text.size() || text[open] != '<') continue;
        if (at > 0 && (is_alnum(text[at - 1]) || text[at - 1] == '_')) continue;
        std::vector<std::string> arguments;
        for (const std::string_view part : split_arguments(bracketed(text, open))) arguments.push_back(simple_argument(part));
        return arguments;
    }
    return {};
}

std::string simple_argument(std::string_view argument) {
    argument = trimmed(argument);
    if (starts_with(argument, "(")) {  // a cast: "(int)128", "(deep_gemm::GemmType)0"
        const std::string_view type = bracketed(argument, 0);
        if (argument.size() > type.size() + 2) {
            const std::string value = simple_argument(argument.substr(type.size() + 2));
            if (type == "bool") return value == "0" ? "false" : "true";
            return value;
        }
    }
    if (const std::string_view type = short_type(argument); !type.empty()) return std::string{type};
    std::size_t digits = argument.size();
    while (digits > 0 && (argument[digits - 1] == 'u' || argument[digits - 1] == 'l')) --digits;
    if (is_number(argument.substr(0, digits))) return std::string{argument.substr(0, digits)};
    if (const std::size_t open = argument.find('<'); open != std::string_view::npos) {
        const std::string_view base = last_component(argument.substr(0, open));
        if (base == "integral_constant") {
            const auto parts = split_arguments(bracketed(argument, open));
            if (parts.size() == 2) return simple_argument(parts[1]);
        }
        if (base == "C" || base == "tuple" || base == "Sequence" || base == "sequence") {
            std::string numbers = number_list(argument);
            if (!numbers.empty()) return numbers;
        }
    }
    return std::string{argument};
}

std::string lower_case(std::string_view text) {
    std::string out{text};
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

bool glob_matches(std::string_view pattern, std::string_view text) noexcept {
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t resume = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

bool read_pattern(std::string_view pattern, std::string_view text, std::vector<Capture>& captures) {
    const std::string_view first = pattern.substr(0, pattern.find('{'));
    const std::size_t before = captures.size();
    for (std::size_t at = text.find(first); at != std::string_view::npos; at = text.find(first, at + 1)) {
        if (read_at(pattern, text, at, captures)) return true;
        captures.resize(before);
    }
    return false;
}

bool fill_template(std::string_view text, const std::vector<Capture>& captures, std::string& out) {
    out.clear();
    while (true) {
        const std::size_t brace = text.find('{');
        out += text.substr(0, brace);
        if (brace == std::string_view::npos) return true;
        const std::size_t close = text.find('}', brace);
        if (close == std::string_view::npos) return false;
        const std::string_view name = text.substr(brace + 1, close - brace - 1);
        const auto found = std::find_if(captures.begin(), captures.end(), [&](const Capture& c) { return c.name == name; });
        if (found == captures.end()) return false;
        out += found->text;
        text.remove_prefix(close + 1);
    }
}

}  // namespace adpipe::kernels
