#include "sample.hpp"

#include <adpipe/render/chosen_layers.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace adpipe;
using namespace adpipe::testing;

namespace {

/// "code: message" of what `call` throws.
template <class Call>
std::string failure(Call call) {
    try {
        call();
    } catch (const Error& error) {
        return error.diagnostics().front().code + ": " + error.diagnostics().front().message;
    }
    return "nothing thrown";
}

}  // namespace

TEST_CASE("a layer that is not there is named beside those that are") {
    const Sample sample = make_sample();
    for (const char* stage : {"render.json", "render.dot", "render.table"}) {
        auto context = sample.context();
        context->selection.layers = {1, 7, 8};
        CHECK(failure([&] { renderer(stage)->run(*context); }) == "ADP-RND-001: layers 7, 8 are not there; layers 0, 1 are there");
        CHECK(context->files.empty());
        CHECK(context->printed.empty());
        context->selection.layers = {};
        CHECK(failure([&] { renderer(stage)->run(*context); }) == "ADP-RND-002: no layer was chosen, and layers 0, 1 are there");
    }
}

TEST_CASE("all layers give a file each") {
    auto context = make_sample().context();
    context->selection.layers = {};
    context->selection.all = true;
    renderer("render.json")->run(*context);
    CHECK(context->files.count("092_compile_compile_model_layer0.json") == 1);
    CHECK(context->files.count("092_compile_compile_model_layer1.json") == 1);
    CHECK(context->files.size() == 4);
}

TEST_CASE("names of other renderers' formats are let pass, unknown ones are not") {
    const Sample sample = make_sample();
    const Options dots{{"formats", std::vector<std::string>{"dot", "png", "svg"}}};
    CHECK_FALSE(rendered("render.table", sample, dots)->printed.empty());
    CHECK(rendered("render.json", sample, dots)->files.size() == 2);
    for (const char* stage : {"render.json", "render.dot", "render.table"}) {
        auto context = sample.context();
        CHECK(failure([&] {
                  renderer(stage, {{"formats", std::vector<std::string>{"jpeg"}}})->run(*context);
              }) == "ADP-RND-007: no renderer has a format \"jpeg\"");
    }
}

TEST_CASE("a request to stop ends a renderer without files") {
    auto context = make_sample().context();
    context->stop = true;
    for (const char* stage : {"render.json", "render.dot", "render.table"}) renderer(stage)->run(*context);
    CHECK(context->files.empty());
    CHECK(context->printed.empty());
}

TEST_CASE("stacks of layers are told apart in file names") {
    GraphBuilder builder("w.txt", nullptr);
    builder.begin_module("m", 1);
    auto layers = std::make_shared<Layers>();
    for (const char* stack : {"encoder", "decoder"}) {
        Vertex vertex;
        vertex.name = builder.intern(std::string{stack} + "_add");
        vertex.target = "aten.add.Tensor";
        vertex.op = vertex.target;
        builder.add(vertex);
        Membership member;
        member.layer = 0;
        member.stack = layers->text_id(stack);
        layers->of.push_back(member);
        Layer layer;
        layer.number = 0;
        layer.stack = member.stack;
        layers->layers.push_back(layer);
    }
    const auto graph = builder.freeze();
    layers->graph_digest = graph->digest();
    RecordingContext context;
    context.give<GraphModel>("graph", graph);
    context.give<Layers>("layers", std::shared_ptr<const Layers>{layers});
    context.selection.layers = {0};
    renderer("render.json")->run(context);
    CHECK(context.files.count("w_encoder_layer0.json") == 1);
    CHECK(context.files.count("w_decoder_layer0.json") == 1);
}
