#include "cli/stage_kinds.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace adpipe::cli {
namespace {

constexpr std::array<std::string_view, 10> kinds = {"select", "parse",   "member",  "trace",  "window",
                                                    "align",  "segment", "analyze", "render", "bench"};

}  // namespace

std::string_view kind_of(std::string_view stage) { return stage.substr(0, stage.find('.')); }

void sort_by_kind(std::vector<std::string>& stages) {
    const auto key = [](const std::string& stage) {
        const auto kind = std::find(kinds.begin(), kinds.end(), kind_of(stage));
        return std::pair<std::ptrdiff_t, std::string_view>{kind - kinds.begin(), stage};
    };
    std::sort(stages.begin(), stages.end(), [&](const std::string& a, const std::string& b) { return key(a) < key(b); });
}

}  // namespace adpipe::cli
