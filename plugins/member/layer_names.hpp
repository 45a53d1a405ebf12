#pragma once

#include <adpipe/model/layers.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace adpipe::member {

/// What a name says about the module tree: "model_layers_3_mlp_gate_weight" lies in layer 3 of "model_layers", as "mlp_gate_weight".
struct LayerName {
    std::uint32_t container = 0;  ///< index into LayerNames::containers()
    LayerId layer = 0;
    std::string_view role;  ///< the name after the layer's number: the same in every layer; may be empty
};

/// A module that holds numbered layers, such as "model_layers".
struct LayerContainer {
    std::string path;   ///< as the names write it, without the final separator: "model_layers", "encoder.block"
    std::string stack;  ///< what to call it where a model has several: "encoder"
};

/// Reads layer numbers out of weight names. Only the outermost number counts ("layers_3_mlp_experts_7" is layer 3), and only where it
/// follows a word that names layers; where no weight has such a word, the numbering that divides the weights best is taken.
class LayerNames {
public:
    /// `words`: names of modules that hold layers ("layers", "h", "block"); `compounds`: module names with a separator inside.
    LayerNames(std::vector<std::string> words, std::vector<std::string> compounds);

    /// True if a word for layers stands before a number in it.
    bool has_layer(std::string_view name) const { return find_number(name).has_value(); }
    /// Must be called with all weight names before the first look-up, unless one of them has a layer.
    void learn(const std::vector<std::string_view>& weights);

    /// For a weight's name: registers its container.
    std::optional<LayerName> of_weight(std::string_view name);
    /// For any other name: only where it begins with a container that weights have.
    std::optional<LayerName> of_activation(std::string_view name) const;
    /// The container beside whose layers the name stands: "model_norm_mul" begins as "model_layers_0_…" does, but lies in no layer.
    /// Nothing for bare names such as "mul_7", which say nothing.
    std::optional<std::uint32_t> outside_layers_of(std::string_view name) const;

    const std::vector<LayerContainer>& containers() const { return containers_; }
    /// Gives every container its stack name; call once all weights were seen.
    void name_stacks();

private:
    struct Found {
        std::size_t container_end;
        std::size_t role_begin;
        LayerId layer;
    };
    std::optional<Found> find_number(std::string_view name) const;
    std::size_t module_begin(std::string_view name, std::size_t end) const;
    std::string with_dots(std::string_view path) const;
    bool is_layer_word(std::string_view name, std::size_t end) const;
    std::string last_module(std::string_view path) const;

    std::vector<std::string> words_;
    std::vector<std::string> compounds_;
    std::vector<LayerContainer> containers_;
    std::vector<std::string> learned_;  ///< container paths found by structure, where no word helps
};

}  // namespace adpipe::member
