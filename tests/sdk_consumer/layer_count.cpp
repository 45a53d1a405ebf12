// A plugin with an input, an option, a summary and printed text; it runs an algorithm of Boost.Graph on the model graph.
#include <adpipe/model/graph.hpp>
#include <adpipe/model/layers.hpp>
#include <adpipe/plugin.hpp>

#include <boost/graph/topological_sort.hpp>

#include <array>
#include <iterator>
#include <string>
#include <vector>

class LayerCount final : public adpipe::Stage {
public:
    struct Options {
        std::string word = "layers";
    };
    static constexpr auto name = "render.layer_count";
    static constexpr auto summary = "prints how many layers there are";
    static constexpr auto doc = "For a test.";
    static constexpr std::array inputs{adpipe::port<adpipe::GraphModel>("graph"), adpipe::port<adpipe::Layers>("layers")};
    static constexpr auto options() { return std::array{adpipe::option<&Options::word>("word", "What they are called.")}; }

    explicit LayerCount(Options options) : options_(std::move(options)) {}

    void run(adpipe::Context& context) override {
        const auto& graph = context.in<adpipe::GraphModel>("graph");
        const auto& layers = context.in<adpipe::Layers>("layers");
        std::vector<adpipe::VertexId> order;
        boost::topological_sort(graph, std::back_inserter(order));
        const bool whole = order.size() == graph.size();
        context.print(std::to_string(layers.layers.size()) + " " + options_.word + (whole ? ", ordered\n" : ", not ordered\n"));
    }

private:
    Options options_;
};
ADPIPE_PLUGIN("layer_count", "0.0.1", "render.layer_count", adpipe::stage<LayerCount>())
