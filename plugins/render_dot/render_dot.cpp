#include "../shared/run_program.hpp"
#include "layer_dot.hpp"
#include "model_dot.hpp"
#include "theme.hpp"

#include <adpipe/plugin.hpp>
#include <adpipe/render/chosen_layers.hpp>
#include <adpipe/render/text.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <future>
#include <sstream>
#include <thread>
#include <vector>

namespace adpipe::render_dot {

class RenderDot : public Stage {
public:
    struct Options {
        std::vector<std::string> formats{"dot", "png", "svg"};
        std::string fold = "shape";
        std::string theme = "auto";
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
        "line by evidence. Writes <dump>_layer<N>.dot and, through Graphviz, the pictures; for several layers also <dump>_layers.dot and "
        "its "
        "pictures, with one box for each kind of layer. Where Graphviz is missing only the DOT text is written.";
    static constexpr std::span<const PortDecl> inputs = render::layer_ports;
    static constexpr auto options() {
        return std::array{
            option<&Options::formats>("formats", "What to write: dot, png, svg, pdf.", {.choices = render::any_format}),
            option<&Options::fold>("fold", "\"shape\" folds ops that only change a shape into the edges; \"none\" shows them.",
                                   {.choices = "none|shape"}),
            option<&Options::theme>("theme",
                                    "Colours: light; dark; or auto, which is light, but for SVG in a viewer that asks for dark pages.",
                                    {.choices = "auto|light|dark"}),
            option<&Options::width>("width", "Widest PNG, in pixels.", {.minimum = 200, .maximum = 20000}),
            option<&Options::program>("program", "Graphviz' layout program, by name or path."),
            option<&Options::time_limit>("time_limit", "Seconds that it may take for one picture.", {.minimum = 0.01, .maximum = 3600}),
            option<&Options::model>("model", "For several layers, draws one picture of them all as well."),
        };
    }

    explicit RenderDot(Options options) : options_(std::move(options)) {}

    void run(Context& context) override {
        formats_ = render::chosen_formats(options_.formats, {"dot", "png", "svg", "pdf"}, {"dot", "png", "svg"});
        const render::LayerViews views = render::layer_views(context);
        std::vector<render::LayerView> drawn;
        for (const Layer* layer : render::chosen_layers(context, views.layers())) {
            if (context.stop_requested()) return;
            drawn.push_back(views.view(*layer));
        }
        const std::vector<std::string> pictures = picture_files(drawn);
        for (std::size_t i = 0; i < drawn.size(); ++i) {
            if (context.stop_requested()) return;
            const Links links = wants("svg") ? links_of(drawn, pictures, i) : Links{};
            add(context, render::layer_file_stem(drawn[i]),
                layer_dot(drawn[i], render::fold_named(options_.fold), context.pipeline(), links));
        }
        if (options_.model && drawn.size() > 1) {
            add(context, render::file_name_part(views.graph().source().stem().string()) + "_layers",
                model_dot(drawn, context.pipeline(), wants("svg") ? pictures : std::vector<std::string>{}));
        }
        draw_pictures(context);
    }

private:
    struct Drawing {
        std::string stem;
        std::string dot;
    };
    struct Picture {
        const Drawing* drawing;
        std::string format;
    };

    static std::vector<std::string> picture_files(const std::vector<render::LayerView>& drawn) {
        std::vector<std::string> files;
        for (const render::LayerView& view : drawn) files.push_back(render::layer_file_stem(view) + ".svg");
        return files;
    }

    /// The pictures of the layers before and behind, where they are drawn as well.
    static Links links_of(const std::vector<render::LayerView>& drawn, const std::vector<std::string>& files, std::size_t of) {
        Links links;
        for (std::size_t i = 0; i < drawn.size(); ++i) {
            if (drawn[i].layer->stack != drawn[of].layer->stack) continue;
            if (drawn[of].next >= 0 && drawn[i].number() == drawn[of].next) links.after = files[i];
            if (drawn[i].next >= 0 && drawn[i].next == drawn[of].number()) links.before = files[i];
        }
        return links;
    }

    /// The text is written before any picture is drawn: it is there to look at, whatever Graphviz does.
    void add(Context& context, std::string stem, std::string light) {
        drawings_.push_back({std::move(stem), options_.theme == "dark" ? dark_dot(light) : std::move(light)});
        if (wants("dot")) context.write_file(drawings_.back().stem + ".dot", drawings_.back().dot);
    }

    bool wants(std::string_view format) const { return std::find(formats_.begin(), formats_.end(), format) != formats_.end(); }

    /// As many at once as there are processors: Graphviz takes longer than all else here together.
    void draw_pictures(Context& context) {
        std::vector<Picture> pictures;
        for (const Drawing& drawing : drawings_) {
            for (const std::string& format : formats_) {
                if (format != "dot") pictures.push_back({&drawing, format});
            }
        }
        const std::size_t at_once = std::max(1U, std::thread::hardware_concurrency());
        for (std::size_t begin = 0; begin < pictures.size(); begin += at_once) {
            std::vector<std::future<shared::ProgramRun>> runs;
            for (std::size_t i = begin; i < std::min(begin + at_once, pictures.size()); ++i) {
                // Later, one after another, where the system has no thread to spare.
                runs.push_back(std::async(std::launch::async | std::launch::deferred,
                                          [this, &context, &picture = pictures[i]] { return graphviz(context, picture); }));
            }
            for (std::size_t i = 0; i < runs.size(); ++i) {
                if (!finish(context, pictures[begin + i], runs[i].get())) return;
            }
        }
    }

    shared::ProgramRun graphviz(const Context& context, const Picture& picture) const {
        std::vector<std::string> arguments{"-T" + picture.format};
        // Graphviz only ever shrinks to this size; at 96 pixels an inch.
        if (picture.format == "png")
            arguments.insert(arguments.end(), {"-Gdpi=96", "-Gsize=" + std::to_string(options_.width / 96.0) + ",1000"});
        const std::chrono::milliseconds limit{static_cast<long long>(options_.time_limit * 1000)};
        return shared::run_program(options_.program, arguments, picture.drawing->dot, limit, [&] { return context.stop_requested(); });
    }

    /// What `program` names need not be Graphviz, and a full disk or a lack of memory can end it without a word.
    static bool looks_like(std::string_view format, std::string_view picture) {
        if (format == "png") return picture.starts_with("\x89PNG");
        if (format == "pdf") return picture.starts_with("%PDF");
        return picture.find("<svg") != std::string_view::npos;
    }

    /// False if there is no point in going on.
    bool finish(Context& context, const Picture& picture, const shared::ProgramRun& run) const {
        const std::string& stem = picture.drawing->stem;
        switch (run.result) {
            case shared::ProgramRun::Result::ok:
                if (!looks_like(picture.format, run.output))
                    throw_failure(run, picture.format, stem, "it ended well, but what it wrote is none");
                context.write_file(stem + "." + picture.format,
                                   picture.format == "svg" && options_.theme == "auto" ? svg_for_both(run.output) : run.output);
                return true;
            case shared::ProgramRun::Result::stopped: return false;
            case shared::ProgramRun::Result::not_found: report_missing(context); return false;
            case shared::ProgramRun::Result::timed_out: throw_timeout(picture.format, stem);
            case shared::ProgramRun::Result::failed: throw_failure(run, picture.format, stem, run.status);
        }
        return true;
    }

    void report_missing(Context& context) const {
        for (const Drawing& drawing : drawings_) {
            if (!wants("dot")) context.write_file(drawing.stem + ".dot", drawing.dot);
        }
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
        throw Error("ADP-RND-005",
                    "\"" + options_.program + "\" took more than " + seconds.str() + " s for " + stem + "." + format + " and was stopped",
                    "raise `time_limit`, fold more (`fold: shape`), or ask for `formats: [dot]` only");
    }

    [[noreturn]] void throw_failure(const shared::ProgramRun& run, const std::string& format, const std::string& stem,
                                    const std::string& why) const {
        Diagnostic error;
        error.code = "ADP-RND-006";
        error.message = "\"" + options_.program + "\" failed to make " + stem + "." + format + ": " + why;
        std::istringstream lines(run.errors);
        for (std::string line; std::getline(lines, line) && error.notes.size() < 5;) error.notes.push_back(line);
        error.hint = "the DOT text is what it was given; `formats: [dot]` writes only that";
        throw Error(std::move(error));
    }

    Options options_;
    std::vector<std::string> formats_;
    std::deque<Drawing> drawings_;
};

}  // namespace adpipe::render_dot

ADPIPE_PLUGIN("render_dot", "0.1.0", "render.dot", adpipe::stage<adpipe::render_dot::RenderDot>())
