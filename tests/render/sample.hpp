#pragma once

#include "support/plugin_stage.hpp"

#include <adpipe/diagnostic.hpp>
#include <adpipe/model/attribution.hpp>
#include <adpipe/model/graph_fwd.hpp>
#include <adpipe/model/layers.hpp>
#include <adpipe/render/layer_view.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace adpipe::testing {

/// A model of two layers with attention, a mixture of experts and a shared expert on an auxiliary stream; and a trace of two replays.
///
/// Layer 1 in each replay, in nanoseconds: attention norm 2000, q_proj 3000 and 1000, kv_proj 4000 (stream 29), attention 10000 (second replay
/// 12000), o_proj 5000, router 2000, shared expert 8000 (stream 29), experts 20000, sum of the branches 1000, last sum 1000 (it
/// serves `scale` as well); 500 in the layer on no node; 700 in no layer.
struct Sample {
    std::shared_ptr<const GraphModel> graph;
    std::shared_ptr<const Layers> layers;
    std::shared_ptr<const Attribution> attribution;

    VertexId vertex(std::string_view name) const;
    render::LayerView view(LayerId number, bool with_trace = true) const;
    /// A context with the sample at the ports of a renderer, layer 1 chosen.
    std::unique_ptr<RecordingContext> context(bool with_trace = true) const;
};

/// `attention` is the name of layer 1's attention op, `experts` that of the kernel of its experts.
Sample make_sample(const std::string& attention = "attention_1", const std::string& experts = "void moe::experts_kernel<int>(int)");

using Options = std::vector<std::pair<std::string, OptionValue>>;
std::unique_ptr<Stage> renderer(const std::string& stage, const Options& options = {});

/// Runs the stage and returns its context.
std::unique_ptr<RecordingContext> rendered(const std::string& stage, const Sample& sample, const Options& options = {},
                                           bool with_trace = true);

/// The code of the error that `run` ends with; empty if it ends well.
template <class Run>
std::string error_code_of(Run run) {
    try {
        run();
    } catch (const Error& error) {
        return error.diagnostics().front().code;
    }
    return {};
}

}  // namespace adpipe::testing
