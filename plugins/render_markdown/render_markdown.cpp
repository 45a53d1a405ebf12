#include <adpipe/plugin.hpp>
#include <adpipe/render/chosen_layers.hpp>
#include <adpipe/render/labels.hpp>
#include <adpipe/render/report.hpp>
#include <adpipe/render/text.hpp>

#include <array>
#include <utility>

namespace adpipe::render_markdown {

class RenderMarkdown : public Stage {
public:
    struct Options {
        std::vector<std::string> formats{"markdown"};
        std::string fold = "shape";
        std::string picture = "svg";
    };

    static constexpr const char* name = "render.markdown";
    static constexpr const char* summary = "Writes a report on a layer for a pull request";
    static constexpr const char* doc =
        "Writes <dump>_layer<N>.md: where the numbers come from, a link to the picture that render.dot makes of the same layer, what feeds "
        "the "
        "layer and what it feeds, the kernels on their nodes, the sums, and what could not be put on a node, and why.";
    static constexpr std::span<const PortDecl> inputs = render::layer_ports;
    static constexpr auto options() {
        return std::array{
            option<&Options::formats>("formats", "Only \"markdown\"; names of other renderers' formats are let pass.",
                                      {.choices = render::any_format}),
            option<&Options::fold>("fold", "\"shape\" leaves out ops that only change a shape and launch nothing.",
                                   {.choices = "none|shape"}),
            option<&Options::picture>("picture", "Kind of the picture to link to.", {.choices = "svg|png|none"}),
        };
    }

    explicit RenderMarkdown(Options options) : options_(std::move(options)) {}

    void run(Context& context) override {
        render::chosen_formats(options_.formats, {"markdown"}, {"markdown"});
        const render::LayerViews views = render::layer_views(context);
        for (const Layer* layer : render::chosen_layers(context, views.layers())) {
            if (context.stop_requested()) return;
            const render::LayerView view = views.view(*layer);
            context.write_file(render::layer_file_stem(view) + ".md", page(view, context.pipeline()));
        }
    }

private:
    std::string page(const render::LayerView& view, const std::string& pipeline) const {
        const std::string title = render::markdown_cell(render::layer_title(view, pipeline));
        std::string out = "## " + title + "\n\n";
        if (view.has_trace()) {
            out += "**" + render::markdown_cell(render::time_line(view)) + "** · " + render::markdown_cell(render::steps_line(view)) +
                   " · " + render::markdown_cell(render::coverage_line(view)) + "\n\n";
        }
        out += "From " + render::markdown_cell(render::source_line(view)) + ".\n\n";
        if (options_.picture != "none") out += "![" + title + "](" + render::layer_file_stem(view) + "." + options_.picture + ")\n\n";
        return out + render::markdown_report(view, render::fold_named(options_.fold), {});
    }

    Options options_;
};

}  // namespace adpipe::render_markdown

ADPIPE_PLUGIN("render_markdown", "0.1.0", "render.markdown", adpipe::stage<adpipe::render_markdown::RenderMarkdown>())
