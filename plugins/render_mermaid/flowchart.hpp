#pragma once

#include <adpipe/render/folding.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace adpipe::render_mermaid {

/// What Mermaid draws without being told otherwise.
inline constexpr std::size_t longest_text = 50000;
inline constexpr std::size_t most_edges = 500;

/// How much of a layer a flowchart shows, from all to the blocks alone.
enum class Detail { kernels, times, titles, blocks };

/// The layer as a Mermaid flowchart with as much detail as Mermaid's limits allow, at most `most`.
std::string flowchart(const render::LayerView& view, render::Fold fold, std::string_view pipeline, Detail most = Detail::kernels);

/// `text` inside of a quoted Mermaid label: quotes, markup and Mermaid's own signs as entities.
std::string label_text(std::string_view text);

}  // namespace adpipe::render_mermaid
