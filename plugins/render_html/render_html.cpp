#include "page.hpp"

#include <adpipe/plugin.hpp>
#include <adpipe/render/chosen_layers.hpp>
#include <adpipe/render/text.hpp>

#include <array>
#include <utility>

namespace adpipe::render_html {

class RenderHtml : public Stage {
public:
    struct Options {
        std::vector<std::string> formats{"html"};
        std::string fold = "shape";
        std::string file;
    };

    static constexpr const char* name = "render.html";
    static constexpr const char* summary = "Makes one page to explore layers in: graph, timeline, table";
    static constexpr const char* doc =
        "Writes one HTML file that needs no network and no server: the graph of the layer to pan, zoom, search and unfold; the kernels of "
        "the layer in time, by stream; a table to sort, filter and copy; the distribution over the steps; evidence and reason of every "
        "node and kernel. With `layer: all` every layer of the model is in the page.";
    static constexpr std::span<const PortDecl> inputs = render::layer_ports;
    static constexpr auto options() {
        return std::array{
            option<&Options::formats>("formats", "Only \"html\"; names of other renderers' formats are let pass.",
                                      {.choices = render::any_format}),
            option<&Options::fold>("fold", "No effect: the page folds and unfolds.", {.choices = "none|shape"}),
            option<&Options::file>("file", "Name of the page; if empty, <dump>_layer<N>.html, or <dump>_layers.html for several."),
        };
    }

    explicit RenderHtml(Options options) : options_(std::move(options)) {}

    void run(Context& context) override {
        render::chosen_formats(options_.formats, {"html"}, {"html"});
        const render::LayerViews views = render::layer_views(context);
        PageInput input;
        input.pipeline = context.pipeline();
        const auto chosen = render::chosen_layers(context, views.layers());
        for (const Layer* layer : chosen) input.layers.push_back(views.view(*layer));
        for (const Layer& layer : views.layers().layers) {
            if (context.stop_requested()) return;
            if (layer.module == chosen.front()->module) input.all.push_back(views.view(layer));
        }
        context.write_file(file_name(input), page(input));
    }

private:
    std::string file_name(const PageInput& input) const {
        if (!options_.file.empty()) return options_.file;
        if (input.layers.size() == 1) return render::layer_file_stem(input.layers.front()) + ".html";
        return render::file_name_part(input.layers.front().graph->source().stem().string()) + "_layers.html";
    }

    Options options_;
};

}  // namespace adpipe::render_html

ADPIPE_PLUGIN("render_html", "0.1.0", "render.html", adpipe::stage<adpipe::render_html::RenderHtml>())
