#pragma once

// The model graph without Boost.Graph: enough for most plugins. graph.hpp adds the Boost.Graph view of the same data.

#include <adpipe/artifact.hpp>
#include <adpipe/export.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe {

/// Index of a vertex: dense from 0, in the order of the lines, never changes once the graph is frozen. A weight without a line of its own
/// stands right before its first user, so that every data edge goes from a lower to a higher index.
/// The key of every annotation (layers, attribution, metrics).
using VertexId = std::uint32_t;
inline constexpr VertexId no_vertex = 0xffffffffU;

enum class VertexKind : std::uint8_t {
    op,
    weight,       ///< parameter or buffer: used, never defined by a line of its own
    placeholder,  ///< input of the graph
    output,       ///< the `output` line
};

enum class EdgeKind : std::uint8_t {
    data,
    memory,  ///< the target reads (or overwrites) storage that the source wrote in place; the text shows no such edge
};

/// A vertex. Text is UTF-8 as in the source, owned by the model.
struct Vertex {
    std::string_view name;    ///< SSA name without '%', unique in its module
    std::string_view target;  ///< what an op calls, as the text prints it: "aten.add.Tensor", "<built-in function getitem>"; else empty
    std::string_view op;      ///< `target` without wrapping and addresses: "aten.add.Tensor", "getitem"; see op_name()
    std::string_view shape;   ///< as the text prints it: "s44x7168", "(8x8, 8x8)", "scalar", "?"; empty if it prints none
    std::string_view dtype;   ///< as the text prints it: "torch.bfloat16", "(torch.float32, torch.int32)", "N/A"
    /// Where the text gives it: for an op, the path of the module that it was traced in ("model.layers.3.mlp"); for a weight, its
    /// attribute path ("model.layers.3.mlp.gate.weight"). Else empty.
    std::string_view module_path;
    std::uint32_t line = 0;    ///< line of the text, from 1; for a weight, of its first use
    std::uint16_t module = 0;  ///< index into GraphModel::modules()
    VertexKind kind = VertexKind::op;
};

/// A use of `source` by `target`.
struct Edge {
    VertexId source = no_vertex;
    VertexId target = no_vertex;
    std::uint32_t argument = 0;  ///< position in the argument list, from 0; elements of a list argument share its position
    std::uint32_t index = 0;     ///< position in GraphModel::edges(); tells parallel edges apart
    EdgeKind kind = EdgeKind::data;

    friend bool operator==(const Edge& a, const Edge& b) noexcept { return a.index == b.index; }
};

/// "aten.add.Tensor" and "torch.ops.aten.add.Tensor" → "aten.add.Tensor", "<built-in function getitem>" and "operator.getitem" → "getitem", "<built-in method eq of type object at 0x7f…>" → "eq",
/// "<function _insert_fused_gemm.<locals>.split_output at 0x…>" → "_insert_fused_gemm.<locals>.split_output". A view into `target`.
ADPIPE_EXPORT std::string_view op_name(std::string_view target) noexcept;

/// An argument, or element of a list argument, that names no vertex: number, None, dtype, text.
struct Literal {
    std::uint32_t argument = 0;
    std::string_view text;  ///< as printed; a list as a whole when it names no vertex, e.g. "[-1, 7168]"
};

/// One GraphModule of a text. Its vertices are the range [begin, end).
struct GraphModule {
    std::string name;  ///< "(root)", "monolithic.model", …
    VertexId begin = 0;
    VertexId end = 0;
    std::uint32_t line = 0;
};

struct GraphStorage;

/// A frozen graph of one or several modules (no edges between modules). Immutable; may be read from several threads.
class ADPIPE_EXPORT GraphModel {
public:
    explicit GraphModel(std::unique_ptr<const GraphStorage> storage);
    GraphModel(const GraphModel&) = delete;
    GraphModel& operator=(const GraphModel&) = delete;
    ~GraphModel();

    std::uint32_t size() const noexcept;
    const Vertex& vertex(VertexId v) const noexcept { return vertices_[v]; }
    std::span<const Vertex> vertices() const noexcept { return vertices_; }
    std::span<const GraphModule> modules() const noexcept;

    /// Edges into v, by argument position; memory edges last.
    std::span<const Edge> inputs(VertexId v) const noexcept { return {edges_ + in_begin_[v], edges_ + in_begin_[v + 1]}; }
    /// Edges out of v, by target.
    std::span<const Edge> outputs(VertexId v) const noexcept { return {out_edges_ + out_begin_[v], out_edges_ + out_begin_[v + 1]}; }
    std::span<const Edge> edges() const noexcept;
    /// Arguments of v that are no vertices, by position.
    std::span<const Literal> literals(VertexId v) const noexcept;

    /// The vertex of that name in that module; the first module if several match and `module` is not given.
    std::optional<VertexId> find(std::string_view name, std::optional<std::uint16_t> module = {}) const noexcept;

    /// Hash of everything above; annotations carry it, so that none is used with another graph.
    std::uint64_t digest() const noexcept;
    /// The file that the graph was read from.
    const std::filesystem::path& source() const noexcept;
    /// True if the text may hide edges (AutoDeploy does not write keyword arguments).
    bool may_lack_edges() const noexcept;

    /// Everything, for graph.hpp.
    const GraphStorage& storage() const noexcept { return *storage_; }

private:
    std::unique_ptr<const GraphStorage> storage_;
    std::span<const Vertex> vertices_;
    const Edge* edges_;
    const Edge* out_edges_;
    const std::uint32_t* in_begin_;
    const std::uint32_t* out_begin_;
};

template <>
struct ArtifactTraits<GraphModel> {
    static constexpr const char* id = "graph/1";
};

/// One tensor of a vertex's output.
struct TensorType {
    std::string_view shape;  ///< one dims text such as "s44x7168", "scalar", "?"
    std::string_view dtype;
};

/// Splits the printed types of a vertex: one entry for a tensor, one per element for a tuple. Symbolic dimensions may hold parentheses,
/// commas and spaces ("s44x4xMin(16, s70)x16"); the split respects them.
ADPIPE_EXPORT std::vector<TensorType> output_types(const Vertex& vertex);
/// Splits "s44x4xMin(16, s70)x16" into its dimensions. Empty for "scalar", "?" and "".
ADPIPE_EXPORT std::vector<std::string_view> split_dimensions(std::string_view shape);

/// Makes a graph; one module after the other, each in the order of its lines.
class ADPIPE_EXPORT GraphBuilder {
public:
    /// `text` owns the memory that string_views of vertices and literals point into (a mapped file, a string); the model keeps it.
    GraphBuilder(std::filesystem::path source, std::shared_ptr<const void> text);
    ~GraphBuilder();
    GraphBuilder(const GraphBuilder&) = delete;
    GraphBuilder& operator=(const GraphBuilder&) = delete;

    /// Space for about that many vertices and edges.
    void reserve(std::size_t vertices, std::size_t edges);
    /// Starts a module; names are unique from here to the next call.
    void begin_module(std::string_view name, std::uint32_t line);
    /// Copies text that is in no owned memory.
    std::string_view intern(std::string_view text);

    struct Added {
        VertexId vertex;
        bool is_new;  ///< false: the name was there already, `vertex` is that one, and nothing was added
    };
    /// Adds a vertex to the current module (`module` and `op` are set for you).
    Added add(const Vertex& vertex);
    /// The vertex of that name in the current module, or no_vertex.
    VertexId find(std::string_view name) const noexcept;
    const Vertex& vertex(VertexId v) const noexcept;
    /// Vertices so far, of all modules.
    VertexId size() const noexcept;
    /// Completes a vertex: a use may print the type of a weight that its first use did not.
    void set_type(VertexId v, std::string_view shape, std::string_view dtype) noexcept;
    void connect(VertexId source, VertexId target, std::uint32_t argument, EdgeKind kind = EdgeKind::data);
    void literal(VertexId vertex, std::uint32_t argument, std::string_view text);
    void set_may_lack_edges() noexcept;

    /// Adds the memory edges that in-place ops imply (see is_in_place), sorts, hashes, and gives the graph away.
    std::shared_ptr<const GraphModel> freeze();

private:
    std::unique_ptr<GraphStorage> storage_;
    struct Working;
    std::unique_ptr<Working> working_;
};

/// Positions of the arguments that a call of `target` writes in place, by what is known of op names ("aten.add_.Tensor" → 0,
/// "auto_deploy.flashinfer_fused_add_rms_norm_inplace" → 0 and 1). Empty for an op that writes nothing.
ADPIPE_EXPORT std::span<const std::uint8_t> in_place_arguments(std::string_view target) noexcept;

}  // namespace adpipe
