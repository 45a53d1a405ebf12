// Planning and running pipelines of small stages that live in this file.
#include "host/registry.hpp"
#include "run/executor.hpp"
#include "run/pipeline_builder.hpp"
#include "run/planner.hpp"

#include "unit/temporary_directory.hpp"

#include <adpipe/model/layers.hpp>
#include <adpipe/testing/graph_text.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

using namespace adpipe;

namespace {

std::weak_ptr<const GraphModel> last_graph;
bool graph_was_alive = false;

std::shared_ptr<const Layers> layers_for(const GraphModel& graph, const std::string& strategy) {
    auto layers = std::make_shared<Layers>();
    layers->graph_digest = graph.digest();
    layers->of.resize(graph.size());
    layers->strategy = strategy;
    return layers;
}

class Parse : public Stage {
public:
    struct Options {
        std::string text = "x = placeholder\noutput(%x)\n";
    };
    static constexpr const char* name = "parse.test";
    static constexpr const char* summary = "";
    static constexpr const char* doc = "";
    static constexpr PortDecl outputs[] = {port<GraphModel>("graph")};
    static constexpr auto options() { return std::array{option<&Options::text>("text", "")}; }
    explicit Parse(Options options) : options_{std::move(options)} {}
    void run(Context& context) override {
        const auto graph = testing::graph_from_text(options_.text);
        last_graph = graph;
        context.out<GraphModel>("graph", graph);
    }

private:
    Options options_;
};

class Member : public Stage {
public:
    static constexpr const char* name = "member.test";
    static constexpr const char* summary = "";
    static constexpr const char* doc = "";
    static constexpr PortDecl inputs[] = {port<GraphModel>("graph")};
    static constexpr PortDecl outputs[] = {port<Layers>("layers")};
    void run(Context& context) override { context.out<Layers>("layers", layers_for(context.in<GraphModel>("graph"), "test")); }
};

class Refine : public Stage {
public:
    static constexpr const char* name = "member.refine";
    static constexpr const char* summary = "";
    static constexpr const char* doc = "";
    static constexpr PortDecl inputs[] = {port<GraphModel>("graph"), port<Layers>("layers")};
    static constexpr PortDecl outputs[] = {port<Layers>("layers")};
    void run(Context& context) override {
        context.out<Layers>("layers", layers_for(context.in<GraphModel>("graph"), context.in<Layers>("layers").strategy + "+refine"));
    }
};

class Vote : public Stage {
public:
    static constexpr const char* name = "member.vote";
    static constexpr const char* summary = "";
    static constexpr const char* doc = "";
    static constexpr PortDecl inputs[] = {port<GraphModel>("graph"), port<Layers>("layers", "", PortUse::many)};
    static constexpr PortDecl outputs[] = {port<Layers>("layers")};
    void run(Context& context) override {
        const auto votes = context.many<Layers>("layers").size();
        context.out<Layers>("layers", layers_for(context.in<GraphModel>("graph"), std::to_string(votes) + " votes"));
    }
};

class Render : public Stage {
public:
    static constexpr const char* name = "render.test";
    static constexpr const char* summary = "";
    static constexpr const char* doc = "";
    static constexpr PortDecl inputs[] = {port<Layers>("layers", "", PortUse::optional)};
    void run(Context& context) override {
        graph_was_alive = !last_graph.expired();
        const auto layers = context.maybe<Layers>("layers");
        context.print(layers ? layers->strategy : "nothing");
        context.summary("rendered");
    }
};

class Show : public Stage {
public:
    static constexpr const char* name = "render.needs";
    static constexpr const char* summary = "";
    static constexpr const char* doc = "";
    static constexpr PortDecl inputs[] = {port<GraphModel>("graph"), port<Layers>("layers")};
    void run(Context& context) override { context.write_file("sub/shown.txt", context.in<Layers>("layers").strategy); }
};

/// Writes down when it is prepared and run; fails to be made, or to be prepared, as told.
std::vector<std::string> happened;
class Eager : public Stage {
public:
    struct Options {
        std::string fails;
    };
    static constexpr const char* name = "render.eager";
    static constexpr const char* summary = "";
    static constexpr const char* doc = "";
    static constexpr PortDecl inputs[] = {port<GraphModel>("graph")};
    static constexpr auto options() { return std::array{option<&Options::fails>("fails", "")}; }
    explicit Eager(Options options) : options_{std::move(options)} {
        if (options_.fails == "create") throw Error("ADP-TEST-001", "cannot be made");
        if (options_.fails != "create once" || std::find(happened.begin(), happened.end(), "failed once") != happened.end()) return;
        happened.push_back("failed once");
        throw Error("ADP-TEST-001", "cannot be made");
    }
    void prepare(const Context& context) override {
        happened.push_back("prepare " + context.pipeline());
        if (options_.fails == "prepare") throw Error("ADP-TEST-002", "cannot be prepared");
    }
    void run(Context& context) override { happened.push_back("run on " + std::to_string(context.in<GraphModel>("graph").size())); }

private:
    Options options_;
};

class Compare : public Stage {
public:
    static constexpr const char* name = "render.compare";
    static constexpr const char* summary = "";
    static constexpr const char* doc = "";
    static constexpr PortDecl inputs[] = {port<Layers>("layers"), port<Layers>("other", "", PortUse::optional)};
    void run(Context& context) override {
        const auto other = context.maybe<Layers>("other");
        context.print(context.in<Layers>("layers").strategy + " beside " + (other ? other->strategy : "nothing"));
    }
};

constexpr StageDecl stages[] = {stage<Parse>(),  stage<Member>(), stage<Refine>(),  stage<Vote>(),
                                stage<Render>(), stage<Show>(),   stage<Compare>(), stage<Eager>()};

Registry test_registry() {
    Registry registry;
    for (const StageDecl& stage : stages) registry.add(stage);
    return registry;
}

class Listener : public RunListener {
public:
    void print(std::string_view text) override { printed += text; }
    std::string printed;
};

struct Outcome {
    std::string messages;
    RunResult result;
    std::string printed;
};

Outcome run(const PipelineBuilder& builder, const std::atomic<bool>* stop = nullptr) {
    Outcome outcome;
    Registry registry = test_registry();
    std::vector<Diagnostic> diagnostics;
    const auto plan = make_plan(builder.config(), registry, diagnostics);
    for (const Diagnostic& diagnostic : diagnostics) {
        outcome.messages += (outcome.messages.empty() ? "" : "; ") + diagnostic.code + " " + diagnostic.message;
    }
    if (!plan) return outcome;
    Listener listener;
    RunSettings settings;
    settings.stop = stop;
    outcome.result = execute(*plan, settings, listener);
    outcome.printed = listener.printed;
    for (const Diagnostic& error : outcome.result.errors) outcome.messages += error.code + " " + error.message;
    return outcome;
}

}  // namespace

TEST_CASE("stages are connected by what they make") {
    PipelineBuilder pipeline{"test"};
    pipeline.add("parse.test");
    pipeline.add("member.test");
    pipeline.add("render.test");
    const Outcome outcome = run(pipeline);
    CHECK(outcome.messages.empty());
    CHECK(outcome.printed == "test");
    CHECK(outcome.result.ok());
    CHECK(outcome.result.stages.back().summary == std::vector<std::string>{"rendered"});
}

TEST_CASE("stages are prepared before the first one runs") {
    const auto events = [](const std::string& fails) {
        PipelineBuilder pipeline{"test"};
        pipeline.add("parse.test");
        pipeline.add("render.eager");
        pipeline.add("render.eager").id("second").with("fails", fails);
        happened.clear();
        std::string messages = run(pipeline).messages;
        if (!messages.empty()) happened.push_back(std::move(messages));
        return happened;
    };
    CHECK(events("") == std::vector<std::string>{"prepare test", "prepare test", "run on 2", "run on 2"});
    // Where a stage is at fault, those before it have run: what they say comes first.
    CHECK(events("prepare") == std::vector<std::string>{"prepare test", "prepare test", "run on 2", "run on 2"});
    CHECK(events("create") == std::vector<std::string>{"prepare test", "run on 2", "ADP-TEST-001 cannot be made"});
    // No stage runs without having been prepared.
    CHECK(events("create once") == std::vector<std::string>{"prepare test", "failed once", "run on 2", "prepare test", "run on 2"});
}

TEST_CASE("an artifact goes after its last use") {
    PipelineBuilder pipeline{"test"};
    pipeline.add("parse.test");
    pipeline.add("member.test");
    pipeline.add("render.test");
    (void)run(pipeline);
    CHECK_FALSE(graph_was_alive);
    pipeline.keep<GraphModel>();
    const Outcome outcome = run(pipeline);
    CHECK(graph_was_alive);
    CHECK(outcome.result.artifact<GraphModel>()->size() == 2);
    CHECK(outcome.result.artifact<Layers>() == nullptr);
}

TEST_CASE("a stage that refines an artifact replaces it") {
    PipelineBuilder pipeline{"test"};
    pipeline.add("parse.test");
    pipeline.add("member.test");
    pipeline.add("member.refine");
    pipeline.add("member.refine").id("again");
    pipeline.add("render.test");
    CHECK(run(pipeline).printed == "test+refine+refine");
}

TEST_CASE("a port that takes many gets all, and its stage replaces them") {
    PipelineBuilder pipeline{"test"};
    pipeline.add("parse.test");
    pipeline.add("member.test").id("a");
    pipeline.add("member.test").id("b");
    pipeline.add("member.test").id("c");
    pipeline.add("member.vote");
    pipeline.add("render.test");
    CHECK(run(pipeline).printed == "3 votes");
}

TEST_CASE("two producers are ambiguous until from: chooses") {
    PipelineBuilder pipeline{"test"};
    pipeline.add("parse.test");
    pipeline.add("member.test").id("a");
    pipeline.add("member.test").id("b");
    auto render = pipeline.add("render.test");
    CHECK(run(pipeline).messages == "ADP-PLAN-003 several stages make layers/1 for the input 'layers' of 'render.test'");
    render.from("layers", "a");
    CHECK(run(pipeline).messages == "ADP-PLAN-007 no stage uses what 'b' makes");
}

TEST_CASE("an optional input may be left open, and be cut off by hand") {
    PipelineBuilder alone{"test"};
    alone.add("render.test");
    CHECK(run(alone).printed == "nothing");

    PipelineBuilder cut{"test"};
    cut.add("parse.test");
    cut.add("member.test");
    cut.add("render.test").from("layers", "none");
    CHECK(run(cut).printed == "nothing");
}

TEST_CASE("an optional input beside a required one of its type is only connected by hand") {
    PipelineBuilder one{"test"};
    one.add("parse.test");
    one.add("member.test");
    one.add("render.compare");
    const std::string alone = run(one).printed;
    CHECK(alone.find(" beside nothing") != std::string::npos);

    PipelineBuilder two{"test"};
    two.add("parse.test");
    two.add("member.test").id("first");
    two.add("member.test").id("second");
    two.add("render.compare").from("layers", "first").from("other", "second");
    CHECK(run(two).printed.find(" beside nothing") == std::string::npos);
}

TEST_CASE("all faults of a plan come at once") {
    PipelineBuilder pipeline{"test"};
    pipeline.add("parse.tset");
    pipeline.add("member.test").with("depth", 3);
    pipeline.add("render.test").from("layerz", "member.test");
    pipeline.add("render.test").id("late").from("layers", "after");
    pipeline.add("render.test").id("typo").from("layers", "member.tset");
    pipeline.add("render.test").id("wrong").from("layers", "late");
    pipeline.add("member.test").id("after");
    pipeline.add("member.test").id("after");
    const std::string messages = run(pipeline).messages;
    for (const char* expected :
         {"ADP-PLAN-001 there is no stage 'parse.tset'", "ADP-CFG-012 unknown option 'depth' for stage 'member.test'",
          "ADP-PLAN-004 stage 'render.test' has no input 'layerz'",
          "ADP-PLAN-005 stage 'after' does not come before the stage that reads from it",
          "ADP-PLAN-005 no earlier stage is called 'member.tset'",
          "ADP-PLAN-006 the input 'layers' takes layers/1; 'late' does not make exactly one",
          "ADP-CFG-017 two stages are called 'after'"}) {
        INFO(expected);
        CHECK(messages.find(expected) != std::string::npos);
    }
    // The missing stage might have made the graph: no fault that follows from another.
    CHECK(messages.find("ADP-PLAN-002") == std::string::npos);
}

TEST_CASE("a required input that nothing makes") {
    PipelineBuilder pipeline{"test"};
    pipeline.add("member.test");
    CHECK(run(pipeline).messages == "ADP-PLAN-002 stage 'member.test' needs graph/1 for its input 'graph', and no earlier stage makes it");
    CHECK(run(PipelineBuilder{"test"}).messages == "ADP-PLAN-008 the pipeline has no stages");
}

TEST_CASE("annotations of another graph are refused") {
    PipelineBuilder pipeline{"test"};
    pipeline.add("parse.test").id("one");
    pipeline.add("parse.test").id("two").with("text", "x = placeholder\ny = op(%x)\noutput(%y)\n");
    pipeline.add("member.test").from("graph", "one");
    pipeline.add("render.needs").from("graph", "two");
    const Outcome outcome = run(pipeline);
    CHECK(outcome.messages == "ADP-RUN-006 the layers/1 of 'member.test' was made for another graph than the graph/1 of 'two'");
    REQUIRE(outcome.result.errors.size() == 1);
    CHECK(outcome.result.errors[0].notes ==
          std::vector<std::string>{"in stage 'render.needs' (graph: two, layers: member.test), after less than a second"});
}

TEST_CASE("files go below the output directory, which is made for them") {
    const test::TemporaryDirectory directory;
    PipelineBuilder pipeline{"test"};
    pipeline.output(directory.path() / "a/b");
    pipeline.add("parse.test");
    pipeline.add("member.test");
    pipeline.add("render.needs");
    const Outcome outcome = run(pipeline);
    CHECK(outcome.messages.empty());
    CHECK(outcome.result.stages.back().files == std::vector<std::filesystem::path>{directory.path() / "a/b/sub/shown.txt"});
    CHECK(std::filesystem::file_size(directory.path() / "a/b/sub/shown.txt") == 4);
}

TEST_CASE("two stages that write one file") {
    const test::TemporaryDirectory directory;
    PipelineBuilder pipeline{"test"};
    pipeline.output(directory.path());
    pipeline.add("parse.test");
    pipeline.add("member.test");
    pipeline.add("render.needs");
    pipeline.add("render.needs").id("other");
    CHECK(run(pipeline).messages ==
          "ADP-RUN-012 stages 'render.needs' and 'other' both write " + (directory.path() / "sub/shown.txt").string());
}

TEST_CASE("a run that is asked to stop ends before the next stage") {
    PipelineBuilder pipeline{"test"};
    pipeline.add("parse.test");
    pipeline.add("member.test");
    pipeline.add("render.test");
    const std::atomic<bool> stop{true};
    const Outcome outcome = run(pipeline, &stop);
    CHECK(outcome.result.stopped);
    CHECK(outcome.result.stages.empty());
    CHECK(outcome.printed.empty());
}
