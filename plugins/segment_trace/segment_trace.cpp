#include "artifacts.hpp"
#include "kernel_ranges.hpp"

#include <adpipe/plugin.hpp>
#include <adpipe/render/number.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>

namespace {

using namespace adpipe;

std::string layer_count_text(const FoundProgram& program) {
    std::string text = fmt::format("{} layers of {} {}", program.layers, program.kinds.size(),
                                   program.kinds.size() == 1 ? "kind" : "kinds");
    if (program.stacks > 1) text += fmt::format(" in {} stacks", program.stacks);
    return text;
}

std::string runner_up_text(const OtherReading& other) {
    return fmt::format("{} of {}", adpipe::render::count_text(other.layers, "layer"),
                       adpipe::render::count_text(other.kernels_per_layer, "kernel"));
}

std::string program_summary(const FoundProgram& program) {
    std::string line = fmt::format("{}: {}, each from {}; confidence {:.2f}", program.name, layer_count_text(program), program.first_kernel,
                                   program.confidence);
    if (program.runner_up) line += "; next best: " + runner_up_text(*program.runner_up);
    return line;
}

void warn_of_mixed_times(Context& context, const FoundProgram& program) {
    Diagnostic diagnostic;
    diagnostic.severity = Severity::warning;
    diagnostic.code = "ADP-SEG-003";
    diagnostic.message = fmt::format("{}: the names of kernels repeat in the order of the file, but not in the order of their times",
                                     program.name);
    diagnostic.notes.push_back(
        "the profiler gave some kernels the times of others: the layers are right, times of single kernels may not be");
    diagnostic.hint = "record again with another version of the profiler; sums over a step hold nevertheless";
    context.report(std::move(diagnostic));
}

void warn_of_doubt(Context& context, const FoundProgram& program) {
    Diagnostic diagnostic;
    diagnostic.severity = Severity::warning;
    diagnostic.code = "ADP-SEG-002";
    diagnostic.message = fmt::format("{}: {}, but this is not certain (confidence {:.2f})", program.name, layer_count_text(program),
                                     program.confidence);
    if (program.runner_up) diagnostic.notes.push_back("the next best reading: " + runner_up_text(*program.runner_up));
    diagnostic.hint =
        "who knows the model can name a kernel that runs once a layer: `adpipe layers --pattern NAME`, or segment.anchor in a pipeline";
    context.report(std::move(diagnostic));
}

std::shared_ptr<const Window> window_with_kernels(Context& context) {
    auto window = context.in_shared<Window>("window");
    const bool any_chosen = std::any_of(window->steps.begin(), window->steps.end(),
                                        [](const Step& step) { return step.chosen && !step.kernels.empty(); });
    if (any_chosen) return window;
    throw Error("ADP-SEG-004", "no step with kernels is chosen, so there are no layers to find", "choose other steps at the window stage");
}

/// What both stages do once they know how to find layers. `nothing`: the error if there are none.
void run_segmentation(Context& context, const segment::LayerFinder& finder, const char* strategy, double certain, const Error& nothing) {
    segment::SymbolTable table;
    const segment::Programs programs = segment::find_programs(window_with_kernels(context), table, finder);
    if (programs.programs.empty()) throw nothing;
    const segment::Artifacts artifacts = segment::make_artifacts(programs, table, strategy);
    for (const FoundProgram& program : artifacts.segmentation->programs) {
        context.summary(program_summary(program));
        if (program.times_mixed_up) warn_of_mixed_times(context, program);
        if (program.confidence < certain) warn_of_doubt(context, program);
    }
    if (const std::size_t without = programs.without_layers.size(); without > 0) {
        context.summary(fmt::format("{} {} in which nothing repeats as layers do: left out", without, without == 1 ? "step" : "steps"));
    }
    for (const std::uint32_t s : programs.cut_off) {
        const Step& step = programs.window->steps[s];
        context.summary(fmt::format("step {} left out: {}", step.number, step.missing));
    }
    context.out<GraphModel>("graph", artifacts.graph);
    context.out<Layers>("layers", artifacts.layers);
    context.out<Attribution>("attribution", artifacts.attribution);
    context.out<Segmentation>("segmentation", artifacts.segmentation);
}

constexpr PortDecl window_port = port<Window>("window", "the steps to look at");
constexpr PortDecl graph_port = port<GraphModel>("graph", "one module per kind of step, one vertex per kernel");
constexpr PortDecl layers_port = port<Layers>("layers", "layer, kind and group of every vertex");
constexpr PortDecl attribution_port = port<Attribution>("attribution", "kernels onto vertices");
constexpr PortDecl segmentation_port = port<Segmentation>("segmentation", "how sure the layers are, and the next best reading");

class PeriodFinder : public segment::LayerFinder {
public:
    std::optional<segment::Period> find(const segment::SymbolTable& table, segment::SymbolSpan sequence,
                                        std::span<const std::uint32_t> /*kernels*/) const override {
        return segment::find_period(table, sequence);
    }
};

class SegmentPeriod final : public Stage {
public:
    static constexpr const char* name = "segment.period";
    static constexpr const char* summary = "Finds a model's layers in a trace by what repeats in the order of its kernels.";
    static constexpr const char* doc =
        "No graph dump is needed. The repeating unit of each chosen step is searched for over all streams; kinds of "
        "layers (dense and\n"
        "mixture of experts, sliding and global, linear and full attention) may alternate or follow each other. Where "
        "exactly a layer\n"
        "begins is a convention: at the norm that follows the residual sum. What lies before the first and after the "
        "last layer is\n"
        "prologue and epilogue. Makes a graph with one vertex per kernel, so that every render stage works.";
    static constexpr PortDecl inputs[] = {window_port};
    static constexpr PortDecl outputs[] = {graph_port, layers_port, attribution_port, segmentation_port};
    struct Options {
        double certain = 0.5;
    };
    static constexpr auto options() {
        return std::array{option<&Options::certain>("certain", "Below this confidence a warning names the next best reading.",
                                                    {.minimum = 0, .maximum = 1})};
    }

    explicit SegmentPeriod(Options given) : options_{given} {}
    void run(Context& context) override {
        const auto& window = context.in<Window>("window");
        run_segmentation(context, PeriodFinder{}, name, options_.certain,
                         Error("ADP-SEG-001", fmt::format("no order of kernels repeats as a model's layers do ({})", window.description),
                               "if the trace holds a language model, name a kernel that runs once a layer: `adpipe layers --pattern NAME`, "
                               "or segment.anchor in a pipeline"));
    }

private:
    Options options_;
};

class AnchorFinder : public segment::LayerFinder {
public:
    AnchorFinder(std::string kernel, bool begins) : kernel_{std::move(kernel)}, begins_{begins} {}

    std::optional<segment::Period> find(const segment::SymbolTable& table, segment::SymbolSpan sequence,
                                        std::span<const std::uint32_t> /*kernels*/) const override {
        std::vector<std::uint32_t> positions;
        for (std::uint32_t i = 0; i < sequence.size(); ++i) {
            if (segment::name_fits(table[sequence[i]].name, kernel_)) positions.push_back(i);
        }
        return segment::period_of_anchors(table, sequence, positions, begins_);
    }

private:
    std::string kernel_;
    bool begins_;
};

/// Layers are the ranges of a name.
class RangeFinder : public segment::LayerFinder {
public:
    explicit RangeFinder(const segment::KernelRanges& ranges) : ranges_{ranges} {}

    std::optional<segment::Period> find(const segment::SymbolTable& table, segment::SymbolSpan sequence,
                                        std::span<const std::uint32_t> kernels) const override {
        std::vector<segment::Span> spans;
        std::uint32_t open = segment::KernelRanges::none;
        for (std::uint32_t i = 0; i < kernels.size(); ++i) {
            const std::uint32_t range = ranges_.layer_of(kernels[i]);
            if (range == segment::KernelRanges::none) continue;
            if (range != open) spans.push_back({i, i + 1});
            spans.back().end = i + 1;
            open = range;
        }
        return segment::period_of_spans(table, sequence, std::move(spans));
    }

private:
    const segment::KernelRanges& ranges_;
};

class SegmentAnchor final : public Stage {
public:
    static constexpr const char* name = "segment.anchor";
    static constexpr const char* summary = "Finds a model's layers in a trace by a kernel, or a range, that comes once a layer.";
    static constexpr const char* doc =
        "For those who know their model, where segment.period is in doubt. Every run of the kernel is one layer. By "
        "default the layer\n"
        "begins at the norm before it, as with segment.period; with `begins: true` it begins at that kernel itself. "
        "Or every range of the\n"
        "program (NVTX, record_function) of a name is one layer: the kernels that were launched, or captured, in it.";
    static constexpr PortDecl inputs[] = {window_port};
    static constexpr PortDecl outputs[] = {graph_port, layers_port, attribution_port, segmentation_port};
    struct Options {
        std::string kernel;
        std::string range;
        bool begins = false;
    };
    static constexpr auto options() {
        return std::array{option<&Options::kernel>("kernel",
                                                   "A part of the name of a kernel that runs once a layer; '*' stands for any text."),
                          option<&Options::range>("range",
                                                  "A part of the name of the ranges that are the layers, in place of a kernel; "
                                                  "of ranges in each other the outermost."),
                          option<&Options::begins>("begins", "The layer begins at this kernel.")};
    }

    explicit SegmentAnchor(Options given) : options_{std::move(given)} {}

    void run(Context& context) override {
        if (options_.kernel.empty() == options_.range.empty()) {
            throw Error("ADP-SEG-005", "segment.anchor needs one of its options `kernel` and `range`",
                        "give a part of the name of a kernel that runs once a layer, or of the ranges that are the layers");
        }
        if (!options_.range.empty()) {
            const segment::KernelRanges ranges{context.in_shared<Window>("window"), options_.range};
            run_segmentation(context, RangeFinder{ranges}, name, 0,
                             Error("ADP-SEG-007",
                                   fmt::format("no two ranges with '{}' in their name hold launches of a chosen step", options_.range),
                                   "without the recording of a graph's capture the kernels of its replays have no ranges"));
            return;
        }
        run_segmentation(context, AnchorFinder{options_.kernel, options_.begins}, name, 0,
                         Error("ADP-SEG-006",
                               fmt::format("no chosen step runs a kernel with '{}' in its name at least twice", options_.kernel),
                               "`adpipe kernels TRACE` lists the names"));
    }

private:
    Options options_;
};

}  // namespace

ADPIPE_PLUGIN("segment_trace", "0.1.0", "segment.period segment.anchor", adpipe::stage<SegmentPeriod>(), adpipe::stage<SegmentAnchor>())
