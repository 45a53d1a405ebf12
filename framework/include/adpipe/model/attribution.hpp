#pragma once

#include <adpipe/artifact.hpp>
#include <adpipe/export.hpp>
#include <adpipe/model/graph_fwd.hpp>
#include <adpipe/model/layers.hpp>
#include <adpipe/model/window.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe {

/// Why a kernel is on a node, strongest first.
enum class Evidence : std::uint8_t { lineage, annotation, companion, sequence, name, none };
ADPIPE_EXPORT std::string_view evidence_text(Evidence evidence) noexcept;

/// Kernels onto vertices. Columns are indexed like Trace::kernels and cover the whole trace.
/// Invariant: attributed_ns + unattributed_ns is the sum of the durations of the kernels in chosen steps.
struct ADPIPE_EXPORT Attribution {
    std::uint64_t graph_digest = 0;
    std::shared_ptr<const Window> window;
    std::vector<LayerId> layer;         ///< layer_unknown where not known
    std::vector<Evidence> evidence;     ///< for the node; for the layer where no node is known
    std::vector<float> confidence;      ///< 0 to 1
    std::vector<std::uint32_t> reason;  ///< index into `texts`: why there, or why nowhere
    /// Vertices of kernel k: node_list[node_begin[k] … node_begin[k + 1]). Several for a fused kernel; the first carries the time.
    std::vector<std::uint32_t> node_begin;
    std::vector<VertexId> node_list;
    std::vector<std::string> texts{std::string{}};
    Nanoseconds attributed_ns = 0;
    Nanoseconds unattributed_ns = 0;

    std::span<const VertexId> nodes(std::size_t kernel) const noexcept {
        return {node_list.data() + node_begin[kernel], node_list.data() + node_begin[kernel + 1]};
    }
};

template <>
struct ArtifactTraits<Attribution> {
    static constexpr const char* id = "attribution/1";
};

}  // namespace adpipe
