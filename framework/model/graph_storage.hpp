#pragma once

#include <adpipe/model/graph_fwd.hpp>

#include "model/large_array.hpp"

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

/// Vertices by (module, name): open addressing, size a power of two, at most half full. A slot holds 32 bits of the hash beside the id, so
/// that a search touches the vertex itself only where the names are very probably equal.
class NameTable {
public:
    /// The vertex whose name `is_wanted(VertexId)` accepts among those of that hash, or no_vertex.
    template <class IsWanted>
    VertexId find(std::uint64_t hash, IsWanted is_wanted) const {
        const std::size_t mask = slots_.size() - 1;
        const auto tag = static_cast<std::uint32_t>(hash >> 32);
        for (std::size_t i = hash & mask; slots_[i].vertex != no_vertex; i = (i + 1) & mask) {
            if (slots_[i].tag == tag && is_wanted(slots_[i].vertex)) return slots_[i].vertex;
        }
        return no_vertex;
    }
    /// Adds a vertex that is not there.
    void insert(std::uint64_t hash, VertexId vertex) {
        if ((size_ + 1) * 2 > slots_.size()) grow();
        place({static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(hash >> 32), vertex});
        ++size_;
    }

private:
    struct Slot {
        std::uint32_t low = 0;  ///< low bits of the hash: where the slot wants to be
        std::uint32_t tag = 0;  ///< high bits
        VertexId vertex = no_vertex;
    };

    void place(const Slot& slot) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t i = slot.low & mask;
        while (slots_[i].vertex != no_vertex) i = (i + 1) & mask;
        slots_[i] = slot;
    }
    void grow() {
        LargeArray<Slot> old(slots_.size() * 2);
        old.swap(slots_);
        for (const Slot& slot : old) {
            if (slot.vertex != no_vertex) place(slot);
        }
    }

    LargeArray<Slot> slots_ = LargeArray<Slot>(1024);
    std::size_t size_ = 0;
};

struct GraphStorage {
    std::filesystem::path source;
    std::shared_ptr<const void> text;
    TextArena arena;
    LargeArray<Vertex> vertices;
    std::vector<GraphModule> modules;
    LargeArray<Edge> edges;                // by target, then kind, then argument
    LargeArray<Edge> out_edges;            // by source, then index
    std::vector<std::uint32_t> in_begin;    // size() + 1
    std::vector<std::uint32_t> out_begin;   // size() + 1
    LargeArray<Literal> literals;          // by vertex
    std::vector<std::uint32_t> literal_begin;  // size() + 1
    NameTable names;
    std::uint64_t digest = 0;  // while building: of names and kinds alone
    bool may_lack_edges = false;
};

}  // namespace adpipe
