#include <adpipe/render/palette.hpp>

namespace adpipe::render {

namespace {

constexpr HeatStep steps[] = {
    {0.00, "<1 %", {"#fff3d6", colour::ink_on_light_heat}},  {0.01, "1–2 %", {"#fedf9f", colour::ink_on_light_heat}},
    {0.02, "2–4 %", {"#fdbf6f", colour::ink_on_light_heat}}, {0.04, "4–8 %", {"#f58b3c", colour::ink_on_light_heat}},
    {0.08, "8–16 %", {"#cf5018", colour::ink_on_dark_heat}}, {0.16, "≥16 %", {"#982f02", colour::ink_on_dark_heat}},
};

constexpr DarkColour darks[] = {
    {colour::background, "#15181c"},
    {colour::text, "#e8e8e8"},
    {colour::quiet_text, "#a8a8a8"},
    {colour::node_border, "#b0b0b0"},
    {colour::input_edge, "#787878"},
    {colour::input_fill, "#2a2e33"},
    {colour::residual, "#3d7ebd"},
    {colour::auxiliary_fill, "#2b2517"},
    {colour::auxiliary_border, "#a88a50"},
    {colour::unattributed_fill, "#3a3a3a"},
    {colour::quiet_node_fill, "#24282d"},
    {colour::kernel_fill, "#1d2126"},
    {"#eef3fa", "#1a222c"},
    {"#dfe9f5", "#1f2b39"},
    {"#8aa0b8", "#56708c"},
    {"#f1f6ee", "#1b241b"},
    {"#e1edda", "#223022"},
    {"#93a886", "#5f7a52"},
    {"#f5f0fa", "#231d2b"},
    {"#eae1f4", "#2d2439"},
    {"#a695bb", "#77658d"},
    {"#faf0f4", "#291d23"},
    {"#f4e0e9", "#37242d"},
    {"#bb93a6", "#8d6577"},
};

}  // namespace

std::span<const DarkColour> dark_colours() noexcept { return darks; }

std::string_view in_the_dark(std::string_view colour) noexcept {
    for (const DarkColour& pair : darks) {
        if (pair.light == colour) return pair.dark;
    }
    return colour;
}

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
