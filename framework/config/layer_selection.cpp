#include "config/layer_selection.hpp"

#include "config/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace adpipe {
namespace {

constexpr std::int64_t highest_layer = 99999;

std::string add_range(std::string_view text, LayerSelection& selection) {
    const std::size_t dash = text.find('-', 1);
    const auto first = parse_integer(text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_integer(text.substr(dash + 1));
    if (!first || !last || *first < 0 || *first > highest_layer || *last > highest_layer) {
        return fmt::format("'{}' is no layer: give a number from 0, a list, a range such as 3-60, or all", text);
    }
    if (*last < *first) return fmt::format("the range '{}' runs backwards", text);
    for (std::int64_t layer = *first; layer <= *last; ++layer) selection.layers.push_back(static_cast<std::int32_t>(layer));
    return {};
}

}  // namespace

std::string add_layers(std::string_view text, LayerSelection& selection) {
    if (text == "all") {
        selection.all = true;
        return {};
    }
    while (true) {
        const std::size_t comma = std::min(text.find(','), text.size());
        if (std::string fault = add_range(text.substr(0, comma), selection); !fault.empty()) return fault;
        if (comma == text.size()) break;
        text.remove_prefix(comma + 1);
    }
    std::sort(selection.layers.begin(), selection.layers.end());
    selection.layers.erase(std::unique(selection.layers.begin(), selection.layers.end()), selection.layers.end());
    return {};
}

}  // namespace adpipe
