#include <adpipe/suggest.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace adpipe {
namespace {

constexpr std::size_t longest_list = 40;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);  // the row of the table two letters of `a` ago
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::swap(before, last);
        std::swap(last, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0U : 1U)});
            const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row[b.size()];
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
    constexpr std::size_t longest_name = 200;  // nobody mistypes more; the table would grow with the square
    if (name.size() > longest_name) return {};
    std::size_t best = std::min<std::size_t>(3, std::max<std::size_t>(1, name.size() / 2)) + 1;
    std::string nearest;
    for (const std::string& candidate : candidates) {
        if (candidate.size() > longest_name) continue;
        const std::size_t distance = edit_distance(name, candidate);
        // A letter mistyped is likelier than one too many: "layerz" means "layers" rather than "layer".
        const bool is_likelier = !nearest.empty() && distance == best && nearest.size() != name.size() && candidate.size() == name.size();
        if (distance < best || is_likelier) {
            best = distance;
            nearest = candidate;
        }
    }
    if (!nearest.empty() || name.size() < 3) return nearest;
    const auto longer = std::find_if(candidates.begin(), candidates.end(),
                                     [&](const std::string& candidate) { return candidate.find(name) != std::string::npos; });
    return longer == candidates.end() ? std::string{} : *longer;
}

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates, std::string_view what) {
    if (const std::string near = nearest_name(name, candidates); !near.empty()) return fmt::format("did you mean '{}'?", near);
    if (candidates.empty()) return fmt::format("{}: none", what);
    return fmt::format("{}: {}", what, list_names(candidates, longest_list));
}

std::string list_names(const std::vector<std::string>& names, std::size_t most) {
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), most));
    std::string text = fmt::format("{}", fmt::join(names.begin(), end, ", "));
    if (end != names.end()) text += fmt::format(" … and {} more", names.size() - most);
    return text;
}

}  // namespace adpipe
