#include <adpipe/plugin.hpp>
#include <adpipe/render/chosen_layers.hpp>
#include <adpipe/render/flat_table.hpp>

#include <array>
#include <utility>

namespace adpipe::render_csv {

class RenderCsv : public Stage {
public:
    struct Options {
        std::string separator = "comma";
        std::vector<std::string> formats{"csv"};
        std::string fold = "shape";
    };

    static constexpr const char* name = "render.csv";
    static constexpr const char* summary = "Writes a layer's kernels as a table for other programs";
    static constexpr const char* doc =
        "Writes <dump>_layer<N>.csv (or .tsv): one row for each kernel of each node, durations in whole nanoseconds; without a trace, one "
        "row "
        "for each node. docs/formats.md lists the columns.";
    static constexpr std::span<const PortDecl> inputs = render::layer_ports;
    static constexpr auto options() {
        return std::array{
            option<&Options::separator>("separator", "What stands between the fields.", {.choices = "comma|tab"}),
            option<&Options::formats>("formats", "csv or tsv; names of other renderers' formats are let pass.",
                                      {.choices = render::any_format}),
            option<&Options::fold>("fold", "No effect: the table holds every node that launches a kernel.", {.choices = "none|shape"}),
        };
    }

    explicit RenderCsv(Options options) : options_(std::move(options)) {}

    void run(Context& context) override {
        const std::string_view fallback = options_.separator == "tab" ? "tsv" : "csv";
        const auto formats = render::chosen_formats(options_.formats, {"csv", "tsv"}, {fallback});
        const render::LayerViews views = render::layer_views(context);
        for (const Layer* layer : render::chosen_layers(context, views.layers())) {
            if (context.stop_requested()) return;
            const render::LayerView view = views.view(*layer);
            for (const std::string& format : formats) {
                const bool tab = format == "tsv" || options_.separator == "tab";
                const std::string extension = tab ? ".tsv" : ".csv";
                context.write_file(render::layer_file_stem(view) + extension, render::flat_table(view, tab ? '\t' : ',', true));
            }
        }
    }

private:
    Options options_;
};

}  // namespace adpipe::render_csv

ADPIPE_PLUGIN("render_csv", "0.1.0", "render.csv", adpipe::stage<adpipe::render_csv::RenderCsv>())
