#include <adpipe/render/kernel_name.hpp>

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <optional>

namespace adpipe::render {

namespace {

constexpr std::size_t longest_name = 60;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool opens(char c) { return c == '<' || c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == '>' || c == ')' || c == ']' || c == '}'; }
template <std::size_t Size>
bool is_one_of(std::string_view text, const std::array<std::string_view, Size>& words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

/// Names that wrap the kernel which their template argument names.
constexpr std::array<std::string_view, 10> wrappers{"device_kernel", "Kernel",       "Kernel2",       "kernel",        "run_global",
                                                    "_kernel_agent", "kernel_entry", "launch_kernel", "global_kernel", "kentry"};

/// Reads "13GemmUniversal" at `at` and moves behind it; nothing if no such name stands there.
std::optional<std::string_view> mangled_identifier(std::string_view text, std::size_t& at) {
    std::size_t length = 0;
    std::size_t i = at;
    while (i < text.size() && is_digit(text[i]) && length < text.size()) {
        length = length * 10 + static_cast<std::size_t>(text[i++] - '0');
    }
    if (length == 0 || i + length > text.size()) return {};
    at = i + length;
    return text.substr(i, length);
}

/// The function's own name from a mangled name that the C++ library cannot read: cut off by the profiler, or of newer types.
std::optional<std::string> name_in_mangled(std::string_view text) {
    std::string_view name;
    for (std::size_t i = text.find('N'); i != std::string_view::npos; i = text.find('N', i + 1)) {
        std::size_t at = i + 1;
        if (at < text.size() && text[at] == 'S') {  // a namespace named before, as "S_" or "S1_"
            at = text.find('_', at);
            if (at == std::string_view::npos) break;
            ++at;
        }
        std::string_view last;
        while (const auto identifier = mangled_identifier(text, at)) last = *identifier;
        if (last.empty()) continue;
        name = last;
        if (!is_one_of(name, wrappers)) break;
    }
    if (name.empty()) return {};
    return std::string{name};
}

std::string demangled(std::string_view name) {
    std::string text{name};
    if (text.ends_with(".kd")) text.resize(text.size() - 3);  // AMD's suffix for kernel descriptors
    if (text.substr(0, 2) != "_Z") return text;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> plain{abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), &std::free};
    if (status == 0 && plain) return plain.get();
    return name_in_mangled(text).value_or(text);
}

void remove_all(std::string& text, std::string_view part) {
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) text.erase(at, part.size());
}

/// The qualified name, template arguments included: without return type and parameters.
std::string_view qualified_name(std::string_view text) {
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '(' && depth == 0 && i > begin) return text.substr(begin, i - begin);
        if (c == ' ' && depth == 0 && i + 1 < text.size()) begin = i + 1;
        if (opens(c)) ++depth;
        if (closes(c)) --depth;
    }
    return text.substr(begin);
}

struct NameParts {
    std::string_view base;       ///< last component
    std::string_view arguments;  ///< of its template, without the brackets
};

NameParts split_name(std::string_view qualified) {
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i + 1 < qualified.size(); ++i) {
        if (depth == 0 && qualified[i] == ':' && qualified[i + 1] == ':') begin = i + 2;
        if (opens(qualified[i])) ++depth;
        if (closes(qualified[i])) --depth;
    }
    const std::string_view last = qualified.substr(begin);
    const std::size_t bracket = last.find('<');
    if (bracket == std::string_view::npos || bracket == 0) return {last, {}};
    std::string_view arguments = last.substr(bracket + 1);
    if (!arguments.empty() && arguments.back() == '>') arguments.remove_suffix(1);
    return {last.substr(0, bracket), arguments};
}

/// "CompareEq" → "compare_eq".
std::string snake_case(std::string_view word) {
    std::string out;
    for (std::size_t i = 0; i < word.size(); ++i) {
        const bool upper = std::isupper(static_cast<unsigned char>(word[i])) != 0;
        if (upper && i > 0 && std::islower(static_cast<unsigned char>(word[i - 1])) != 0) out += '_';
        out += static_cast<char>(std::tolower(static_cast<unsigned char>(word[i])));
    }
    return out;
}

/// What an identifier in the template arguments of a PyTorch wrapper says of the wrapped operation, or nothing.
std::optional<std::string> operation_named_by(std::string_view word) {
    static constexpr std::array<std::string_view, 5> plumbing{"AUnaryFunctor", "BUnaryFunctor", "BinaryFunctor", "UnaryFunctor",
                                                              "gpu_index_kernel"};
    static constexpr std::array<std::string_view, 2> prefixes{"CUDAFunctorOnSelf_", "CUDAFunctor_"};
    static constexpr std::array<std::string_view, 8> suffixes{"_kernel_cuda", "_kernel_impl", "_cuda_out", "_kernel",
                                                              "_functor",     "Functor",      "Ops",       "_impl"};
    if (is_one_of(word, plumbing) || word.substr(0, 10) == "gpu_kernel" || word.ends_with("elementwise_kernel")) return {};
    for (const std::string_view prefix : prefixes) {
        if (word.substr(0, prefix.size()) == prefix) return std::string{word.substr(prefix.size())};
    }
    for (const std::string_view suffix : suffixes) {
        if (word.size() > suffix.size() && word.ends_with(suffix)) {
            return snake_case(word.substr(0, word.size() - suffix.size()));
        }
    }
    return {};
}

std::optional<std::string> wrapped_operation(std::string_view arguments) {
    for (std::size_t i = 0; i < arguments.size();) {
        if (!is_word(arguments[i])) {
            ++i;
            continue;
        }
        std::size_t end = i;
        while (end < arguments.size() && is_word(arguments[end])) ++end;
        if (auto operation = operation_named_by(arguments.substr(i, end - i))) return operation;
        i = end;
    }
    return {};
}

/// The first template argument that is a name, not a number or a cast.
std::string_view first_named_argument(std::string_view arguments) {
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= arguments.size(); ++i) {
        const bool ends = i == arguments.size() || (arguments[i] == ',' && depth == 0);
        if (ends) {
            std::string_view argument = arguments.substr(begin, i - begin);
            while (!argument.empty() && argument.front() == ' ') argument.remove_prefix(1);
            const bool is_name = !argument.empty() && is_word(argument.front()) && !is_digit(argument.front());
            if (is_name && argument != "true" && argument != "false") return argument;
            begin = i + 1;
        } else if (opens(arguments[i])) {
            ++depth;
        } else if (closes(arguments[i])) {
            --depth;
        }
    }
    return {};
}

struct Family {
    std::string_view ending;  ///< of the wrapper's name
    std::string_view label;
};

std::string name_of(std::string_view qualified, int nesting) {
    static constexpr Family families[] = {{"elementwise_kernel", "elementwise "},
                                          {"elementwise_kernel_with_index", "elementwise "},
                                          {"reduce_kernel", "reduce "},
                                          {"multi_tensor_apply_kernel", "multi-tensor "}};
    const NameParts parts = split_name(qualified);
    for (const Family& family : families) {
        if (!parts.base.ends_with(family.ending)) continue;
        if (const auto operation = wrapped_operation(parts.arguments)) return std::string{family.label} + *operation;
    }
    const std::string_view inner = first_named_argument(parts.arguments);
    if (nesting < 4 && !inner.empty() && is_one_of(parts.base, wrappers)) return name_of(inner, nesting + 1);
    return std::string{parts.base};
}

/// End of the run "64x8x16" (two numbers at least) that starts at `begin`, or `begin` if there is none.
std::size_t tile_end(std::string_view text, std::size_t begin) {
    std::size_t end = begin;
    int numbers = 0;
    for (std::size_t i = begin;; ++i) {
        const std::size_t digits = i;
        while (i < text.size() && is_digit(text[i])) ++i;
        if (i == digits) break;
        ++numbers;
        end = i;
        if (i >= text.size() || text[i] != 'x') break;
    }
    return numbers >= 2 ? end : begin;
}

/// Generated names list every parameter; what follows the tile size tells people little.
std::string cut_after_tile(std::string name) {
    static constexpr std::array<std::string_view, 3> marks{"_t", "_tilesize", "_MT"};
    for (const std::string_view mark : marks) {
        for (std::size_t at = name.find(mark); at != std::string::npos; at = name.find(mark, at + 1)) {
            const std::size_t end = tile_end(name, at + mark.size());
            if (end == at + mark.size()) continue;
            name.resize(end);
            return name;
        }
    }
    return name;
}

std::string shorten_hashes(const std::string& name) {
    std::string out;
    for (std::size_t i = 0; i < name.size();) {
        std::size_t end = i;
        while (end < name.size() && std::isxdigit(static_cast<unsigned char>(name[end])) != 0) ++end;
        const bool has_digit = std::any_of(name.begin() + static_cast<std::ptrdiff_t>(i), name.begin() + static_cast<std::ptrdiff_t>(end),
                                           is_digit);
        if (end - i >= 16 && has_digit) {
            out.append(name, i, 8);
            i = end;
        } else {
            end = std::max(end, i + 1);
            out.append(name, i, end - i);
            i = end;
        }
    }
    return out;
}

std::string cut_to_limit(std::string name) {
    if (name.size() <= longest_name) return name;
    std::size_t end = name.rfind('_', longest_name);
    if (end == std::string::npos || end < longest_name / 2) end = longest_name;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0U) == 0x80U) --end;  // not inside a UTF-8 sequence
    name.resize(end);
    return name;
}

}  // namespace

std::string short_kernel_name(std::string_view name) {
    std::string text = demangled(name);
    for (const std::string_view part : {"(anonymous namespace)::", "<unnamed>::", "{anonymous}::"}) remove_all(text, part);
    std::string result = name_of(qualified_name(text), 0);
    if (result.empty()) result = text;
    return cut_to_limit(shorten_hashes(cut_after_tile(std::move(result))));
}

}  // namespace adpipe::render
