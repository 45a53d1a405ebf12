#include <adpipe/render/palette.hpp>

namespace adpipe::render {

namespace {

constexpr HeatStep steps[] = {
    {0.00, "<1 %", {"#fff3d6", colour::text}},    {0.01, "1–2 %", {"#fedf9f", colour::text}},
    {0.02, "2–4 %", {"#fdbf6f", colour::text}},   {0.04, "4–8 %", {"#f58b3c", colour::text}},
    {0.08, "8–16 %", {"#cf5018", "#ffffff"}},     {0.16, "≥16 %", {"#982f02", "#ffffff"}},
};

}  // namespace

std::span<const HeatStep> heat_scale() noexcept { return steps; }

const HeatStep& heat(Nanoseconds part, Nanoseconds whole) noexcept {
    const HeatStep* found = &steps[0];
    if (whole <= 0) return *found;
    const double share = static_cast<double>(part) / static_cast<double>(whole);
    for (const HeatStep& step : steps) {
        if (share >= step.from) found = &step;
    }
    return *found;
}

BlockColours block_colours(BlockKind kind) noexcept {
    switch (kind) {
        case BlockKind::attention: return {"#eef3fa", "#dfe9f5", "#8aa0b8"};
        case BlockKind::feed_forward: return {"#f1f6ee", "#e1edda", "#93a886"};
        case BlockKind::mamba: return {"#f5f0fa", "#eae1f4", "#a695bb"};
        case BlockKind::gated_delta_net: return {"#faf0f4", "#f4e0e9", "#bb93a6"};
    }
    return {};
}

}  // namespace adpipe::render
