#pragma once

#include <adpipe/model/graph_fwd.hpp>

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace adpipe {

/// Copies of texts, in blocks that never move.
class TextArena {
public:
    std::string_view copy(std::string_view text);

private:
    static constexpr std::size_t block_size = 64 * 1024;
    std::vector<std::unique_ptr<char[]>> blocks_;
    char* next_ = nullptr;
    std::size_t left_ = 0;
};

struct GraphStorage {
    std::filesystem::path source;
    std::shared_ptr<const void> text;
    TextArena arena;
    std::vector<Vertex> vertices;
    std::vector<GraphModule> modules;
    std::vector<Edge> edges;                // by target, then kind, then argument
    std::vector<Edge> out_edges;            // by source, then index
    std::vector<std::uint32_t> in_begin;    // size() + 1
    std::vector<std::uint32_t> out_begin;   // size() + 1
    std::vector<Literal> literals;          // by vertex
    std::vector<std::uint32_t> literal_begin;  // size() + 1
    /// Open addressing, power of two, filled at most to a half: vertex ids by hash of (module, name).
    std::vector<VertexId> name_table;
    std::uint64_t digest = 0;
    bool may_lack_edges = false;
};

}  // namespace adpipe
