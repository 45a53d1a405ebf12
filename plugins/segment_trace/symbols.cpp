#include "symbols.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace segment {

namespace {

using adpipe::KernelCategory;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }
bool is_letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// End of a hash such as "9fbb5122bab7668b" that starts at `begin`; `begin` if none does.
std::size_t hash_end(std::string_view text, std::size_t begin) {
    if (begin > 0 && is_letter_or_digit(text[begin - 1])) return begin;
    std::size_t end = begin;
    while (end < text.size() && is_hex(text[end])) ++end;
    const bool whole_word = end == text.size() || !is_letter_or_digit(text[end]);
    return end - begin >= 8 && whole_word ? end : begin;
}

bool contains_any(std::string_view text, const std::array<std::string_view, 5>& parts) {
    return std::any_of(parts.begin(), parts.end(), [&](std::string_view p) { return text.find(p) != std::string_view::npos; });
}

bool has_one_role(KernelCategory category) {
    switch (category) {
        case KernelCategory::norm:
        case KernelCategory::attention:
        case KernelCategory::gemm:
        case KernelCategory::rope:
        case KernelCategory::moe:
        case KernelCategory::activation:
        case KernelCategory::cache:
        case KernelCategory::state_space:
        case KernelCategory::communication: return true;
        default: return false;
    }
}

}  // namespace

std::size_t end_of_fit(std::string_view name, std::string_view pattern) {
    std::size_t at = 0;
    while (true) {
        const std::size_t star = pattern.find('*');
        const std::string_view part = pattern.substr(0, star);
        at = name.find(part, at);
        if (at == std::string_view::npos) return at;
        at += part.size();
        if (star == std::string_view::npos) return at;
        pattern.remove_prefix(star + 1);
    }
}

bool name_fits(std::string_view name, std::string_view pattern) { return end_of_fit(name, pattern) != std::string_view::npos; }

std::string without_numbers(std::string_view name) {
    std::string out;
    for (std::size_t i = 0; i < name.size();) {
        const std::size_t hash = hash_end(name, i);
        std::size_t end = i;
        while (end < name.size() && is_digit(name[end])) ++end;
        if (hash > i || end > i) {
            out += '#';
            i = std::max(hash, end);
        } else {
            out += name[i++];
        }
    }
    return out;
}

bool SymbolInfo::mixes_tokens() const noexcept { return category == KernelCategory::attention || category == KernelCategory::state_space; }

bool SymbolInfo::feeds_forward() const noexcept { return category == KernelCategory::activation || category == KernelCategory::moe; }

bool SymbolInfo::opens_or_ends_pass() const noexcept {
    return category == KernelCategory::embedding || category == KernelCategory::sampling;
}

Symbol SymbolTable::intern(std::string_view name, adpipe::KernelKind kind) {
    std::string key{name};
    if (kind != adpipe::KernelKind::kernel && key.empty()) key = kind == adpipe::KernelKind::memcpy ? "Memcpy" : "Memset";
    const auto [found, is_new] = ids_.emplace(key, static_cast<Symbol>(infos_.size()));
    if (!is_new) return found->second;
    adpipe::KernelName decoded = names_.decode(key);
    SymbolInfo info;
    info.name = key;
    info.category = kind == adpipe::KernelKind::kernel ? decoded.category : KernelCategory::copy;
    info.alike = alike_ids_.emplace(without_numbers(key), static_cast<Symbol>(alike_ids_.size())).first->second;
    static constexpr std::array<std::string_view, 5> additions{"CUDAFunctor_add", "AddFunctor", "add_kernel", "op_add", "residual_add"};
    info.is_addition = info.category == KernelCategory::elementwise && contains_any(key, additions);
    static constexpr std::array<std::string_view, 5> sums{"fused_add", "FusedAdd", "add_rms", "AddRms", "add_norm"};
    info.adds_and_norms = info.category == KernelCategory::norm && contains_any(key, sums);
    info.is_softmax = decoded.function.find("softmax") != std::string::npos || decoded.function.find("Softmax") != std::string::npos;
    static constexpr std::array<std::string_view, 5> gates{"sigmoid", "Sigmoid", "softplus", "Softplus", "SoftPlus"};
    static constexpr std::array<std::string_view, 5> activations{"silu", "Silu", "SiLU", "swish", "swiglu"};
    info.is_gate = info.category == KernelCategory::activation && contains_any(key, gates) && !contains_any(key, activations);
    static constexpr std::array<std::string_view, 5> finishes{"splitKreduce", "split_k_reduce", "splitk_reduce", "SplitKReduce", "PostGSU"};
    info.finishes_product = info.category == KernelCategory::gemm && contains_any(key, finishes);
    info.short_name = std::move(decoded.short_name);
    info.library = std::move(decoded.library);
    infos_.push_back(std::move(info));
    return found->second;
}

double SymbolTable::likeness(Symbol a, Symbol b) const noexcept {
    if (a == b) return 1.0;
    const SymbolInfo& x = infos_[a];
    const SymbolInfo& y = infos_[b];
    if (x.alike == y.alike) return 0.8;
    return x.category == y.category && has_one_role(x.category) ? 0.4 : 0.0;
}

}  // namespace segment
