#pragma once

#include <adpipe/artifact.hpp>
#include <adpipe/model/graph_fwd.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace adpipe {

/// One named number per vertex. Unknown is NaN, never 0.
struct MetricColumn {
    std::string name;  ///< "median_ns"
    std::string unit;  ///< "ns", "B", "FLOP", "" for a ratio
    std::string doc;
    std::vector<double> by_vertex;
};

struct Metrics {
    std::uint64_t graph_digest = 0;
    std::vector<MetricColumn> columns;
};

template <>
struct ArtifactTraits<Metrics> {
    static constexpr const char* id = "metrics/1";
};

}  // namespace adpipe
