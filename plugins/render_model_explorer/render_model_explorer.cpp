#include "graph_json.hpp"

#include <adpipe/plugin.hpp>
#include <adpipe/render/chosen_layers.hpp>
#include <adpipe/render/text.hpp>

#include <array>

namespace adpipe::render_model_explorer {

class RenderModelExplorer : public Stage {
public:
    struct Options {
        std::vector<std::string> formats{"model_explorer"};
        std::string fold = "shape";
    };

    static constexpr const char* name = "render.model_explorer";
    static constexpr const char* summary = "Writes layers and their times for Google's Model Explorer";
    static constexpr const char* doc =
        "Writes <dump>_layer<N>_model_explorer.json (<dump>_layers_… for several): a graph for each layer; and, with a trace, "
        "…_model_explorer_time.json and likewise _share, _evidence, _confidence and _category: node data to load beside it.";
    static constexpr std::span<const PortDecl> inputs = render::layer_ports;
    static constexpr auto options() {
        return std::array{
            option<&Options::formats>("formats", "Only \"model_explorer\"; names of other renderers' formats are let pass.",
                                      {.choices = render::any_format}),
            option<&Options::fold>("fold", "\"shape\" leaves out ops that only change a shape and launch nothing.",
                                   {.choices = "none|shape"}),
        };
    }

    explicit RenderModelExplorer(Options options) : options_(std::move(options)) {}

    void run(Context& context) override {
        render::chosen_formats(options_.formats, {"model_explorer"}, {"model_explorer"});
        const render::LayerViews views = render::layer_views(context);
        std::vector<render::LayerView> layers;
        Json graphs = Json::array();
        for (const Layer* layer : render::chosen_layers(context, views.layers())) {
            if (context.stop_requested()) return;
            layers.push_back(views.view(*layer));
            graphs.push_back(graph_json(layers.back(), render::fold_named(options_.fold)));
        }
        const std::string stem = (layers.size() == 1 ? render::layer_file_stem(layers.front())
                                                     : render::file_name_part(views.graph().source().stem().string()) + "_layers") +
                                 "_model_explorer";
        const Json collection = {{"label", render::visible_text(context.pipeline())}, {"graphs", std::move(graphs)}};
        context.write_file(stem + ".json", collection.dump(1) + "\n");
        for (const auto& [ending, data] : node_data(layers)) context.write_file(stem + "_" + ending + ".json", data.dump(1) + "\n");
    }

private:
    Options options_;
};

}  // namespace adpipe::render_model_explorer

ADPIPE_PLUGIN("render_model_explorer", "0.1.0", "render.model_explorer",
              adpipe::stage<adpipe::render_model_explorer::RenderModelExplorer>())
