#include "web_asset.hpp"

#include <cstdint>

namespace adpipe::shared {

namespace {

std::uint32_t hexadecimal_digit(char c) { return static_cast<std::uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10); }

}  // namespace

std::string policy_hash(std::string_view hexadecimal) {
    static constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out = "'sha256-";
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : hexadecimal) {
        bits = (bits << 4U | hexadecimal_digit(c)) & 0xfffU;
        count += 4;
        if (count < 6) continue;
        count -= 6;
        out += digits[bits >> static_cast<unsigned>(count) & 63U];
    }
    if (count > 0) out += digits[bits << static_cast<unsigned>(6 - count) & 63U];
    while ((out.size() - 8) % 4 != 0) out += '=';
    return out + "'";
}

}  // namespace adpipe::shared
