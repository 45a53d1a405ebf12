#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace adpipe {

/// 64-bit multiply-and-fold hash: eight bytes a step. The same on every machine of one byte order; not for hostile input alone, so
/// tables that use it must stay correct, if slow, under collisions.
inline std::uint64_t mix64(std::uint64_t a, std::uint64_t b) noexcept {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a ^ 0x9e3779b97f4a7c15U) * (b ^ 0xd1b54a32d192ed03U);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint64_t text_hash(std::string_view text, std::uint64_t seed = 0) noexcept {
    std::uint64_t hash = mix64(seed ^ text.size(), 0x2545f4914f6cdd1dU);
    const char* at = text.data();
    std::size_t left = text.size();
    for (; left >= 8; at += 8, left -= 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, 8);
        hash = mix64(hash ^ word, 0x9fb21c651e98df25U);
    }
    std::uint64_t tail = 0;
    if (left != 0) std::memcpy(&tail, at, left);
    return mix64(hash ^ tail, 0xc2b2ae3d27d4eb4fU ^ left);
}

}  // namespace adpipe
