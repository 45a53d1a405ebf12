#include "kernel_inventory.hpp"
#include "layer_table.hpp"
#include "step_table.hpp"

#include <adpipe/model/decoded_names.hpp>
#include <adpipe/plugin.hpp>
#include <adpipe/render/chosen_layers.hpp>
#include <adpipe/render/text.hpp>

#include <array>
#include <filesystem>

namespace adpipe::render_tables {

constexpr PortDecl names_port = port<DecodedNames>("names", "decoded kernel names; without them they are decoded here", PortUse::many);
constexpr const char* rules_doc = "More files of kernel-name rules; they go before those that adpipe ships.";

class RenderLayerTable final : public Stage {
public:
    struct Options {
        std::vector<std::string> formats{"csv", "markdown"};
        std::string name = "layer";
        std::string begin = "layer";
        std::vector<std::filesystem::path> rules;
    };

    static constexpr const char* name = "render.layer_table";
    static constexpr const char* summary = "Writes tables of all layers: per kind of layer and position the kernel and its times";
    static constexpr const char* doc =
        "Over all chosen steps and all layers of a kind, for layers from a dump as well as those found in a trace. "
        "CSV: a file per batch\n"
        "size, conc<batch size>_<name>.csv (pos, short_name, kernel, avg_us, std_us, min_us, max_us, pct, count; operator "
        "at last, behind\n"
        "analyze.operators, where any is known); further kinds of layers get _kind<number>. Markdown: one page with these tables, batch "
        "sizes side by side, and how the times add up.";
    static constexpr PortDecl inputs[] = {
        port<GraphModel>("graph", "the model's graph"),
        port<Layers>("layers", "which vertex is in which layer"),
        port<Attribution>("attribution", "kernels on vertices"),
        names_port,
        port<Operators>("operators", "which operator launched each kernel", PortUse::many),
    };
    static constexpr auto options() {
        return std::array{
            option<&Options::formats>("formats", "What to write: csv, markdown; names of other renderers' formats are let pass.",
                                      {.choices = render::any_format}),
            option<&Options::name>("name", "Of the files: conc<batch size>_<name>.csv, <name>s.md."),
            option<&Options::begin>("begin", "What position 0 is: where the layer begins, or its attention kernel.",
                                    {.choices = "layer|attention"}),
            option<&Options::rules>("rules", rules_doc),
        };
    }

    explicit RenderLayerTable(Options options) : options_(std::move(options)) {}

    void run(Context& context) override {
        const KernelNames names(options_.rules, context.many<DecodedNames>("names"));
        const auto& attribution = context.in<Attribution>("attribution");
        const auto operators = operators_of(context.many<Operators>("operators"), *attribution.window->trace);
        LayerTableInput input{context.in<GraphModel>("graph"),
                              context.in<Layers>("layers"),
                              attribution,
                              names,
                              operators.get(),
                              options_.begin == "attention",
                              options_.name};
        const render::LayerProfiles profiles = render::layer_profiles(input.graph, input.layers, input.attribution);
        if (operators && !render::any_operator(*operators, profiles)) input.operators = nullptr;
        if (profiles.profiles.empty()) {
            throw Error("ADP-RND-020", "no kernel of the chosen steps is in a layer, so there is nothing to tabulate",
                        "choose other steps at the window stage; `adpipe kernels TRACE` shows the step of each kernel");
        }
        for (const std::string& format : render::chosen_formats(options_.formats, {"csv", "markdown"}, {"csv", "markdown"})) {
            if (format == "markdown") {
                context.write_file(render::file_name_part(options_.name) + "s.md", layer_markdown(input, profiles));
                continue;
            }
            for (const TableFile& file : layer_csv_files(input, profiles)) context.write_file(file.name, file.content);
        }
    }

private:
    Options options_;
};

class RenderKernelInventory final : public Stage {
public:
    struct Options {
        std::vector<std::string> formats{"terminal"};
        std::string steps = "chosen";
        std::string name;
        int most = 30;
        bool print = false;
        std::vector<std::filesystem::path> rules;
    };

    static constexpr const char* name = "render.kernel_inventory";
    static constexpr const char* summary = "Counts all kernels of the chosen steps, or of the whole trace, by name and by category";
    static constexpr const char* doc =
        "How often, how long in all and on average, which share; and per device how long it was busy (the union of all "
        "kernels), how\n"
        "much overlapped, and how long it was idle. Needs neither a dump nor layers. On the terminal, as "
        "<name>_kernels.csv (name, count,\n"
        "total_us, avg_us, pct) with <name>_categories.csv, or as <name>_kernels.md.";
    static constexpr PortDecl inputs[] = {port<Window>("window", "the steps to look at"), names_port};
    static constexpr auto options() {
        return std::array{
            option<&Options::formats>("formats", "What to write: terminal, csv, markdown; names of other renderers' formats are let pass.",
                                      {.choices = render::any_format}),
            option<&Options::steps>("steps", "The chosen steps, or all of the trace, also what lies outside of steps.",
                                    {.choices = "chosen|all"}),
            option<&Options::name>("name", "Of the files; if empty, that of the trace."),
            option<&Options::most>("most", "Kernel names on the terminal; 0: all.", {.minimum = 0}),
            option<&Options::print>("print", "Print csv and markdown instead of writing files."),
            option<&Options::rules>("rules", rules_doc),
        };
    }

    explicit RenderKernelInventory(Options options) : options_(std::move(options)) {}

    void run(Context& context) override {
        const auto& window = context.in<Window>("window");
        const KernelCount count = count_kernels(window, options_.steps == "all",
                                                KernelNames(options_.rules, context.many<DecodedNames>("names")));
        if (count.count == 0) {
            throw Error("ADP-RND-021", "there is no kernel to count",
                        options_.steps == "all" ? "the trace holds none: record with GPU activities"
                                                : "choose other steps, or `steps: all`");
        }
        for (const std::string& format : render::chosen_formats(options_.formats, {"terminal", "csv", "markdown"}, {"terminal"})) {
            if (format == "terminal") {
                context.print(inventory_terminal(count, window, static_cast<std::size_t>(options_.most), context.terminal()));
            } else if (format == "markdown") {
                put(context, window, "_kernels.md", inventory_markdown(count, window));
            } else {
                put(context, window, "_kernels.csv", inventory_csv(count));
                put(context, window, "_categories.csv", category_csv(count));
            }
        }
    }

private:
    /// "run.1.sqlite" → "run.1": what tells what kind of file it is, and no more.
    static std::string without_endings(const std::string& file) {
        static constexpr std::array<std::string_view, 10> endings{".gz", ".json",  ".trace", ".pt",       ".sqlite",
                                                                  ".db", ".rocpd", ".csv",   ".nsys-rep", ".sqlite3"};
        std::string stem = file;
        for (bool cut = true; cut;) {
            cut = false;
            for (const std::string_view ending : endings) {
                if (stem.size() <= ending.size() || !stem.ends_with(ending)) continue;
                stem.resize(stem.size() - ending.size());
                cut = true;
            }
        }
        return stem;
    }

    void put(Context& context, const Window& window, const std::string& end, const std::string& content) const {
        if (options_.print) {
            if (end != "_categories.csv") context.print(content);
            return;
        }
        std::string stem = options_.name;
        if (stem.empty()) stem = window.trace->file.filename().string();
        if (options_.name.empty()) stem = without_endings(stem);
        context.write_file(render::file_name_part(stem) + end, content);
    }

    Options options_;
};

class RenderSteps final : public Stage {
public:
    struct Options {
        std::vector<std::string> formats{"csv"};
        std::string name = "steps";
    };
    static constexpr const char* name = "render.steps";
    static constexpr const char* summary = "Lists the forward passes of a trace: phase, batch size, times, used or why not";
    static constexpr const char* doc = "As <name>.csv; what `adpipe steps` shows. All steps, also those that are not chosen.";
    static constexpr PortDecl inputs[] = {port<Window>("window", "the steps")};
    static constexpr auto options() {
        return std::array{
            option<&Options::formats>("formats", "Only \"csv\"; names of other renderers' formats are let pass.",
                                      {.choices = render::any_format}),
            option<&Options::name>("name", "Of the file."),
        };
    }
    explicit RenderSteps(Options options) : options_(std::move(options)) {}
    void run(Context& context) override {
        render::chosen_formats(options_.formats, {"csv"}, {"csv"});
        context.write_file(render::file_name_part(options_.name) + ".csv", steps_csv(context.in<Window>("window")));
    }

private:
    Options options_;
};

class RenderKernelNames final : public Stage {
public:
    struct Options {
        std::vector<std::string> formats{"csv"};
        std::string name = "kernel_names";
    };
    static constexpr const char* name = "render.kernel_names";
    static constexpr const char* summary =
        "Lists decoded kernel names: short name, library, category, parameters, and the rule that knew them";
    static constexpr const char* doc =
        "As <name>.csv, the most time first. Behind analyze.decode_names; names that no rule knows have no library and the category other.";
    static constexpr PortDecl inputs[] = {
        port<DecodedNames>("names", "what the names tell"),
        port<Trace>("trace", "how often and how long they ran; without it this is left out", PortUse::optional),
    };
    static constexpr auto options() {
        return std::array{
            option<&Options::formats>("formats", "Only \"csv\"; names of other renderers' formats are let pass.",
                                      {.choices = render::any_format}),
            option<&Options::name>("name", "Of the file."),
        };
    }
    explicit RenderKernelNames(Options options) : options_(std::move(options)) {}
    void run(Context& context) override {
        render::chosen_formats(options_.formats, {"csv"}, {"csv"});
        context.write_file(render::file_name_part(options_.name) + ".csv",
                           names_csv(context.in<DecodedNames>("names"), context.maybe<Trace>("trace").get()));
    }

private:
    Options options_;
};

}  // namespace adpipe::render_tables

ADPIPE_PLUGIN("render_tables", "0.1.0", "render.layer_table render.kernel_inventory render.steps render.kernel_names",
              adpipe::stage<adpipe::render_tables::RenderLayerTable>(), adpipe::stage<adpipe::render_tables::RenderKernelInventory>(),
              adpipe::stage<adpipe::render_tables::RenderSteps>(), adpipe::stage<adpipe::render_tables::RenderKernelNames>())
