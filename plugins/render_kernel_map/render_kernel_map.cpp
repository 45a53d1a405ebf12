#include "choose.hpp"
#include "map_text.hpp"

#include <adpipe/model/decoded_names.hpp>
#include <adpipe/plugin.hpp>
#include <adpipe/render/chosen_layers.hpp>
#include <adpipe/render/text.hpp>

#include <array>
#include <filesystem>

namespace adpipe::kernel_map {

class RenderKernelMap final : public Stage {
public:
    struct Options {
        std::vector<std::string> formats{"terminal"};
        std::string name = "kernel_map";
        std::string left = "prefill";
        std::string right = "decode";
        std::int64_t left_batch = -1;
        std::int64_t right_batch = -1;
        bool print = false;
        std::vector<std::filesystem::path> rules;
    };

    static constexpr const char* name = "render.kernel_map";
    static constexpr const char* summary = "Sets the kernels of a layer in prefill beside those in decode";
    static constexpr const char* doc =
        "Takes one attribution whose steps have both phases, or two: of two traces, or of two windows of one. The "
        "first is the left side. "
        "Kernels are\n"
        "paired as a whole and in order, by name and by what they do; each pair with the parameters, launches and "
        "times that differ. A section "
        "for\n"
        "every two kinds of layer that share layers, or only for the layers asked for.";
    static constexpr PortDecl inputs[] = {
        port<GraphModel>("graph", "the graphs of the attributions", PortUse::many),
        port<Layers>("layers", "which vertex is in which layer", PortUse::many),
        port<Attribution>("attribution", "kernels on vertices: one, or two", PortUse::many),
        port<DecodedNames>("names", "decoded kernel names; without them they are decoded here", PortUse::many),
        port<Operators>("operators", "which operator launched each kernel", PortUse::many),
    };
    static constexpr auto options() {
        constexpr const char* phases = "prefill|decode|mixed|unknown|other|capture";
        return std::array{
            option<&Options::formats>("formats", "What to write: terminal, markdown, html; names of other renderers' formats are let pass.",
                                      {.choices = render::any_format}),
            option<&Options::name>("name", "Of the files."),
            option<&Options::left>("left", "Phase of the steps on the left; with two traces all steps where the first has none of it.",
                                   {.choices = phases}),
            option<&Options::right>("right", "The same for the right side.", {.choices = phases}),
            option<&Options::left_batch>("left_batch", "Batch size on the left; -1: the one with the most executions.", {.minimum = -1}),
            option<&Options::right_batch>("right_batch", "The same for the right side.", {.minimum = -1}),
            option<&Options::print>("print", "Print markdown and html instead of writing files."),
            option<&Options::rules>("rules", "More files of kernel-name rules; they go before those that adpipe ships."),
        };
    }

    explicit RenderKernelMap(Options options) : options_(std::move(options)) {}

    void run(Context& context) override {
        const KernelNames names(options_.rules, context.many<DecodedNames>("names"));
        const std::vector<KernelMap> maps = choose_maps(context, {options_.left, options_.left_batch},
                                                        {options_.right, options_.right_batch}, names);
        if (maps.empty()) return;  // stopped
        for (const std::string& format : render::chosen_formats(options_.formats, {"terminal", "markdown", "html"}, {"terminal"})) {
            if (format == "terminal") context.print(map_terminal(maps, context.terminal()));
            else if (format == "markdown") put(context, ".md", map_markdown(maps));
            else put(context, ".html", map_html(maps));
        }
    }

private:
    void put(Context& context, const char* end, const std::string& content) const {
        if (options_.print) context.print(content);
        else context.write_file(render::file_name_part(options_.name) + end, content);
    }

    Options options_;
};

}  // namespace adpipe::kernel_map

ADPIPE_PLUGIN("render_kernel_map", "0.1.0", "render.kernel_map", adpipe::stage<adpipe::kernel_map::RenderKernelMap>())
