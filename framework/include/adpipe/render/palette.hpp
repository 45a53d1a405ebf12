#pragma once

// Colours, the same in every output. Heat runs from light to dark in steps of even lightness, so that it can be read when printed
// grey and by colour-blind people; nothing is said by colour alone. Pure functions, any thread.

#include <adpipe/export.hpp>
#include <adpipe/model/trace.hpp>
#include <adpipe/render/outline.hpp>

#include <span>
#include <string_view>

namespace adpipe::render {

/// A background and the text colour that is readable on it; "#rrggbb".
struct Shade {
    std::string_view fill;
    std::string_view text;
};

/// Steps of the heat scale, from the lightest.
struct HeatStep {
    double from;             ///< least share of the layer's time, 0 to 1
    std::string_view label;  ///< "2–4 %"
    Shade shade;
};
ADPIPE_EXPORT std::span<const HeatStep> heat_scale() noexcept;
/// The step for `part` of `whole`; the first if `whole` is not positive.
ADPIPE_EXPORT const HeatStep& heat(Nanoseconds part, Nanoseconds whole) noexcept;

struct BlockColours {
    std::string_view outer;  ///< fill of an outer block
    std::string_view inner;  ///< fill of an inner block
    std::string_view border;
};
ADPIPE_EXPORT BlockColours block_colours(BlockKind kind) noexcept;

/// What a colour of a light picture becomes in a dark one; itself if it reads well on both (the heat scale and the ink on it).
ADPIPE_EXPORT std::string_view in_the_dark(std::string_view colour) noexcept;
/// All colours that change, and what they become.
struct DarkColour {
    std::string_view light;
    std::string_view dark;
};
ADPIPE_EXPORT std::span<const DarkColour> dark_colours() noexcept;

/// Each has one role, so that a drawn picture can be put into another theme by exchanging colours.
namespace colour {
inline constexpr std::string_view background = "#ffffff";
inline constexpr std::string_view text = "#1a1a1a";
inline constexpr std::string_view quiet_text = "#555555";
inline constexpr std::string_view node_border = "#444444";
inline constexpr std::string_view edge = "#555555";
inline constexpr std::string_view input_edge = "#9a9a9a";
inline constexpr std::string_view input_fill = "#f2f2f2";
inline constexpr std::string_view residual = "#1f4e79";
inline constexpr std::string_view residual_text = "#fefefe";
inline constexpr std::string_view ink_on_light_heat = "#201a10";
inline constexpr std::string_view ink_on_dark_heat = "#fefefe";
inline constexpr std::string_view node_fill = "#ffffff";
inline constexpr std::string_view quiet_node_fill = "#f7f7f7";  ///< the head of a node that launches nothing
inline constexpr std::string_view kernel_fill = "#fafafa";
inline constexpr std::string_view auxiliary_fill = "#fbf3e4";
inline constexpr std::string_view auxiliary_border = "#8a6d3b";
inline constexpr std::string_view unattributed_fill = "#e6e6e6";
}  // namespace colour

}  // namespace adpipe::render
