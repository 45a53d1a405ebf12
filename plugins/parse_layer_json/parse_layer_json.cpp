#include "layer_graph.hpp"

#include <adpipe/files.hpp>
#include <adpipe/model/dump.hpp>
#include <adpipe/plugin.hpp>
#include <adpipe/render/number.hpp>

#include <array>

namespace {

using namespace adpipe;

class ParseLayerJson final : public Stage {
public:
    struct Options {};
    static constexpr const char* name = "parse.layer_json";
    static constexpr const char* summary = "Reads one layer from the layer JSON that render.json writes.";
    static constexpr const char* doc =
        "Reads a file of TensorRT-LLM's ad-layer-visualizer, or of render.json: nodes, edges, external inputs, groups. The file says which "
        "layer "
        "it is, so no member stage is needed behind it. Kernel times in it become metrics of their nodes; for kernels on nodes, with "
        "evidence, give "
        "the dump and the trace that the file was made from.";
    static constexpr std::array inputs{port<Dump>("dump", "The file.")};
    static constexpr std::array outputs{
        port<GraphModel>("graph", "The graph of the layer."), port<Layers>("layers", "The layer of every node: that of the file."),
        port<Metrics>("metrics", "Per node, as the file states them: kernel time in microseconds, number of kernels.")};
    static constexpr std::array<OptionDecl, 0> options{};

    explicit ParseLayerJson(Options) {}

    void run(Context& context) override {
        const auto dump = context.in_shared<Dump>("dump");
        const auto file = MappedFile::open(dump->file);
        const layer_json::LayerFile layer = layer_json::read_layer_file(file->path(), file->text());
        layer_json::LayerGraph made = layer_json::make_graph(file->path(), layer);
        context.summary(dump->file.filename().string() + ", layer " + std::to_string(layer.layer) +
                        (layer.source_file.empty() ? "" : " of " + layer.source_file) + ": " +
                        render::count_text(layer.nodes.size(), "node"));
        context.out<GraphModel>("graph", std::move(made.graph));
        context.out<Layers>("layers", std::move(made.layers));
        context.out<Metrics>("metrics", std::move(made.metrics));
    }
};

}  // namespace

ADPIPE_PLUGIN("parse_layer_json", "0.1.0", "parse.layer_json", adpipe::stage<ParseLayerJson>())
