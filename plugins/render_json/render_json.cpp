#include "layer_json.hpp"

#include <adpipe/plugin.hpp>
#include <adpipe/render/chosen_layers.hpp>

#include <array>

namespace adpipe::render_json {

class RenderJson : public Stage {
public:
    struct Options {
        std::vector<std::string> formats{"json"};
        std::string fold = "shape";
    };

    static constexpr const char* name = "render.json";
    static constexpr const char* summary = "Writes a layer as JSON, and its kernels";
    static constexpr const char* doc =
        "Writes <dump>_layer<N>.json: nodes, edges, external inputs and, with a trace, the kernels and their times on every node; and "
        "<dump>_layer<N>_kernels.json: the layer's kernels in order of execution. Durations are medians over the chosen steps. What the "
        "format does not know has keys that begin with \"x_\". docs/formats.md describes every key.";
    static constexpr std::span<const PortDecl> inputs = render::layer_ports;
    static constexpr auto options() {
        return std::array{
            option<&Options::formats>("formats", "Only \"json\"; names of other renderers' formats are let pass.",
                                      {.choices = render::any_format}),
            option<&Options::fold>("fold", "No effect: the files hold every node.", {.choices = "none|shape"}),
        };
    }

    explicit RenderJson(Options options) : options_(std::move(options)) {}

    void run(Context& context) override {
        render::chosen_formats(options_.formats, {"json"}, {"json"});
        const render::LayerViews views = render::layer_views(context);
        for (const Layer* layer : render::chosen_layers(context, views.layers())) {
            if (context.stop_requested()) return;
            const render::LayerView view = views.view(*layer);
            const std::string stem = render::layer_file_stem(view);
            context.write_file(stem + ".json", text_of(layer_json(view)));
            if (view.has_trace()) {
                context.write_file(stem + "_kernels.json", text_of(kernels_json(view, views.layers_with_kernels())));
            }
        }
    }

private:
    static std::string text_of(const Json& json) { return json.dump(2) + "\n"; }

    Options options_;
};

}  // namespace adpipe::render_json

ADPIPE_PLUGIN("render_json", "0.1.0", "render.json", adpipe::stage<adpipe::render_json::RenderJson>())
