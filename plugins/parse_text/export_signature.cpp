#include "export_signature.hpp"

#include "characters.hpp"

#include <array>

namespace adpipe::parse {

namespace {

/// Tokens and user inputs are no weights.
constexpr std::array<std::string_view, 4> weight_kinds{"PARAMETER", "BUFFER", "CONSTANT_TENSOR", "CUSTOM_OBJ"};

/// What stands in quotes after `mark`; empty if `mark` is not there.
std::string_view quoted_after(std::string_view text, std::string_view mark) {
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos || at + mark.size() >= text.size()) return {};
    const char quote = text[at + mark.size()];
    if (quote != '\'' && quote != '"') return {};
    const std::size_t begin = at + mark.size() + 1;
    const std::size_t end = text.find(quote, begin);
    return end == std::string_view::npos ? std::string_view{} : text.substr(begin, end - begin);
}

void read_line(std::string_view line, WeightPaths& weights) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) return;
    for (const std::string_view kind : weight_kinds) {
        if (!starts_with(line.substr(colon + 2), kind)) continue;
        const std::string_view target = quoted_after(line, "target=");
        if (!target.empty()) weights[line.substr(0, colon)] = target;
    }
}

void read_old_form(std::string_view text, WeightPaths& weights) {
    constexpr std::string_view input = "InputSpec(";
    for (std::size_t at = text.find(input); at != std::string_view::npos;) {
        const std::size_t next = text.find(input, at + input.size());
        const std::string_view one = text.substr(at, next - at);
        for (const std::string_view kind : weight_kinds) {
            const std::string_view name = quoted_after(one, "name=");
            const std::string_view target = quoted_after(one, "target=");
            const std::size_t mark = one.find("InputKind.");
            const bool is_kind = mark != std::string_view::npos && starts_with(one.substr(mark + 10), kind);
            if (is_kind && !name.empty() && !target.empty()) weights[name] = target;
        }
        at = next;
    }
}

}  // namespace

std::string_view find_signature(std::string_view text) noexcept {
    constexpr std::string_view mark = "Graph signature:";
    for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
        if (at == 0 || text[at - 1] == '\n') return text.substr(at);
    }
    return {};
}

WeightPaths read_signature(std::string_view signature) {
    WeightPaths weights;
    const std::size_t outputs = signature.find("# outputs");
    const std::string_view inputs = signature.substr(0, outputs);
    for (std::size_t at = 0; at < inputs.size();) {
        const std::size_t end = std::min(inputs.find('\n', at), inputs.size());
        read_line(trim(inputs.substr(at, end - at)), weights);
        at = end + 1;
    }
    read_old_form(signature.substr(0, signature.find("output_specs=")), weights);
    return weights;
}

}  // namespace adpipe::parse
