#include "../shared/companion.hpp"
#include "document_assets.hpp"
#include "layer_walk.hpp"
#include "source_trace.hpp"

#include <adpipe/model/decoded_names.hpp>
#include <adpipe/plugin.hpp>
#include <adpipe/render/chosen_layers.hpp>
#include <adpipe/render/text.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>

namespace adpipe::walkthrough {

constexpr PortDecl walkthrough_names_port = port<DecodedNames>("names", "decoded kernel names; without them they are decoded here",
                                                               PortUse::many);
constexpr PortDecl companion_port = port<Window>(
    "companion", "steps of another recording of the same model that knows more, such as of the capture of its graphs; by `from`",
    PortUse::optional);
constexpr const char* walkthrough_formats_doc = "What to write: terminal, markdown, html; names of other renderers' formats are let pass.";
constexpr const char* walkthrough_print_doc = "Print Markdown and HTML instead of writing files.";
constexpr const char* walkthrough_rules_doc = "More files of kernel-name rules; they go before those that adpipe ships.";

/// The companion that is connected, if it is another recording than the one in question.
std::optional<Companion> companion_of(const Context& context, const Window& window, const KernelNames& names) {
    auto other = context.maybe<Window>("companion");
    if (!other || other->trace == window.trace) return std::nullopt;
    return std::optional<Companion>{std::in_place, std::move(other), names};
}

struct DocumentName {
    const char* file;   ///< without its ending
    const char* title;  ///< of the page
};

/// Writes or prints a document.
void put(Context& context, const Document& document, const std::vector<std::string>& formats, DocumentName name, bool print) {
    const auto put_text = [&](const char* ending, const std::string& text) {
        if (print) context.print(text);
        else context.write_file(std::string{name.file} + ending, text);
    };
    for (const std::string& format : render::chosen_formats(formats, {"terminal", "markdown", "html"}, {"terminal"})) {
        if (format == "terminal") context.print(document.terminal(context.terminal()));
        else if (format == "markdown") put_text(".md", document.markdown());
        else put_text(".html", document.html(name.title, assets::document_style));
    }
}

class RenderWalkthrough final : public Stage {
public:
    struct Options {
        std::vector<std::string> formats{"terminal"};
        std::string kernel;
        std::string phase = "decode";
        bool print = false;
        std::vector<std::filesystem::path> rules;
    };
    static constexpr const char* name = "render.walkthrough";
    static constexpr const char* summary = "Walks through a layer, or one of its kernels, in words that are computed";
    static constexpr const char* doc =
        "What runs in which order on which stream; for each kernel its library, parameters, operator with the shapes "
        "it was called with, frames of "
        "the program,\n"
        "grid, block, registers, shared memory, how many blocks a multiprocessor holds and what bounds that, time and "
        "share. What the trace does not "
        "hold is listed.\n"
        "Without `layer:` the kind of layer that takes most time. Shapes and frames need `details: true` and `python: "
        "all` at trace.kineto.";
    static constexpr PortDecl inputs[] = {
        port<GraphModel>("graph", "the model's graph"),
        port<Layers>("layers", "which vertex is in which layer"),
        port<Attribution>("attribution", "kernels on vertices"),
        walkthrough_names_port,
        companion_port,
    };
    static constexpr auto options() {
        return std::array{
            option<&Options::formats>("formats", walkthrough_formats_doc, {.choices = render::any_format}),
            option<&Options::kernel>("kernel", "Only this kernel: a part of its name, or its position in the layer."),
            option<&Options::phase>("phase", "Of which steps; all of them where there is none of that phase.",
                                    {.choices = "decode|prefill|mixed|unknown|other|capture"}),
            option<&Options::print>("print", walkthrough_print_doc),
            option<&Options::rules>("rules", walkthrough_rules_doc),
        };
    }

    explicit RenderWalkthrough(Options options) : options_(std::move(options)) {}

    void run(Context& context) override {
        const KernelNames names(options_.rules, context.many<DecodedNames>("names"));
        const WalkInput input{context.in<GraphModel>("graph"), context.in<Layers>("layers"), context.in<Attribution>("attribution"), names};
        const render::LayerProfiles profiles = render::layer_profiles(input.graph, input.layers, input.attribution);
        const render::LayerProfile& profile = choose(context, input, profiles);
        const std::optional<Companion> companion = companion_of(context, *input.attribution.window, names);
        const LaunchSites sites(*input.attribution.window, companion ? &*companion : nullptr);
        const Document document = options_.kernel.empty() ? walk_layer(input, profile, sites)
                                                          : walk_kernels(input, profile, sites, options_.kernel);
        put(context, document, options_.formats, {"walkthrough", "Walkthrough"}, options_.print);
    }

private:
    const render::LayerProfile& choose(const Context& context, const WalkInput& input, const render::LayerProfiles& profiles) const {
        const auto of_phase = [&](const render::LayerProfile& profile) { return phase_text(profile.phase) == options_.phase; };
        const bool any = std::any_of(profiles.profiles.begin(), profiles.profiles.end(), of_phase);
        const LayerSelection& wanted = context.layers();
        const render::LayerProfile* best = nullptr;
        for (const render::LayerProfile& profile : profiles.profiles) {
            const bool holds = std::any_of(profile.layers.begin(), profile.layers.end(),
                                           [&](std::uint32_t l) { return wanted.contains(input.layers.layers[l].number); });
            if ((any && !of_phase(profile)) || (!wanted.all && !wanted.layers.empty() && !holds)) continue;
            if (best == nullptr || profile.total > best->total) best = &profile;
        }
        if (best != nullptr) return *best;
        if (!profiles.profiles.empty()) (void)render::chosen_layers(context, input.layers);  // complains of a layer that is not there
        throw Error("ADP-RND-020", "no kernel of the chosen steps is in a layer, so there is nothing to walk through",
                    "choose other steps at the window stage; `adpipe kernels TRACE` shows the step of each kernel");
    }

    Options options_;
};

class RenderSourceTrace final : public Stage {
public:
    struct Options {
        std::vector<std::string> formats{"markdown"};
        bool print = false;
        std::vector<std::filesystem::path> rules;
    };
    static constexpr const char* name = "render.source_trace";
    static constexpr const char* summary = "Leads from the program's source lines to its kernels, by the call stacks of a trace";
    static constexpr const char* doc =
        "For a step of each phase and batch size: an overview, the frames as a nested list with file and line down to "
        "the kernels, the parameters of each "
        "kernel,\n"
        "and the whole as one drawing. Needs a PyTorch trace with stacks (with_stack=True), read with `python: all`; "
        "shapes with `details: true`. No dump, no "
        "layers.";
    static constexpr PortDecl inputs[] = {port<Window>("window", "the steps to look at"), walkthrough_names_port, companion_port};
    static constexpr auto options() {
        return std::array{
            option<&Options::formats>("formats", walkthrough_formats_doc, {.choices = render::any_format}),
            option<&Options::print>("print", walkthrough_print_doc),
            option<&Options::rules>("rules", walkthrough_rules_doc),
        };
    }

    explicit RenderSourceTrace(Options options) : options_(std::move(options)) {}

    void run(Context& context) override {
        const KernelNames names(options_.rules, context.many<DecodedNames>("names"));
        const auto& window = context.in<Window>("window");
        const std::optional<Companion> companion = companion_of(context, window, names);
        put(context, source_trace(window, names, LaunchSites(window, companion ? &*companion : nullptr)), options_.formats,
            {"source_trace", "From source lines to kernels"}, options_.print);
    }

private:
    Options options_;
};

}  // namespace adpipe::walkthrough

ADPIPE_PLUGIN("render_walkthrough", "0.1.0", "render.walkthrough render.source_trace",
              adpipe::stage<adpipe::walkthrough::RenderWalkthrough>(), adpipe::stage<adpipe::walkthrough::RenderSourceTrace>())
