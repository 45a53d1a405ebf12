#include "layer_tracks.hpp"

#include <adpipe/plugin.hpp>
#include <adpipe/render/chosen_layers.hpp>
#include <adpipe/render/labels.hpp>
#include <adpipe/render/text.hpp>

#include <array>

namespace adpipe::render_perfetto {

class RenderPerfetto : public Stage {
public:
    struct Options {
        std::vector<std::string> formats{"perfetto"};
        std::string fold = "shape";
    };

    static constexpr const char* name = "render.perfetto";
    static constexpr const char* summary = "Writes the layers' kernels in time for ui.perfetto.dev";
    static constexpr const char* doc =
        "Writes <dump>_layer<N>_perfetto.json, or <dump>_layers_perfetto.json for several layers: the kernels of the chosen steps by "
        "stream and, above "
        "them, rows for their nodes, groups and layers. For ui.perfetto.dev and chrome://tracing. Times count from the first kernel that "
        "is shown; every "
        "kernel has its own start as an argument.";
    static constexpr std::span<const PortDecl> inputs = render::layer_ports;
    static constexpr auto options() {
        return std::array{
            option<&Options::formats>("formats", "Only \"perfetto\"; names of other renderers' formats are let pass.",
                                      {.choices = render::any_format}),
            option<&Options::fold>("fold", "No effect: only nodes that launch kernels are shown.", {.choices = "none|shape"}),
        };
    }

    explicit RenderPerfetto(Options options) : options_(std::move(options)) {}

    void run(Context& context) override {
        render::chosen_formats(options_.formats, {"perfetto"}, {"perfetto"});
        const render::LayerViews views = render::layer_views(context);
        const auto layers = render::chosen_layers(context, views.layers());
        if (views.attribution() == nullptr) {
            throw Error("ADP-RND-008", "there is no trace, so there are no times to write for Perfetto",
                        "add trace, window and align stages before this one");
        }
        Tracks tracks;
        std::string source;
        for (const Layer* layer : layers) {
            if (context.stop_requested()) return;
            const render::LayerView view = views.view(*layer);
            source = render::source_line(view);
            tracks.add(view);
        }
        context.write_file(file_name(views, layers), tracks.json(context.pipeline(), source));
    }

private:
    static std::string file_name(const render::LayerViews& views, const std::vector<const Layer*>& layers) {
        if (layers.size() == 1) return render::layer_file_stem(views.view(*layers.front())) + "_perfetto.json";
        return render::file_name_part(views.graph().source().stem().string()) + "_layers_perfetto.json";
    }

    Options options_;
};

}  // namespace adpipe::render_perfetto

ADPIPE_PLUGIN("render_perfetto", "0.1.0", "render.perfetto", adpipe::stage<adpipe::render_perfetto::RenderPerfetto>())
