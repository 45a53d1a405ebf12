#include "layer_names.hpp"

#include <doctest/doctest.h>

using namespace adpipe;
using namespace adpipe::member;

namespace {

LayerNames names() { return LayerNames{{"layers", "layer", "h", "blocks", "block"}, {"language_model"}}; }

struct Read {
    std::string container;
    LayerId layer;
    std::string role;
    friend bool operator==(const Read&, const Read&) = default;
};

Read read(LayerNames& names, std::string_view weight) {
    const auto found = names.of_weight(weight);
    REQUIRE(found.has_value());
    return {names.containers()[found->container].path, found->layer, std::string{found->role}};
}

}  // namespace

TEST_CASE("the layer's number follows a word for layers, and only the outermost counts") {
    LayerNames n = names();
    CHECK(read(n, "model_layers_3_mlp_experts_7_gate_proj_weight") == Read{"model_layers", 3, "mlp_experts_7_gate_proj_weight"});
    CHECK(read(n, "transformer_h_11_attn_c_attn_weight") == Read{"transformer_h", 11, "attn_c_attn_weight"});
    CHECK(read(n, "encoder_block_2_layer_1_DenseReluDense_wo_weight") == Read{"encoder_block", 2, "layer_1_DenseReluDense_wo_weight"});
    CHECK(read(n, "model.layers.60.mlp.gate.weight") == Read{"model.layers", 60, "mlp.gate.weight"});
    CHECK(read(n, "layers_0_attn_norm_weight") == Read{"layers", 0, "attn_norm_weight"});
}

TEST_CASE("counters are no layers") {
    LayerNames n = names();
    for (const char* name : {"fused_moe_w3_w1_stacked_4", "fused_weight_7", "fused_swiglu_3_gate_up_weight", "nvfp4_moe_w2_stacked_1",
                             "_prefused_rope_cache_5", "r3_kv_cache", "experts_3", "altup_projections_0_weight", "lm_head_weight"}) {
        CAPTURE(name);
        CHECK_FALSE(n.of_weight(name).has_value());
    }
}

TEST_CASE("an activation is in a layer only if its name begins with a container of weights") {
    LayerNames n = names();
    n.of_weight("model_layers_3_mlp_gate_weight");
    CHECK(n.of_activation("model_layers_5_self_attn_view_17")->layer == 5);
    CHECK_FALSE(n.of_activation("mul_17").has_value());
    CHECK_FALSE(n.of_activation("other_layers_5_view").has_value());
    CHECK_FALSE(n.of_activation("model_layers_rotary_emb_cos").has_value());
    CHECK(n.outside_layers_of("model_norm_mul_3") == 0);
    CHECK_FALSE(n.outside_layers_of("mul_3").has_value());
    CHECK_FALSE(n.outside_layers_of("model_layers_5_add").has_value());
}

TEST_CASE("without a word for layers, the numbering that repeats is taken") {
    LayerNames n = names();
    n.learn({"net_stage_0_in_weight", "net_stage_0_out_weight", "net_stage_1_in_weight", "net_stage_1_out_weight", "head_0_weight"});
    CHECK(read(n, "net_stage_1_out_weight") == Read{"net_stage", 1, "out_weight"});
    CHECK_FALSE(n.of_weight("head_0_weight").has_value());
}

TEST_CASE("stacks are called by the module that holds the layers, by its whole path where that is not unique") {
    LayerNames n = names();
    for (const char* weight :
         {"model_encoder_layers_0_fc1_weight", "model_decoder_layers_0_fc1_weight", "model_language_model_layers_0_w"}) {
        n.of_weight(weight);
    }
    n.name_stacks();
    CHECK(n.containers()[0].stack == "encoder");
    CHECK(n.containers()[1].stack == "decoder");
    CHECK(n.containers()[2].stack == "language_model");
    LayerNames twice({"layers"}, {"text_model", "vision_model"});
    twice.of_weight("text_model_encoder_layers_0_w");
    twice.of_weight("vision_model_encoder_layers_0_w");
    twice.name_stacks();
    CHECK(twice.containers()[0].stack == "text_model.encoder");
    CHECK(twice.containers()[1].stack == "vision_model.encoder");
}

TEST_CASE("a module name that ends in a word for layers holds no layers") {
    LayerNames n({"layers"}, {"conv_layers"});
    CHECK_FALSE(n.of_weight("wav2vec2_feature_extractor_conv_layers_0_conv_weight").has_value());
    CHECK(n.of_weight("wav2vec2_encoder_layers_0_fc1_weight").has_value());
}
