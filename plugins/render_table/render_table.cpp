#include "report.hpp"

#include <adpipe/plugin.hpp>
#include <adpipe/render/chosen_layers.hpp>
#include <adpipe/render/flat_table.hpp>
#include <adpipe/render/report.hpp>

#include <array>

namespace adpipe::render_table {

class RenderTable : public Stage {
public:
    struct Options {
        std::string format;
        std::vector<std::string> formats{"terminal"};
        std::string fold = "shape";
        std::string file;
    };

    static constexpr const char* name = "render.table";
    static constexpr const char* summary = "Shows a layer's kernels and times as a table";
    static constexpr const char* doc =
        "Prints what is in the layer, what feeds it and what it feeds, and, with a trace, its kernels on their nodes with median, minimum "
        "and maximum over the chosen steps, and what could not be put on a node, and why. As a report for the terminal (100 columns, or "
        "as wide as the terminal), as tab- or comma-separated values in nanoseconds, or as Markdown.";
    static constexpr std::span<const PortDecl> inputs = render::layer_ports;
    static constexpr auto options() {
        return std::array{
            option<&Options::format>("format", "What to write; if empty, what `formats` says.", {.choices = "|terminal|tsv|csv|markdown"}),
            option<&Options::formats>("formats",
                                      "What to write: terminal, tsv, csv, markdown; names of other renderers' formats are let pass.",
                                      {.choices = render::any_format}),
            option<&Options::fold>("fold", "\"shape\" leaves out ops that only change a shape and launch nothing; \"none\" shows them.",
                                   {.choices = "none|shape"}),
            option<&Options::file>("file", "File below the output directory to write to; if empty, standard output."),
        };
    }

    explicit RenderTable(Options options) : options_(std::move(options)) {}

    void run(Context& context) override {
        const std::vector<std::string> wanted = options_.format.empty() ? options_.formats : std::vector<std::string>{options_.format};
        const auto formats = render::chosen_formats(wanted, {"terminal", "tsv", "csv", "markdown"}, {"terminal"});
        const render::LayerViews views = render::layer_views(context);
        const auto layers = render::chosen_layers(context, views.layers());
        std::string all;
        for (const std::string& format : formats) {
            bool first = true;
            for (const Layer* layer : layers) {
                if (context.stop_requested()) return;
                const bool flat = format == "tsv" || format == "csv";
                if (!all.empty() && !flat) all += '\n';
                all += text_of(context, views.view(*layer), format, first);
                first = false;
            }
        }
        if (options_.file.empty()) context.print(all);
        else context.write_file(options_.file, all);
    }

private:
    std::string text_of(const Context& context, const render::LayerView& view, const std::string& format, bool first) const {
        const render::Fold fold = render::fold_named(options_.fold);
        if (format == "tsv") return render::flat_table(view, '\t', first);
        if (format == "csv") return render::flat_table(view, ',', first);
        if (format == "markdown") return render::markdown_report(view, fold, context.pipeline());
        const Terminal terminal = options_.file.empty() ? context.terminal() : Terminal{};
        return terminal_report(view, fold, context.pipeline(), terminal);
    }

    Options options_;
};

}  // namespace adpipe::render_table

ADPIPE_PLUGIN("render_table", "0.1.0", "render.table", adpipe::stage<adpipe::render_table::RenderTable>())
