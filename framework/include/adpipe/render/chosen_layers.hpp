#pragma once

#include <adpipe/export.hpp>
#include <adpipe/render/layer_view.hpp>
#include <adpipe/stage.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace adpipe::render {

/// The ports that every renderer of layers has.
inline constexpr PortDecl layer_ports[] = {
    port<GraphModel>("graph", "the model's graph"),
    port<Layers>("layers", "which vertex is in which layer"),
    port<Attribution>("attribution", "kernels on vertices; without it there are no times", PortUse::optional),
    port<Metrics>("metrics", "further numbers per vertex", PortUse::many),
};

/// Reads the ports of `layer_ports`.
ADPIPE_EXPORT LayerViews layer_views(const Context& context);

/// The layers that the user asked for, in the first module that has them, in each of its stacks.
/// Throws Error: ADP-RND-001 if one is not there (it says which are), ADP-RND-002 if none was asked for.
ADPIPE_EXPORT std::vector<const Layer*> chosen_layers(const Context& context, const Layers& layers);

/// "092_compile_compile_model_layer5"; with the stack before "layer" where the model has several.
ADPIPE_EXPORT std::string layer_file_stem(const LayerView& view);

/// The choices of a renderer's option `formats`: what the renderers that ship can write, so that a config that asks for another is found wrong
/// before anything runs.
inline constexpr const char* any_format =
    "json|kernels|dot|png|svg|pdf|html|terminal|tsv|csv|markdown|mermaid|md|perfetto|model_explorer|txt|chrome|table|report";

/// The formats that a renderer shall write: those of `wanted` that are in `own`, in the order of `own`. Renderers are swapped by
/// one word in a config, so names of other renderers' formats are let pass; if no own one is among them, the result is `fallback`.
/// Throws Error (ADP-RND-007) for a name that no renderer has.
ADPIPE_EXPORT std::vector<std::string> chosen_formats(const std::vector<std::string>& wanted, const std::vector<std::string_view>& own,
                                                      const std::vector<std::string_view>& fallback);

}  // namespace adpipe::render
