#pragma once

// One layer as renderers look at it: its nodes, what feeds it and what it feeds, and its kernels with their times over the chosen steps.
// Everything here may be used from any thread once built.

#include <adpipe/export.hpp>
#include <adpipe/model/attribution.hpp>
#include <adpipe/model/graph_fwd.hpp>
#include <adpipe/model/layers.hpp>
#include <adpipe/model/metrics.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe::render {

/// What an input from outside of the layer is, in the order in which pictures show them.
enum class InputKind : std::uint8_t {
    residual,     ///< what the layer before hands on
    layer_value,  ///< another value of another layer
    metadata,     ///< lengths, pages and slots of the batch
    kv_cache,
    state_cache,  ///< of state-space and linear attention layers
    rope,         ///< cosines and sines, frequencies
    positions,
    mask,
    sizes,  ///< of the batch and the sequences, as numbers
    other,
};

struct ExternalInput {
    VertexId vertex = no_vertex;
    InputKind kind = InputKind::other;
    std::string label;  ///< what a person calls it: "Layer 4 residual output", "KV cache"
};

/// Distribution of one duration over steps.
struct Spread {
    std::uint32_t count = 0;
    Nanoseconds minimum = 0;
    Nanoseconds median = 0;  ///< the mean of the two middle values, rounded down, where `count` is even
    Nanoseconds maximum = 0;
    Nanoseconds total = 0;
    /// Sample standard deviation, 0 for one value; in nanoseconds.
    double deviation = 0;
    double mean() const noexcept { return count == 0 ? 0 : static_cast<double>(total) / count; }
};
/// Of an empty list: all zero.
ADPIPE_EXPORT Spread spread_of(std::vector<Nanoseconds> durations);

/// One kernel of the layer, the same in every step: the i-th execution of a kernel of that name on that node.
struct KernelUse {
    std::string name;        ///< short
    StringId full_name = 0;  ///< in Trace::strings
    KernelKind kind = KernelKind::kernel;
    VertexId node = no_vertex;           ///< that carries the time; no_vertex: it is known to be of this layer only
    std::vector<VertexId> also;          ///< further nodes that it serves
    Evidence evidence = Evidence::none;  ///< the weakest over the steps
    float confidence = 0;
    std::uint32_t reason = 0;  ///< index into Attribution::texts
    std::int64_t stream = -1;
    Spread time;
    /// Indices into Trace::kernels, one for each step in which it ran, in the order of LayerTimes::steps.
    std::vector<std::uint32_t> executions;
};

/// Time by reason, in one step.
struct Unattributed {
    std::string reason;
    std::uint32_t kernels = 0;
    Nanoseconds time = 0;  ///< sum of the kernels' medians
};

/// Time of a layer over the chosen steps. Sums are sums of the kernels' medians, so that they add up:
/// `sum` = `attributed` + `unattributed` = the sum of `time.median` over LayerView::kernels.
struct LayerTimes {
    std::vector<std::uint32_t> steps;  ///< indices into Window::steps
    Nanoseconds sum = 0;
    Nanoseconds attributed = 0;    ///< on nodes
    Nanoseconds unattributed = 0;  ///< in the layer, on no node
    std::vector<Unattributed> unattributed_by_reason;
    Spread step_sum;                      ///< of the layer's kernels in one step
    Spread wall;                          ///< length of the union of their intervals in one step
    std::vector<Nanoseconds> step_sums;   ///< by `steps`
    std::vector<Nanoseconds> step_walls;  ///< by `steps`
    std::vector<std::int64_t> streams;    ///< the busiest first
    /// Kernels of the chosen steps that are of no known layer, in one step.
    Nanoseconds outside = 0;
    std::vector<Unattributed> outside_by_reason;
};

/// One layer of one stack of one module.
struct ADPIPE_EXPORT LayerView {
    std::shared_ptr<const GraphModel> graph;
    std::shared_ptr<const Layers> layers;
    std::shared_ptr<const Attribution> attribution;  ///< null without a trace
    std::vector<std::shared_ptr<const Metrics>> metrics;
    const Layer* layer = nullptr;  ///< in *layers

    std::vector<VertexId> nodes;        ///< the layer's ops, in the order of the text
    std::vector<VertexId> borrowed;     ///< ops of the next layer that do this one's last work as well (a fused add and norm)
    std::vector<ExternalInput> inputs;  ///< by first use
    std::vector<Edge> edges;            ///< between nodes, and from inputs to nodes; those of weights are not among them
    std::vector<VertexId> boundary_in;
    std::vector<VertexId> boundary_out;
    LayerId next = layer_epilogue;  ///< where boundary_out goes

    std::vector<KernelUse> kernels;  ///< in order of execution
    LayerTimes times;

    LayerId number() const noexcept { return layer->number; }
    const std::string& stack() const { return layers->text(layer->stack); }
    const GraphModule& module() const { return graph->modules()[layer->module]; }
    bool has_trace() const noexcept { return attribution != nullptr; }
    const Trace& trace() const { return *attribution->window->trace; }
    const Membership& membership(VertexId v) const { return layers->of[v]; }
    /// True for ops of the layer, borrowed ones not.
    bool contains(VertexId v) const noexcept;
    /// Indices into `kernels` of those whose time `v` carries.
    std::span<const std::uint32_t> kernels_of(VertexId v) const noexcept;
    /// Indices into `kernels` of those that serve `v` as well, their time being on another node.
    std::vector<std::uint32_t> shared_kernels_of(VertexId v) const;
    /// Sum of the medians of kernels_of(v).
    Nanoseconds time_of(VertexId v) const noexcept;
    /// Weights that `v` uses, by argument; also through ops that only change their shape.
    std::vector<VertexId> weights_of(VertexId v) const;
    /// Decoder layers (or layer_epilogue) beyond `next` that read a value of `v`.
    std::vector<LayerId> other_readers_of(VertexId v) const;

    std::map<VertexId, std::vector<std::uint32_t>> kernels_by_node;  ///< filled with `kernels`
};

/// Makes views of the layers of one graph; reads the trace once.
class ADPIPE_EXPORT LayerViews {
public:
    /// `attribution` may be null. Throws Error (ADP-RND-003) if layers, attribution or metrics are of another graph.
    LayerViews(std::shared_ptr<const GraphModel> graph, std::shared_ptr<const Layers> layers,
               std::shared_ptr<const Attribution> attribution, std::vector<std::shared_ptr<const Metrics>> metrics = {});
    ~LayerViews();
    LayerViews(const LayerViews&) = delete;
    LayerViews& operator=(const LayerViews&) = delete;

    /// `layer` is an element of Layers::layers.
    LayerView view(const Layer& layer) const;
    const Layers& layers() const noexcept { return *layers_; }
    const GraphModel& graph() const noexcept { return *graph_; }
    const Attribution* attribution() const noexcept { return attribution_.get(); }
    /// Number of layers on which the trace shows kernels in the chosen steps.
    std::uint32_t layers_with_kernels() const noexcept;

private:
    struct Occurrences;
    std::shared_ptr<const GraphModel> graph_;
    std::shared_ptr<const Layers> layers_;
    std::shared_ptr<const Attribution> attribution_;
    std::vector<std::shared_ptr<const Metrics>> metrics_;
    std::unique_ptr<Occurrences> occurrences_;
};

/// What is known of the chosen steps, for titles: "decode · batch size 8 · graph 5", the same of every renderer.
struct StepsText {
    std::string phase;       ///< "decode"; "decode and prefill" where mixed; empty if unknown
    std::string batch_size;  ///< "8"; "8 and 32"; empty if unknown
    std::string graph;       ///< executable graph's number as the trace has it; empty if eager
    std::string counted;     ///< "6 replays", "1 step"
};
ADPIPE_EXPORT StepsText describe_steps(const LayerView& view);

}  // namespace adpipe::render
