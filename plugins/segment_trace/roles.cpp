#include "roles.hpp"

#include <algorithm>

namespace segment {

namespace {

using adpipe::KernelCategory;

/// So far from the matrix products around it the softmax of an attention that is written out may stand.
constexpr std::size_t near = 3;

bool multiplies(const SymbolInfo& info) { return info.category == KernelCategory::gemm || info.category == KernelCategory::moe; }

/// True if a matrix product stands right behind the kernel, with no expert's kernel between them: as one does behind
/// the softmax of an attention that is written out, but not behind that of a router, or of sampling.
bool product_behind(const SymbolTable& table, SymbolSpan behind) {
    for (const Symbol symbol : behind.first(std::min(near, behind.size()))) {
        if (table[symbol].category == KernelCategory::moe) return false;
        if (table[symbol].category == KernelCategory::gemm) return true;
    }
    return false;
}

bool product_before(const SymbolTable& table, SymbolSpan before) {
    const SymbolSpan last = before.last(std::min(near, before.size()));
    return std::any_of(last.begin(), last.end(), [&](Symbol s) { return table[s].category == KernelCategory::gemm; });
}

/// Where attention is written out as matrix products, a softmax is what tells it.
void mark_softmax(const SymbolTable& table, SymbolSpan sequence, bool other_mixers, std::vector<Role>& roles) {
    std::vector<std::size_t> all;
    std::vector<std::size_t> likely;
    for (std::size_t i = 0; i < sequence.size(); ++i) {
        if (!table[sequence[i]].is_softmax || roles[i] == Role::mixes) continue;
        all.push_back(i);
        const bool behind = product_behind(table, sequence.subspan(i + 1));
        if (behind && (!other_mixers || product_before(table, sequence.first(i)))) likely.push_back(i);
    }
    for (const std::size_t i : !other_mixers && likely.size() < 2 ? all : likely) roles[i] = Role::mixes;
}

void mark_mixers(const SymbolTable& table, SymbolSpan sequence, std::vector<Role>& roles) {
    std::size_t known = 0;
    for (std::size_t i = 0; i < sequence.size(); ++i) {
        if (!table[sequence[i]].mixes_tokens()) continue;
        roles[i] = Role::mixes;
        ++known;
    }
    mark_softmax(table, sequence, known >= 2, roles);
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
