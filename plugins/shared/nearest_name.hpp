#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe {

/// Insertions, deletions and substitutions that turn `a` into `b`; upper and lower case count as equal.
static inline std::size_t edit_distance(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            const std::size_t replaced = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
            row[j] = std::min({above + 1, row[j - 1] + 1, replaced});
            diagonal = above;
        }
    }
    return row[b.size()];
}

/// The name that `wanted` was probably meant to be: nearest by edit distance, else one that contains it; empty if none is near.
static inline std::string nearest_name(std::string_view wanted, const std::vector<std::string>& names) {
    if (wanted.empty() || wanted.size() > 200) return {};
    std::size_t best = wanted.size() / 3 + 2;
    std::string nearest;
    for (const std::string& name : names) {
        if (name.size() > wanted.size() + best || wanted.size() > name.size() + best) continue;
        const std::size_t distance = edit_distance(wanted, name);
        if (distance < best) {
            best = distance;
            nearest = name;
        }
    }
    if (!nearest.empty()) return nearest;
    for (const std::string& name : names) {
        if (name.find(wanted) != std::string::npos) return name;
    }
    return {};
}

/// "a, b, c", at most `most` of them, then "… and 12 more".
static inline std::string list_names(const std::vector<std::string>& names, std::size_t most = 20) {
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > most) text += " … and " + std::to_string(names.size() - most) + " more";
    return text;
}

}  // namespace adpipe
