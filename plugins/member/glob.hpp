#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace adpipe::member {

/// Shell-like match of the whole text: '*' stands for any characters, also none.
bool matches_glob(std::string_view pattern, std::string_view text) noexcept;

/// 64-bit hash of text; equal on every run.
std::uint64_t hash_text(std::string_view text, std::uint64_t seed = 0) noexcept;

/// Order-sensitive combination of two hashes.
constexpr std::uint64_t combine(std::uint64_t a, std::uint64_t b) noexcept {
    std::uint64_t mixed = (a ^ (b + 0x9e3779b97f4a7c15U + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdU;
    mixed ^= mixed >> 33;
    return mixed;
}

}  // namespace adpipe::member
