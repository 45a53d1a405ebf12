#pragma once

// GraphModel as a Boost.Graph: with this header it models BidirectionalGraph, VertexListGraph and EdgeListGraph, so every algorithm of
// Boost.Graph runs on it as it is, without a copy (docs/decisions/0002-graph-storage.md). Vertex index map: get(boost::vertex_index, g).

#include <adpipe/model/graph_fwd.hpp>

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/property_map/property_map.hpp>

#include <utility>

namespace boost {

template <>
struct graph_traits<adpipe::GraphModel> {
    using vertex_descriptor = adpipe::VertexId;
    using edge_descriptor = adpipe::Edge;
    using directed_category = bidirectional_tag;
    using edge_parallel_category = allow_parallel_edge_tag;
    struct traversal_category : bidirectional_graph_tag, vertex_list_graph_tag, edge_list_graph_tag {};
    using vertex_iterator = counting_iterator<adpipe::VertexId, random_access_traversal_tag, std::ptrdiff_t>;
    using out_edge_iterator = const adpipe::Edge*;
    using in_edge_iterator = const adpipe::Edge*;
    using edge_iterator = const adpipe::Edge*;
    using vertices_size_type = std::uint32_t;
    using edges_size_type = std::uint32_t;
    using degree_size_type = std::uint32_t;

    static constexpr vertex_descriptor null_vertex() noexcept { return adpipe::no_vertex; }
};

template <>
struct property_map<adpipe::GraphModel, vertex_index_t> {
    using type = typed_identity_property_map<adpipe::VertexId>;
    using const_type = type;
};

}  // namespace boost

namespace adpipe {

inline auto vertices(const GraphModel& g) {
    using Iterator = boost::graph_traits<GraphModel>::vertex_iterator;
    return std::pair{Iterator{0}, Iterator{g.size()}};
}
inline std::uint32_t num_vertices(const GraphModel& g) { return g.size(); }
inline auto out_edges(VertexId v, const GraphModel& g) {
    const auto edges = g.outputs(v);
    return std::pair{edges.data(), edges.data() + edges.size()};
}
inline std::uint32_t out_degree(VertexId v, const GraphModel& g) { return static_cast<std::uint32_t>(g.outputs(v).size()); }
inline auto in_edges(VertexId v, const GraphModel& g) {
    const auto edges = g.inputs(v);
    return std::pair{edges.data(), edges.data() + edges.size()};
}
inline std::uint32_t in_degree(VertexId v, const GraphModel& g) { return static_cast<std::uint32_t>(g.inputs(v).size()); }
inline std::uint32_t degree(VertexId v, const GraphModel& g) { return in_degree(v, g) + out_degree(v, g); }
inline auto edges(const GraphModel& g) {
    const auto all = g.edges();
    return std::pair{all.data(), all.data() + all.size()};
}
inline std::uint32_t num_edges(const GraphModel& g) { return static_cast<std::uint32_t>(g.edges().size()); }
inline VertexId source(const Edge& e, const GraphModel&) { return e.source; }
inline VertexId target(const Edge& e, const GraphModel&) { return e.target; }
inline boost::typed_identity_property_map<VertexId> get(boost::vertex_index_t, const GraphModel&) { return {}; }
inline VertexId get(boost::vertex_index_t, const GraphModel&, VertexId v) { return v; }

}  // namespace adpipe
