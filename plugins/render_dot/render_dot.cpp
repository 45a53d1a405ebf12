#include "../shared/run_program.hpp"
#include "layer_dot.hpp"
#include "model_dot.hpp"

#include <adpipe/plugin.hpp>
#include <adpipe/render/chosen_layers.hpp>
#include <adpipe/render/text.hpp>

#include <array>
#include <chrono>
#include <sstream>
#include <vector>

namespace adpipe::render_dot {

class RenderDot : public Stage {
public:
    struct Options {
        std::vector<std::string> formats{"dot", "png", "svg"};
        std::string fold = "shape";
        std::int32_t width = 1600;
        std::string program = "dot";
        double time_limit = 30;
        bool model = true;
    };

    static constexpr const char* name = "render.dot";
    static constexpr const char* summary = "Draws a layer: DOT, PNG, SVG, PDF";
    static constexpr const char* doc =
        "Draws the layer as an engineer would: the residual stream as the spine, attention and feed-forward beside it, inputs from "
        "outside at the top; with a trace, every kernel and its time on its node, the colour by share of the layer's time, the frame's "
        "line by evidence. Writes <dump>_layer<N>.dot and, through Graphviz, the pictures; for several layers also <dump>_layers.dot and its "
        "pictures, with one box for each kind of layer. Where Graphviz is missing only the DOT text is written.";
    static constexpr std::span<const PortDecl> inputs = render::layer_ports;
    static constexpr auto options() {
        return std::array{
            option<&Options::formats>("formats", "What to write: dot, png, svg, pdf."),
            option<&Options::fold>("fold", "\"shape\" folds ops that only change a shape into the edges; \"none\" shows them.",
                                   {.choices = "none|shape"}),
            option<&Options::width>("width", "Widest PNG, in pixels.", {.minimum = 200, .maximum = 20000}),
            option<&Options::program>("program", "Graphviz' layout program, by name or path."),
            option<&Options::time_limit>("time_limit", "Seconds that it may take for one picture.", {.minimum = 0.01, .maximum = 3600}),
            option<&Options::model>("model", "For several layers, draws one picture of them all as well."),
        };
    }

    explicit RenderDot(Options options) : options_(std::move(options)) {}

    void run(Context& context) override {
        const auto formats = render::chosen_formats(options_.formats, {"dot", "png", "svg", "pdf"}, {"dot", "png", "svg"});
        const render::LayerViews views = render::layer_views(context);
        std::vector<render::LayerView> drawn;
        for (const Layer* layer : render::chosen_layers(context, views.layers())) {
            if (context.stop_requested()) return;
            drawn.push_back(views.view(*layer));
            const std::string dot = layer_dot(drawn.back(), render::fold_named(options_.fold), context.pipeline());
            if (!write(context, formats, render::layer_file_stem(drawn.back()), dot)) return;
        }
        if (!options_.model || drawn.size() < 2) return;
        write(context, formats, render::file_name_part(views.graph().source().stem().string()) + "_layers", model_dot(drawn, context.pipeline()));
    }

private:
    /// The text first: it is there to look at, whatever Graphviz does. False if there is no point in going on.
    bool write(Context& context, const std::vector<std::string>& formats, const std::string& stem, const std::string& dot) {
        for (const std::string& format : formats) {
            if (format == "dot") context.write_file(stem + ".dot", dot);
        }
        for (const std::string& format : formats) {
            if (format != "dot" && !draw(context, format, stem, dot)) return false;
        }
        return true;
    }

    /// False if there is no point in going on.
    bool draw(Context& context, const std::string& format, const std::string& stem, const std::string& dot) {
        if (graphviz_missing_) return true;
        std::vector<std::string> arguments{"-T" + format};
        // Graphviz only ever shrinks to this size; at 96 pixels an inch.
        if (format == "png") arguments.insert(arguments.end(), {"-Gdpi=96", "-Gsize=" + std::to_string(options_.width / 96.0) + ",1000"});
        const std::chrono::milliseconds limit{static_cast<long long>(options_.time_limit * 1000)};
        shared::ProgramRun run = shared::run_program(options_.program, arguments, dot, limit, [&] { return context.stop_requested(); });
        switch (run.result) {
            case shared::ProgramRun::Result::ok: context.write_file(stem + "." + format, run.output); return true;
            case shared::ProgramRun::Result::stopped: return false;
            case shared::ProgramRun::Result::not_found: report_missing(context, stem, dot); return true;
            case shared::ProgramRun::Result::timed_out: throw_timeout(format, stem);
            case shared::ProgramRun::Result::failed: throw_failure(run, format, stem);
        }
        return true;
    }

    void report_missing(Context& context, const std::string& stem, const std::string& dot) {
        graphviz_missing_ = true;
        context.write_file(stem + ".dot", dot);
        Diagnostic warning;
        warning.severity = Severity::warning;
        warning.code = "ADP-RND-004";
        warning.message = "there is no program \"" + options_.program + "\" to draw pictures with; only the DOT text was written";
        warning.hint = "install Graphviz (Debian, Ubuntu: apt install graphviz), or set `program`";
        context.report(std::move(warning));
    }

    [[noreturn]] void throw_timeout(const std::string& format, const std::string& stem) const {
        std::ostringstream seconds;
        seconds << options_.time_limit;
        throw Error("ADP-RND-005", "\"" + options_.program + "\" took more than " + seconds.str() + " s for " + stem + "." + format +
                                       " and was stopped",
                    "raise `time_limit`, fold more (`fold: shape`), or ask for `formats: [dot]` only");
    }

    [[noreturn]] void throw_failure(const shared::ProgramRun& run, const std::string& format, const std::string& stem) const {
        Diagnostic error;
        error.code = "ADP-RND-006";
        error.message = "\"" + options_.program + "\" failed to make " + stem + "." + format + ": " + run.status;
        std::istringstream lines(run.errors);
        for (std::string line; std::getline(lines, line) && error.notes.size() < 5;) error.notes.push_back(line);
        error.hint = "the DOT text is what it was given; `formats: [dot]` writes only that";
        throw Error(std::move(error));
    }

    Options options_;
    bool graphviz_missing_ = false;
};

}  // namespace adpipe::render_dot

ADPIPE_PLUGIN("render_dot", "0.1.0", "render.dot", adpipe::stage<adpipe::render_dot::RenderDot>())
