#pragma once

#include <adpipe/artifact.hpp>
#include <adpipe/export.hpp>
#include <adpipe/model/graph_fwd.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe {

/// A decoder layer's number, or one of the values below.
using LayerId = std::int32_t;
inline constexpr LayerId layer_prologue = -1;  ///< before the first layer, or made once and read by several layers
inline constexpr LayerId layer_epilogue = -2;  ///< after the last layer
inline constexpr LayerId layer_input = -3;     ///< a placeholder of the graph that no single layer owns
inline constexpr LayerId layer_unknown = -4;

/// "5", "prologue", "epilogue", "input", "unknown".
ADPIPE_EXPORT std::string layer_text(LayerId layer);

enum class Group : std::uint8_t { other, norm, attention, mla, moe, mlp, mamba, gdn };
ADPIPE_EXPORT std::string_view group_text(Group group) noexcept;

/// Index into Layers::texts; 0 is the empty text.
using TextId = std::uint32_t;

/// Where one vertex belongs.
struct Membership {
    LayerId layer = layer_unknown;
    LayerId also = layer_unknown;  ///< another layer that the vertex serves as well (a fused add and norm), else layer_unknown
    TextId stack = 0;              ///< "encoder", "decoder", …; 0 where the model has one stack of layers
    TextId sub_group = 0;          ///< "q_branch", "moe_experts", …
    TextId reason = 0;             ///< short phrase that a person can check in the dump
    Group group = Group::other;
    bool certain = true;  ///< false: the text does not decide it; the reason says so
};

/// One layer of one stack of one module.
struct Layer {
    LayerId number = layer_unknown;
    TextId stack = 0;
    std::uint16_t module = 0;
    std::uint32_t vertex_count = 0;
    /// Layers with the same `kind` have the same structure; kinds count from 0 in order of appearance.
    std::uint32_t kind = 0;
    /// The values through which everything of this layer (and of those before it) reaches the next; empty for the last layer.
    std::vector<VertexId> boundary_out;
    /// True if only what it hands on is in the graph (a file of one layer names the layer before it). It cannot be shown.
    bool outside = false;
};

/// Membership of every vertex of a graph. All columns are indexed by VertexId.
struct ADPIPE_EXPORT Layers {
    std::uint64_t graph_digest = 0;  ///< of the graph that it belongs to
    std::vector<Membership> of;      ///< one per vertex
    std::vector<Layer> layers;       ///< by module, stack, number
    std::vector<std::string> texts{std::string{}};
    std::string strategy;  ///< name of the stage that decided

    /// The id of `text`, added if new.
    TextId text_id(std::string_view text);
    const std::string& text(TextId id) const { return texts[id]; }
    /// The layer with that number (in the first module and stack that has it), or nullptr.
    const Layer* find(LayerId number) const noexcept;

private:
    std::map<std::string, TextId, std::less<>> ids_;
};

template <>
struct ArtifactTraits<Layers> {
    static constexpr const char* id = "layers/1";
};

}  // namespace adpipe
