// Tells the choice of experts from the scoring before it: the ops that choose, and the items of their results, get a sub_group of their
// own. Everything else stays as the strategy before decided it.
#include <adpipe/model/graph_fwd.hpp>
#include <adpipe/model/layers.hpp>
#include <adpipe/plugin.hpp>

#include <array>

class ExpertChoice final : public adpipe::Stage {
public:
    struct Options {
        std::string op = "topk";
    };
    static constexpr auto name = "member.expert_choice";
    static constexpr auto summary = "puts the ops that choose experts into sub_group moe_choice";
    static constexpr auto doc = "Refines the layers of another member stage; needs `from: {layers: <its id>}`.";
    static constexpr std::array inputs{adpipe::port<adpipe::GraphModel>("graph"), adpipe::port<adpipe::Layers>("layers")};
    static constexpr std::array outputs{adpipe::port<adpipe::Layers>("layers")};
    static constexpr auto options() { return std::array{adpipe::option<&Options::op>("op", "Part of the choosing op's name.")}; }

    explicit ExpertChoice(Options options) : options_(std::move(options)) {}

    void run(adpipe::Context& context) override {
        const auto& graph = context.in<adpipe::GraphModel>("graph");
        auto layers = std::make_shared<adpipe::Layers>(context.in<adpipe::Layers>("layers"));
        const adpipe::TextId sub_group = layers->text_id("moe_choice"), reason = layers->text_id("chooses experts");
        for (adpipe::VertexId v = 0; v < graph.size(); ++v) {
            const bool item = graph.vertex(v).op == "getitem" && !graph.inputs(v).empty();
            const adpipe::VertexId chooser = item ? graph.inputs(v).front().source : v;
            if (graph.vertex(chooser).op.find(options_.op) == std::string_view::npos) continue;
            layers->of[v].group = adpipe::Group::moe;
            layers->of[v].sub_group = sub_group, layers->of[v].reason = reason;
        }
        context.out<adpipe::Layers>("layers", std::move(layers));
    }

private:
    Options options_;
};
ADPIPE_PLUGIN("expert_choice", "1.0.0", "member.expert_choice", adpipe::stage<ExpertChoice>())
