#include "sample.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace adpipe::testing {

namespace {

constexpr std::string_view bf16 = "torch.bfloat16";

/// Adds the vertices of the model with their membership.
class ModelWriter {
public:
    explicit ModelWriter(const std::string& attention_1) : attention_1_(attention_1) {
        builder_.begin_module("model", 1);
        inputs();
        layer(0, "embed");
        layer(1, "sum_0");
        op("final_norm", "auto_deploy.rms_norm.default", "2x4x8", {"sum_1", "w:model_norm_weight"}, layer_epilogue, Group::norm);
        add({}, VertexKind::output, "output", {}, {}, {"final_norm"}, {layer_epilogue, Group::other, {}});
    }

    Sample finish() {
        Sample sample;
        sample.graph = builder_.freeze();
        auto layers = std::make_shared<Layers>();
        layers->graph_digest = sample.graph->digest();
        layers->strategy = "by hand";
        for (const auto& place : places_) {
            Membership member;
            member.layer = place.layer;
            member.group = place.group;
            member.sub_group = layers->text_id(place.sub_group);
            member.reason = layers->text_id("by hand");
            layers->of.push_back(member);
        }
        for (const LayerId number : {0, 1}) {
            Layer layer;
            layer.number = number;
            if (number == 0) layer.boundary_out = {*sample.graph->find("sum_0")};
            layers->layers.push_back(layer);
        }
        sample.layers = layers;
        return sample;
    }

private:
    struct Place {
        LayerId layer = layer_prologue;
        Group group = Group::other;
        std::string sub_group;
    };

    void add(const std::string& target, VertexKind kind, const std::string& name, std::string_view shape, std::string_view dtype,
             const std::vector<std::string>& arguments, Place place) {
        Vertex vertex;
        vertex.name = builder_.intern(name);
        vertex.target = builder_.intern(target);
        vertex.op = op_name(vertex.target);
        vertex.shape = builder_.intern(shape);
        vertex.dtype = builder_.intern(dtype);
        vertex.kind = kind;
        vertex.line = ++line_;
        std::vector<VertexId> sources;
        for (const std::string& argument : arguments) sources.push_back(source(argument, place.layer));
        const VertexId v = builder_.add(vertex).vertex;
        places_.push_back(std::move(place));
        for (std::uint32_t i = 0; i < sources.size(); ++i) builder_.connect(sources[i], v, i);
    }

    VertexId source(const std::string& argument, LayerId layer) {
        if (argument.substr(0, 2) != "w:") return builder_.find(argument);
        Vertex weight;
        weight.name = builder_.intern(argument.substr(2));
        weight.kind = VertexKind::weight;
        weight.shape = "8x8";
        weight.dtype = bf16;
        const auto added = builder_.add(weight);
        if (added.is_new) places_.push_back({layer, Group::other, {}});
        return added.vertex;
    }

    void op(const std::string& name, const std::string& target, std::string_view shape, const std::vector<std::string>& arguments,
            LayerId layer, Group group, const std::string& sub_group = {}) {
        add(target, VertexKind::op, name, shape, bf16, arguments, {layer, group, sub_group});
    }

    void inputs() {
        for (const char* name : {"input_ids", "position_ids", "seq_len", "r0_kv_cache", "r1_kv_cache"}) {
            add({}, VertexKind::placeholder, name, "?", "unknown", {}, {layer_input, Group::other, {}});
        }
        op("embed", "aten.embedding.default", "2x4x8", {"w:model_embed_tokens_weight", "input_ids"}, layer_prologue, Group::other);
        op("rotary_cos_sin", "aten.cos.default", "4x8", {"position_ids"}, layer_prologue, Group::other);
    }

    void layer(LayerId n, const std::string& in) {
        const std::string s = "_" + std::to_string(n);
        const std::string w = "w:model_layers_" + std::to_string(n) + "_";
        const std::string linear = "auto_deploy.torch_linear_simple.default";
        const std::string attention = n == 1 ? attention_1_ : "attention" + s;
        op("norm" + s, "auto_deploy.rms_norm.default", "2x4x8", {in, w + "input_layernorm_weight"}, n, Group::norm);
        op("begin" + s, "<function begin_aux_stream_passthrough at 0x7f>", "2x4x8", {"norm" + s}, n, Group::attention, "kv_branch");
        op("kv" + s, linear, "2x4x8", {"begin" + s, w + "self_attn_kv_proj_weight"}, n, Group::attention, "kv_branch");
        op("end" + s, "<function end_aux_stream_passthrough at 0x7f>", "2x4x8", {"kv" + s}, n, Group::attention, "kv_branch");
        op("q" + s, linear, "2x4x8", {"norm" + s, w + "self_attn_q_proj_weight"}, n, Group::attention, "q_branch");
        op("q_view" + s, "aten.view.default", "2x4x2x4", {"q" + s}, n, Group::attention, "q_branch");
        op(attention, "auto_deploy.attention_with_cache.default", "2x4x8",
           {"q_view" + s, "end" + s, "rotary_cos_sin", "r" + std::to_string(n) + "_kv_cache", "seq_len"}, n, Group::attention);
        op("o" + s, linear, "2x4x8", {attention, w + "self_attn_o_proj_weight"}, n, Group::attention);
        op("residual" + s, "aten.add.Tensor", "2x4x8", {in, "o" + s}, n, Group::other);
        op("ffn_norm" + s, "auto_deploy.rms_norm.default", "2x4x8", {"residual" + s, w + "post_attention_layernorm_weight"}, n,
           Group::norm);
        op("router" + s, "trtllm.router_gemm_op.default", "8x4", {"ffn_norm" + s, w + "mlp_gate_weight"}, n, Group::moe, "moe_router");
        op("shared" + s, "auto_deploy.swiglu_mlp.default", "2x4x8", {"ffn_norm" + s, w + "mlp_shared_experts_up_weight"}, n, Group::mlp,
           "shared_experts");
        op("experts" + s, "auto_deploy.moe_fused", "2x4x8", {"ffn_norm" + s, "router" + s, "w:fused_moe_stacked" + s}, n, Group::moe,
           "moe_experts");
        op("branches" + s, "aten.add.Tensor", "2x4x8", {"experts" + s, "shared" + s}, n, Group::moe);
        op("scale" + s, "aten.mul.Tensor", "2x4x8", {"branches" + s}, n, Group::moe);
        op("sum" + s, "aten.add.Tensor", "2x4x8", {"residual" + s, "scale" + s}, n, Group::other);
    }

    GraphBuilder builder_{"092_compile_compile_model.txt", nullptr};
    std::string attention_1_;
    std::vector<Place> places_;
    std::uint32_t line_ = 0;
};

struct Launch {
    std::vector<std::string> nodes;
    std::string kernel;
    Nanoseconds duration;
    std::int64_t stream = 13;
    Evidence evidence = Evidence::lineage;
    LayerId layer = 1;
    std::string reason = "range at capture";
};

std::vector<Launch> launches(const std::string& attention, const std::string& experts, Nanoseconds attention_time) {
    return {{{"norm_1"}, "rms_norm_kernel", 2000},
            {{"q_1"}, "void lib::gemm_kernel<1>(int)", 3000},
            {{"kv_1"}, "void lib::gemm_kernel<1>(int)", 4000, 29},
            {{"q_1"}, "splitKreduce_kernel", 1000},
            {{attention}, "fmhaSm100fKernel_Qkv", attention_time, 13, Evidence::annotation},
            {{"o_1"}, "void lib::gemm_kernel<1>(int)", 5000, 13, Evidence::sequence},
            {{"router_1"}, "router_gemm_kernel", 2000, 13, Evidence::sequence},
            {{"shared_1"}, "swiglu_kernel", 8000, 29},
            {{"experts_1"}, experts, 20000, 13, Evidence::name},
            {{"branches_1"}, "add_kernel", 1000},
            {{"sum_1", "scale_1"}, "add_kernel", 1000},
            {{}, "mystery_kernel", 500, 13, Evidence::lineage, 1, "its range names a module that the dump does not hold"},
            {{}, "sampling_kernel", 700, 13, Evidence::none, layer_unknown, "runs behind the last layer's kernels"}};
}

class TraceWriter {
public:
    explicit TraceWriter(Sample& sample) : sample_(sample) {
        trace_->file = "decode.sqlite";
        trace_->format = "nsys 3.25.0";
        attribution_->graph_digest = sample.graph->digest();
        attribution_->node_begin.push_back(0);
    }

    void replay(Nanoseconds start, const std::vector<Launch>& kernels) {
        Step step;
        step.number = static_cast<std::uint32_t>(window_->steps.size());
        step.phase = Phase::decode;
        step.replay = true;
        step.chosen = true;
        step.graph = 5;
        step.batch_size = 8;
        Nanoseconds main = start;
        Nanoseconds auxiliary = start;
        for (const Launch& launch : kernels) {
            // What runs on the auxiliary stream starts with the next kernel of the main stream.
            auxiliary = std::max(auxiliary, main);
            Nanoseconds& clock = launch.stream == 13 ? main : auxiliary;
            kernel(launch, clock, step);
            clock += launch.duration;
        }
        step.start = start;
        step.end = std::max(main, auxiliary);
        window_->steps.push_back(std::move(step));
    }

    void finish() {
        window_->trace = trace_;
        window_->description = "graph 5, batch size 8: 2 of 3 replays, 1 cut off at the start";
        attribution_->window = window_;
        sample_.attribution = attribution_;
    }

private:
    void kernel(const Launch& launch, Nanoseconds start, Step& step) {
        Kernels& kernels = trace_->kernels;
        const auto index = static_cast<std::uint32_t>(kernels.size());
        kernels.kind.push_back(KernelKind::kernel);
        kernels.row.push_back(index + 1);
        kernels.start.push_back(start);
        kernels.end.push_back(start + launch.duration);
        kernels.name.push_back(trace_->string_id(launch.kernel));
        kernels.stream.push_back(launch.stream);
        kernels.graph_node.push_back(100 + step.kernels.size());
        step.kernels.push_back(index);
        window_->step_of_kernel.push_back(step.number);
        for (const std::string& node : launch.nodes) attribution_->node_list.push_back(sample_.vertex(node));
        attribution_->node_begin.push_back(static_cast<std::uint32_t>(attribution_->node_list.size()));
        attribution_->layer.push_back(launch.layer);
        attribution_->evidence.push_back(launch.evidence);
        attribution_->confidence.push_back(launch.nodes.empty() ? 0.0F : 1.0F);
        attribution_->texts.push_back(launch.reason);
        attribution_->reason.push_back(static_cast<std::uint32_t>(attribution_->texts.size() - 1));
        (launch.nodes.empty() ? attribution_->unattributed_ns : attribution_->attributed_ns) += launch.duration;
    }

    Sample& sample_;
    std::shared_ptr<Trace> trace_ = std::make_shared<Trace>();
    std::shared_ptr<Window> window_ = std::make_shared<Window>();
    std::shared_ptr<Attribution> attribution_ = std::make_shared<Attribution>();
};

}  // namespace

VertexId Sample::vertex(std::string_view name) const {
    const auto found = graph->find(name);
    if (!found) throw std::runtime_error("the sample has no vertex " + std::string{name});
    return *found;
}

render::LayerView Sample::view(LayerId number, bool with_trace) const {
    const render::LayerViews views(graph, layers, with_trace ? attribution : nullptr);
    return views.view(*layers->find(number));
}

std::unique_ptr<RecordingContext> Sample::context(bool with_trace) const {
    auto context = std::make_unique<RecordingContext>();
    context->give<GraphModel>("graph", graph);
    context->give<Layers>("layers", layers);
    if (with_trace) context->give<Attribution>("attribution", attribution);
    context->selection.layers = {1};
    return context;
}

Sample make_sample(const std::string& attention, const std::string& experts) {
    Sample sample = ModelWriter(attention).finish();
    TraceWriter trace(sample);
    trace.replay(1000000, launches(attention, experts, 10000));
    trace.replay(2000000, launches(attention, experts, 12000));
    trace.finish();
    return sample;
}

std::unique_ptr<Stage> renderer(const std::string& stage, const Options& options) {
    std::string file = stage;
    std::replace(file.begin(), file.end(), '.', '_');
    return make_stage(std::filesystem::path{PLUGIN_DIRECTORY} / (file + ".so"), stage, options);
}

std::unique_ptr<RecordingContext> rendered(const std::string& stage, const Sample& sample, const Options& options, bool with_trace) {
    auto context = sample.context(with_trace);
    renderer(stage, options)->run(*context);
    return context;
}

}  // namespace adpipe::testing
