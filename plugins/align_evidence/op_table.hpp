#pragma once

#include "lattice.hpp"

#include <adpipe/model/graph_fwd.hpp>
#include <adpipe/model/layers.hpp>

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace adpipe::align {

/// The ops of one graph module in execution order, as the alignment sees them.
class OpTable {
public:
    OpTable(const GraphModel& graph, const Layers& layers);

    /// Looks the ops up in the model; once, before `lattice_ops` is used.
    void bind(LaunchModel& model);

    std::size_t size() const noexcept { return vertices_.size(); }
    VertexId vertex(std::uint32_t op) const { return vertices_[op]; }
    LayerId layer(std::uint32_t op) const { return layers_.of[vertices_[op]].layer; }
    LayerId also(std::uint32_t op) const { return layers_.of[vertices_[op]].also; }
    const GraphModel& graph() const noexcept { return graph_; }
    const std::vector<LatticeOp>& lattice_ops() const noexcept { return lattice_ops_; }

    static constexpr std::uint32_t no_op = 0xffffffffU;
    /// Per op, the ops whose values it uses.
    std::vector<std::vector<std::uint32_t>> producers() const;
    /// The op of that name, or no_op.
    std::uint32_t find(std::string_view name) const;
    /// What the op calls, without overload: "aten.to", "auto_deploy.torch_moe".
    std::string_view call(std::uint32_t op) const { return calls_[op]; }
    /// Whether the graph calls that at all.
    bool calls(std::string_view call) const { return distinct_calls_.count(call) != 0; }
    /// Whether the op, or a weight that it uses, lies in the module whose path is `prefix` ("model_layers_5_mlp").
    bool is_in_module(std::uint32_t op, std::string_view prefix) const;
    /// The ops of which is_in_module holds.
    std::vector<std::uint32_t> ops_in_module(std::string_view prefix) const;

private:
    void choose_module();
    CastCondition cast_condition(VertexId v) const;
    std::string_view dtype_of(VertexId v) const;
    std::string signature(VertexId v) const;
    void add_paths(std::uint32_t op, VertexId v);

    const GraphModel& graph_;
    const Layers& layers_;
    std::vector<VertexId> vertices_;
    std::vector<LatticeOp> lattice_ops_;
    std::unordered_map<std::string_view, std::uint32_t> by_name_;
    std::vector<std::string_view> calls_;
    std::unordered_set<std::string_view> distinct_calls_;
    /// Names of ops and of the weights that they use, as module paths; sorted.
    struct Path {
        std::string text;
        std::uint32_t op;
    };
    std::vector<Path> paths_;
    std::vector<std::vector<std::string>> paths_of_;
};

/// The op's name for the rules: "operator.mul" for Python's own, "aten.eq" for torch's built-in methods, "function.f" for plain functions.
std::string rule_name(const Vertex& vertex);

/// Letters and digits as they are, everything else as '_': how module paths appear in names of weights.
std::string as_identifier(std::string_view text);

}  // namespace adpipe::align
