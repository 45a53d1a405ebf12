#include "roles.hpp"

#include <algorithm>

namespace segment {

namespace {

using adpipe::KernelCategory;

/// So far from the matrix products on both sides of it the softmax of an attention that is written out may stand.
constexpr std::size_t near = 3;

bool multiplies(const SymbolInfo& info) {
    return info.category == KernelCategory::gemm || info.category == KernelCategory::moe;
}

bool product_near(const SymbolTable& table, SymbolSpan kernels, bool from_back) {
    const std::size_t count = std::min(near, kernels.size());
    const SymbolSpan part = from_back ? kernels.last(count) : kernels.first(count);
    return std::any_of(part.begin(), part.end(), [&](Symbol s) { return table[s].category == KernelCategory::gemm; });
}

void mark_mixers(const SymbolTable& table, SymbolSpan sequence, std::vector<Role>& roles) {
    const auto known =
        std::count_if(sequence.begin(), sequence.end(), [&](Symbol s) { return table[s].mixes_tokens(); });
    for (std::size_t i = 0; i < sequence.size(); ++i) {
        const SymbolInfo& info = table[sequence[i]];
        // Where attention is written out as matrix products, the softmax between them is what tells it.
        const bool written_out =
            info.is_softmax && (known < 2 || (product_near(table, sequence.first(i), true) &&
                                              product_near(table, sequence.subspan(i + 1), false)));
        if (info.mixes_tokens() || written_out) roles[i] = Role::mixes;
    }
}

/// An activation with no matrix product between it and a mixer is a part of the mixer.
void unmark_in_mixers(const SymbolTable& table, SymbolSpan sequence, std::vector<Role>& roles, bool backwards) {
    bool in_mixer = false;
    for (std::size_t n = 0; n < sequence.size(); ++n) {
        const std::size_t i = backwards ? sequence.size() - 1 - n : n;
        const SymbolInfo& info = table[sequence[i]];
        if (roles[i] == Role::mixes) {
            in_mixer = true;
        } else if (multiplies(info) || info.category == KernelCategory::other) {
            in_mixer = false;
        } else if (in_mixer && info.category == KernelCategory::activation) {
            roles[i] = Role::none;
        }
    }
}

}  // namespace

std::vector<Role> roles_of(const SymbolTable& table, SymbolSpan sequence) {
    std::vector<Role> roles(sequence.size(), Role::none);
    mark_mixers(table, sequence, roles);
    // Where there are other activations, or experts, a gate does not tell a feed-forward network.
    const auto sure = std::count_if(sequence.begin(), sequence.end(),
                                    [&](Symbol s) { return table[s].feeds_forward() && !table[s].is_gate; });
    for (std::size_t i = 0; i < sequence.size(); ++i) {
        const SymbolInfo& info = table[sequence[i]];
        if (roles[i] == Role::none && info.feeds_forward() && (sure < 2 || !info.is_gate)) roles[i] = Role::feeds;
    }
    unmark_in_mixers(table, sequence, roles, false);
    unmark_in_mixers(table, sequence, roles, true);
    return roles;
}

}  // namespace segment
