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
/// that a search touches the vertex itself only where the names are very probably equal, and growing touches no vertex at all.
class NameTable {
public:
    /// Makes room for that many, so that it need not grow on the way.
    void reserve(std::size_t vertices) {
        std::size_t size = slots_.size();
        while (size < vertices * 2) size *= 2;
        if (size > slots_.size()) grow_to(size);
    }
    /// The vertex whose name `is_wanted(VertexId)` accepts among those of that hash, or no_vertex.
    template <class IsWanted>
    VertexId find(std::uint64_t hash, IsWanted is_wanted) const {
        return slots_[slot_of(tag_of(hash), is_wanted)].vertex;
    }
    /// The same; where there is none, adds `vertex`.
    template <class IsWanted>
    VertexId find_or_insert(std::uint64_t hash, VertexId vertex, IsWanted is_wanted) {
        if ((size_ + 1) * 2 > slots_.size()) grow_to(slots_.size() * 2);
        Slot& slot = slots_[slot_of(tag_of(hash), is_wanted)];
        if (slot.vertex != no_vertex) return slot.vertex;
        slot = {tag_of(hash), vertex};
        ++size_;
        return no_vertex;
    }

private:
    struct Slot {
        std::uint32_t tag = 0;  ///< its low bits say where the slot wants to be
        VertexId vertex = no_vertex;
    };

    static std::uint32_t tag_of(std::uint64_t hash) noexcept { return static_cast<std::uint32_t>(hash >> 32); }
    template <class IsWanted>
    std::size_t slot_of(std::uint32_t tag, IsWanted is_wanted) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t i = tag & mask;
        while (slots_[i].vertex != no_vertex && (slots_[i].tag != tag || !is_wanted(slots_[i].vertex))) i = (i + 1) & mask;
        return i;
    }
    void grow_to(std::size_t size) {
        LargeArray<Slot> old(size);
        old.swap(slots_);
        for (const Slot& slot : old) {
            if (slot.vertex != no_vertex) slots_[slot_of(slot.tag, [](VertexId) { return false; })] = slot;
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
    LargeArray<Edge> edges;                    // by target, then kind, then argument
    LargeArray<Edge> out_edges;                // by source, then index
    std::vector<std::uint32_t> in_begin;       // size() + 1
    std::vector<std::uint32_t> out_begin;      // size() + 1
    LargeArray<Literal> literals;              // by vertex
    std::vector<std::uint32_t> literal_begin;  // size() + 1
    NameTable names;
    std::uint64_t digest = 0;  // while building: of names and kinds alone
    bool may_lack_edges = false;
};

}  // namespace adpipe
