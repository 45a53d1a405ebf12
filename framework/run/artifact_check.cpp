#include "run/artifact_check.hpp"

#include <adpipe/model/attribution.hpp>
#include <adpipe/model/graph_fwd.hpp>
#include <adpipe/model/layers.hpp>
#include <adpipe/model/metrics.hpp>
#include <adpipe/model/segmentation.hpp>
#include <adpipe/model/window.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace adpipe {
namespace {

/// The artifact as a T, or nullptr if it is another type.
template <class T>
const T* as(const Artifact& artifact) {
    return artifact.type == ArtifactTraits<T>::id ? static_cast<const T*>(artifact.data.get()) : nullptr;
}

std::optional<std::uint64_t> graph_digest(const Artifact& artifact) {
    if (const auto* layers = as<Layers>(artifact)) return layers->graph_digest;
    if (const auto* attribution = as<Attribution>(artifact)) return attribution->graph_digest;
    if (const auto* metrics = as<Metrics>(artifact)) return metrics->graph_digest;
    if (const auto* segmentation = as<Segmentation>(artifact)) return segmentation->graph_digest;
    return std::nullopt;
}

Diagnostic artifact_fault(std::string code, std::string message) {
    Diagnostic diagnostic;
    diagnostic.code = std::move(code);
    diagnostic.message = std::move(message);
    return diagnostic;
}

Diagnostic wrong_size(const Artifact& artifact, const char* column, std::size_t found, std::size_t expected, const char* of) {
    return artifact_fault("ADP-RUN-011", fmt::format("stage '{}' made a {} whose column '{}' has {} entries for {} {}", artifact.producer,
                                                     artifact.type, column, found, expected, of));
}

std::optional<Diagnostic> layers_fault(const Artifact& artifact, const Layers& layers, const GraphModel& graph) {
    if (layers.of.size() != graph.size()) return wrong_size(artifact, "of", layers.of.size(), graph.size(), "vertices");
    const auto is_text = [&](TextId id) { return id < layers.texts.size(); };
    const bool is_whole = std::all_of(layers.of.begin(), layers.of.end(), [&](const Membership& member) {
        return is_text(member.stack) && is_text(member.sub_group) && is_text(member.reason);
    });
    if (is_whole) return std::nullopt;
    return artifact_fault("ADP-RUN-011",
                          fmt::format("stage '{}' made a {} that refers to texts that it does not hold", artifact.producer, artifact.type));
}

std::optional<Diagnostic> attribution_fault(const Artifact& artifact, const Attribution& attribution, const GraphModel* graph) {
    if (attribution.window == nullptr || attribution.window->trace == nullptr) {
        return artifact_fault("ADP-RUN-011", fmt::format("stage '{}' made a {} without its window", artifact.producer, artifact.type));
    }
    const std::size_t kernels = attribution.window->trace->kernels.size();
    struct Column {
        const char* name;
        std::size_t size;
        std::size_t expected;
    };
    const Column columns[] = {{"layer", attribution.layer.size(), kernels},
                              {"evidence", attribution.evidence.size(), kernels},
                              {"confidence", attribution.confidence.size(), kernels},
                              {"reason", attribution.reason.size(), kernels},
                              {"node_begin", attribution.node_begin.size(), kernels + 1}};
    for (const Column& column : columns) {
        if (column.size != column.expected) return wrong_size(artifact, column.name, column.size, kernels, "kernels");
    }
    const auto& begin = attribution.node_begin;
    const bool lists_are_whole = std::is_sorted(begin.begin(), begin.end()) && begin.back() <= attribution.node_list.size();
    const bool nodes_exist = graph == nullptr || std::all_of(attribution.node_list.begin(), attribution.node_list.end(),
                                                             [&](VertexId vertex) { return vertex < graph->size(); });
    if (lists_are_whole && nodes_exist) return std::nullopt;
    return artifact_fault("ADP-RUN-011",
                          fmt::format("stage '{}' made a {} whose nodes are not in the graph", artifact.producer, artifact.type));
}

std::optional<Diagnostic> metrics_fault(const Artifact& artifact, const Metrics& metrics, const GraphModel& graph) {
    for (const MetricColumn& column : metrics.columns) {
        if (column.by_vertex.size() != graph.size()) {
            return wrong_size(artifact, column.name.c_str(), column.by_vertex.size(), graph.size(), "vertices");
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<Diagnostic> digest_fault(const std::vector<Artifact>& inputs) {
    const Artifact* reference = nullptr;  // a graph if there is one, else the first annotation
    std::vector<std::uint64_t> allowed;
    for (const Artifact& input : inputs) {
        if (const auto* graph = as<GraphModel>(input)) {
            reference = &input;
            allowed.push_back(graph->digest());
        }
    }
    for (const Artifact& input : inputs) {
        const auto digest = graph_digest(input);
        if (!digest) continue;
        if (allowed.empty()) {
            reference = &input;
            allowed.push_back(*digest);
        } else if (std::find(allowed.begin(), allowed.end(), *digest) == allowed.end()) {
            Diagnostic diagnostic = artifact_fault("ADP-RUN-006",
                                                   fmt::format("the {} of '{}' was made for another graph than the {} of '{}'", input.type,
                                                               input.producer, reference->type, reference->producer));
            diagnostic.hint = "connect stages that read the same graph with `from:`";
            return diagnostic;
        }
    }
    return std::nullopt;
}

std::optional<Diagnostic> shape_fault(const Artifact& artifact, const std::vector<Artifact>& inputs) {
    const auto digest = graph_digest(artifact);
    if (!digest) return std::nullopt;
    const GraphModel* graph = nullptr;
    for (const Artifact& input : inputs) {
        const auto* candidate = as<GraphModel>(input);
        if (candidate != nullptr && (graph == nullptr || candidate->digest() == *digest)) graph = candidate;
    }
    if (graph != nullptr && graph->digest() != *digest) {
        return artifact_fault("ADP-RUN-006", fmt::format("stage '{}' made a {} that does not carry the digest of its graph",
                                                         artifact.producer, artifact.type));
    }
    if (const auto* attribution = as<Attribution>(artifact)) return attribution_fault(artifact, *attribution, graph);
    if (graph == nullptr) return std::nullopt;
    if (const auto* layers = as<Layers>(artifact)) return layers_fault(artifact, *layers, *graph);
    if (const auto* metrics = as<Metrics>(artifact)) return metrics_fault(artifact, *metrics, *graph);
    return std::nullopt;
}

}  // namespace adpipe
