// A stage that breaks the rules of a stage in the way that its option says.
#include <adpipe/model/layers.hpp>
#include <adpipe/plugin.hpp>

#include <array>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using namespace adpipe;

class Misbehave : public Stage {
public:
    struct Options {
        std::string how;
    };
    static constexpr const char* name = "member.misbehave";
    static constexpr const char* summary = "breaks one of the rules for stages";
    static constexpr const char* doc = "For tests of the host.";
    static constexpr PortDecl inputs[] = {port<GraphModel>("graph", "a graph", PortUse::optional)};
    static constexpr PortDecl outputs[] = {port<Layers>("layers", "what it may publish")};
    static constexpr auto options() { return std::array{option<&Options::how>("how", "Which rule to break.", {.required = true})}; }

    explicit Misbehave(Options given) : options_{std::move(given)} {
        if (options_.how == "throw in create") throw std::runtime_error("no such luck");
    }

    void run(Context& context) override {
        const std::string& how = options_.how;
        if (how == "throw an error") throw Error("ADP-TEST-001", "the toy broke", "mend it");
        if (how == "throw an empty error") throw Error(std::vector<Diagnostic>{});
        if (how == "throw an exception") throw std::out_of_range("index 7 of 3");
        if (how == "throw an int") throw 42;  // NOLINT: that is the point
        if (how == "run out of memory") throw std::bad_alloc();
        if (how == "write outside") context.write_file("../escaped.txt", "text");
        if (how == "write an absolute name") context.write_file("/tmp/escaped.txt", "text");
        if (how == "look for data") (void)context.data_file("rules/nothing_of_that_name.yaml");
        if (how == "read an undeclared port") (void)context.in<Layers>("layerz");
        if (how == "read another type") (void)context.in<Layers>("graph");
        if (how == "require an optional port") (void)context.in<GraphModel>("graph");
        if (how == "publish to an undeclared port") context.out<Layers>("layerz", std::make_shared<Layers>());
        if (how == "publish nothing") context.out<Layers>("layers", nullptr);
        if (how == "publish twice") {
            context.out<Layers>("layers", std::make_shared<Layers>());
            context.out<Layers>("layers", std::make_shared<Layers>());
        }
        if (how == "publish for another graph") context.out<Layers>("layers", std::make_shared<Layers>());
        if (how == "run until stopped") {
            context.write_file("running", "");
            while (!context.stop_requested()) std::this_thread::yield();
            return;
        }
        if (how == "publish a short column") {
            auto layers = std::make_shared<Layers>();
            layers->graph_digest = context.in<GraphModel>("graph").digest();
            context.out<Layers>("layers", std::shared_ptr<const Layers>{std::move(layers)});
        }
    }

private:
    Options options_;
};

constexpr StageDecl makes_nothing{sizeof(StageDecl),
                                  "render.nothing",
                                  "its create() returns null",
                                  "",
                                  {},
                                  {},
                                  {},
                                  [](std::span<const GivenOption>) -> Stage* { return nullptr; }};

}  // namespace

ADPIPE_PLUGIN("misbehave", "1.0.0", "member.misbehave render.nothing", stage<Misbehave>(), makes_nothing)
