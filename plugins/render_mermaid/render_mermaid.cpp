#include "flowchart.hpp"

#include <adpipe/plugin.hpp>
#include <adpipe/render/chosen_layers.hpp>

#include <array>
#include <utility>

namespace adpipe::render_mermaid {

class RenderMermaid : public Stage {
public:
    struct Options {
        std::vector<std::string> formats{"mermaid"};
        std::string fold = "shape";
        std::string detail = "kernels";
        bool fence = false;
    };

    static constexpr const char* name = "render.mermaid";
    static constexpr const char* summary = "Writes a layer as a Mermaid flowchart for Markdown pages";
    static constexpr const char* doc =
        "Writes <dump>_layer<N>.mmd, or with `fence: true` <dump>_layer<N>_mermaid.md, a piece of Markdown that GitHub and GitLab draw. "
        "Where the whole layer "
        "is more than Mermaid draws (50,000 characters, 500 arrows), kernels, then times, then the insides of the blocks are left out.";
    static constexpr std::span<const PortDecl> inputs = render::layer_ports;
    static constexpr auto options() {
        return std::array{
            option<&Options::formats>("formats", "Only \"mermaid\"; names of other renderers' formats are let pass.",
                                      {.choices = render::any_format}),
            option<&Options::fold>("fold", "\"shape\" folds ops that only change a shape into the arrows.", {.choices = "none|shape"}),
            option<&Options::detail>("detail", "The most that is shown.", {.choices = "kernels|times|titles|blocks"}),
            option<&Options::fence>("fence", "Puts the flowchart between ```mermaid and ```, in a Markdown file."),
        };
    }

    explicit RenderMermaid(Options options) : options_(std::move(options)) {}

    void run(Context& context) override {
        render::chosen_formats(options_.formats, {"mermaid"}, {"mermaid"});
        const render::LayerViews views = render::layer_views(context);
        for (const Layer* layer : render::chosen_layers(context, views.layers())) {
            if (context.stop_requested()) return;
            const render::LayerView view = views.view(*layer);
            const std::string chart = flowchart(view, render::fold_named(options_.fold), context.pipeline(), detail());
            const std::string stem = render::layer_file_stem(view);
            if (options_.fence) context.write_file(stem + "_mermaid.md", "```mermaid\n" + chart + "```\n");
            else context.write_file(stem + ".mmd", chart);
        }
    }

private:
    Detail detail() const {
        if (options_.detail == "times") return Detail::times;
        if (options_.detail == "titles") return Detail::titles;
        return options_.detail == "blocks" ? Detail::blocks : Detail::kernels;
    }

    Options options_;
};

}  // namespace adpipe::render_mermaid

ADPIPE_PLUGIN("render_mermaid", "0.1.0", "render.mermaid", adpipe::stage<adpipe::render_mermaid::RenderMermaid>())
