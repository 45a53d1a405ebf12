// Small well-behaved stages for pipelines in tests.
#include <adpipe/model/layers.hpp>
#include <adpipe/plugin.hpp>
#include <adpipe/testing/graph_text.hpp>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace adpipe;

/// A graph out of the config.
class ParseToy : public Stage {
public:
    struct Options {
        std::string text;
    };
    static constexpr const char* name = "parse.toy";
    static constexpr const char* summary = "a graph of a few lines";
    static constexpr const char* doc = "";
    static constexpr PortDecl outputs[] = {port<GraphModel>("graph")};
    static constexpr auto options() {
        return std::array{option<&Options::text>("text", "The graph, in the form of adpipe/testing/graph_text.hpp.", {.required = true})};
    }
    explicit ParseToy(Options options) : options_{std::move(options)} {}
    void run(Context& context) override {
        const auto graph = testing::graph_from_text(options_.text);
        context.summary(std::to_string(graph->size()) + " vertices");
        context.out<GraphModel>("graph", graph);
    }

private:
    Options options_;
};

/// Everything in one layer.
class MemberToy : public Stage {
public:
    static constexpr const char* name = "member.toy";
    static constexpr const char* summary = "puts every vertex into layer 0";
    static constexpr const char* doc = "";
    static constexpr PortDecl inputs[] = {port<GraphModel>("graph")};
    static constexpr PortDecl outputs[] = {port<Layers>("layers")};
    void run(Context& context) override {
        const auto& graph = context.in<GraphModel>("graph");
        auto layers = std::make_shared<Layers>();
        layers->graph_digest = graph.digest();
        layers->of.resize(graph.size());
        for (Membership& member : layers->of) member.layer = 0;
        context.out<Layers>("layers", std::shared_ptr<const Layers>{std::move(layers)});
    }
};

/// Says what it was given.
class RenderToy : public Stage {
public:
    struct Options {
        bool loud = false;
        std::int64_t times = 1;
        double scale = 1;
        std::string style = "plain";
        std::filesystem::path file;
        std::vector<std::string> colours = {"red"};
        std::string name = "toy.txt";
    };
    static constexpr const char* name = "render.toy";
    static constexpr const char* summary = "prints how many vertices there are, and writes it to a file";
    static constexpr const char* doc = "For tests of the host.";
    static constexpr PortDecl inputs[] = {port<GraphModel>("graph", "what to count"),
                                          port<Layers>("layers", "adds how many have a layer", PortUse::optional)};
    static constexpr auto options() {
        return std::array{
            option<&Options::loud>("loud", "Whether to shout."),
            option<&Options::times>("times", "How often to say it.", {.minimum = 1, .maximum = 5}),
            option<&Options::scale>("scale", "Not used.", {.minimum = 0}),
            option<&Options::style>("style", "How to say it.", {.choices = "plain|fancy"}),
            option<&Options::file>("file", "Not read."),
            option<&Options::colours>("colours", "Which colours.", {.choices = "red|green|blue"}),
            option<&Options::name>("name", "The file to write."),
        };
    }
    explicit RenderToy(Options options) : options_{std::move(options)} {}
    void run(Context& context) override {
        std::string text = std::to_string(context.in<GraphModel>("graph").size()) + " vertices";
        if (context.maybe<Layers>("layers") != nullptr) text += " in layers";
        if (options_.style == "fancy") text = "* " + text + " *";
        for (const std::string& colour : options_.colours) text += " " + colour;
        text += options_.loud ? "!\n" : "\n";
        for (std::int64_t i = 0; i < options_.times; ++i) context.print(text);
        context.write_file(options_.name, text);
    }

private:
    Options options_;
};

}  // namespace

ADPIPE_PLUGIN("toys", "1.0.0", "parse.toy member.toy render.toy", stage<ParseToy>(), stage<MemberToy>(), stage<RenderToy>())
