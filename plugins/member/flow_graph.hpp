#pragma once

#include "op_traits.hpp"

#include <adpipe/model/graph_fwd.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace adpipe::member {

/// Index of a vertex of a FlowGraph.
using FlowId = std::uint32_t;
inline constexpr FlowId no_flow = 0xffffffffU;

/// The computation of one module, with the calls of its parts (piecewise.split_gm calls submod_3, which is a module of the same text)
/// replaced by what they do: a part alone does not show between which layers it stands. Vertices are in an order in which every
/// value comes before its uses.
class FlowGraph {
public:
    /// `module`: one that no other module of the text calls. The graph must outlive this.
    FlowGraph(const GraphModel& graph, std::uint16_t module);

    FlowId size() const { return static_cast<FlowId>(origin_.size()); }
    /// The vertex of the text that this one stands for (one of several where parts pass a value on).
    VertexId origin(FlowId v) const { return origin_[v]; }
    std::span<const VertexId> origins() const { return origin_; }
    VertexKind kind(FlowId v) const { return kind_[v]; }

    /// Arguments that are vertices, by position.
    std::span<const FlowId> arguments(FlowId v) const { return slice(arguments_, argument_begin_, v); }
    /// What v depends on: its arguments, and in place of an operand that an op has overwritten since, that op.
    std::span<const FlowId> sources(FlowId v) const { return slice(sources_, source_begin_, v); }
    /// Vertices that depend on v, in order, each once per source. What only checks v does not use it.
    std::span<const FlowId> users(FlowId v) const { return slice(users_, user_begin_, v); }

    /// The op without namespace and overload; empty for other kinds.
    std::string_view bare(FlowId v) const { return op(v).bare; }
    /// Hash of the op with namespace and overload.
    std::uint64_t op_hash(FlowId v) const { return op_hash_[v]; }
    /// What the op's name tells; a graph has many vertices and few ops.
    const OpFacts& op(FlowId v) const { return ops_[op_of_[v]]; }
    /// Which op it is, from 0 to op_count(): equal for vertices of one op.
    std::uint32_t op_index(FlowId v) const { return op_of_[v]; }
    std::size_t op_count() const { return ops_.size(); }
    /// Hash of the arguments that are no vertices.
    std::uint64_t literal_hash(FlowId v) const { return literal_hash_[v]; }
    /// The arguments that are no vertices.
    std::span<const Literal> literals(FlowId v) const { return graph_->literals(origin_[v]); }
    const Vertex& vertex(FlowId v) const { return graph_->vertex(origin_[v]); }
    /// True for a getitem that takes one of several results, false for one that indexes into a tensor.
    bool picks_result(FlowId v) const;
    /// For `getitem(x, k)`: k; -1 where it is no such op.
    std::int64_t picked_result(FlowId v) const;
    /// True if the value is a size or a number made from sizes.
    bool is_number(FlowId v) const { return is_number_[v] != 0; }

    /// A vertex of the text and the flow vertex that computes its value.
    struct Place {
        VertexId vertex;
        FlowId flow;
    };
    /// Of every vertex of the module and of the parts that it calls, but the calls.
    const std::vector<Place>& places() const { return places_; }

    /// A call of a part: what it does is [begin, end).
    struct Call {
        VertexId vertex;
        FlowId begin;
        FlowId end;
        std::vector<FlowId> results;
    };
    const std::vector<Call>& calls() const { return calls_; }

private:
    class Builder;

    static std::span<const FlowId> slice(const std::vector<FlowId>& items, const std::vector<std::uint32_t>& begin, FlowId v) {
        return {items.data() + begin[v], items.data() + begin[v + 1]};
    }
    void reserve(const GraphModule& module);
    void find_sources();
    void find_users();

    const GraphModel* graph_;
    std::vector<VertexId> origin_;
    std::vector<VertexKind> kind_;
    std::vector<OpFacts> ops_;
    std::vector<std::uint32_t> op_of_;
    std::vector<std::uint64_t> op_hash_;
    std::vector<std::uint64_t> literal_hash_;
    std::vector<std::uint8_t> is_number_;
    std::vector<std::uint32_t> argument_begin_{0};
    std::vector<FlowId> arguments_;
    std::vector<std::uint32_t> argument_position_;  ///< beside arguments_: elements of one list share it
    std::vector<std::uint32_t> source_begin_;
    std::vector<FlowId> sources_;
    std::vector<std::uint32_t> user_begin_;
    std::vector<FlowId> users_;
    std::vector<Place> places_;
    std::vector<Call> calls_;
};

/// A module that no other module of the text calls.
struct RootModule {
    std::uint16_t index;
    bool calls_parts;  ///< else its flow has a vertex for each of the module's, in their order
};
/// In the order of the text.
std::vector<RootModule> root_modules(const GraphModel& graph);

}  // namespace adpipe::member
