#include "graph_text.hpp"

#include <adpipe/diagnostic.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace adpipe;
using namespace adpipe::member;

TEST_CASE("latent attention, router, experts and shared experts") {
    const Members m(R"(
        ids:
        positions:
        x = aten.embedding.default($model_embed_weight, ids)
        w = norm(x, $model_layers_0_input_layernorm_weight)
        wt = aten.to.dtype(w, torch.bfloat16)
        q = linear(wt, $model_layers_0_self_attn_q_b_proj_weight)
        qv = aten.view.default(q, 8)
        kv = linear(wt, $model_layers_0_self_attn_kv_a_proj_with_mqa_weight)
        rope = auto_deploy.flashinfer_rope(qv, kv, positions)
        qr = getitem(rope, 0)
        mla = auto_deploy.flashinfer_mla_with_cache.default(qr, kv, $model_layers_0_self_attn_kv_b_proj_weight)
        o = linear(mla, $model_layers_0_self_attn_o_proj_weight)
        s = aten.add.Tensor(x, o)
        w2 = norm(s, $model_layers_0_post_attention_layernorm_weight)
        r = linear(w2, $model_layers_0_mlp_gate_weight)
        t = trtllm.noaux_tc_op.default(r, $model_layers_0_mlp_gate_e_score_correction_bias)
        ti = getitem(t, 0)
        tm = aten.mul.Tensor(ti, 2)
        e = auto_deploy.torch_moe.default(w2, tm, $model_layers_0_mlp_experts_0_up_proj_weight)
        b = begin_aux_stream_passthrough(w2)
        sh = linear(b, $model_layers_0_mlp_shared_experts_up_proj_weight)
        sum = aten.add.Tensor(e, sh)
        y = aten.add.Tensor(s, sum)
        n = norm(y, $model_layers_1_input_layernorm_weight)
        z = linear(n, $model_layers_1_mlp_up_proj_weight)
        f = norm(z, $model_norm_weight)
        out f
    )");
    CHECK(m.group("w") == "norm");
    CHECK(m.group("wt") == "norm");
    CHECK(m.group("q") == "mla/q_branch");
    CHECK(m.group("qv") == "mla/q_branch");
    CHECK(m.group("kv") == "mla/kv_branch");
    CHECK(m.group("rope") == "mla/rope");
    CHECK(m.group("qr") == "mla/rope");
    CHECK(m.group("mla") == "mla");
    CHECK(m.group("o") == "mla");
    CHECK(m.group("s") == "other");
    CHECK(m.group("w2") == "norm");
    CHECK(m.group("r") == "moe/moe_router");
    CHECK(m.group("t") == "moe/moe_router");
    CHECK(m.group("ti") == "moe/moe_router");
    CHECK(m.group("tm").substr(0, 3) == "moe");
    CHECK(m.group("e") == "moe/moe_experts");
    CHECK(m.group("b") == "mlp/shared_experts");
    CHECK(m.group("sh") == "mlp/shared_experts");
    CHECK(m.group("sum").substr(0, 3) == "moe");
    CHECK(m.group("y") == "other");
    CHECK(m.group("z") == "mlp");
}

TEST_CASE("attention without latent KV, mamba and gated delta net, each in its layer") {
    const Members m(R"(
        ids:
        x = aten.embedding.default($model_embed_weight, ids)
        q = linear(x, $model_layers_0_self_attn_q_proj_weight)
        k = linear(x, $model_layers_0_self_attn_k_proj_weight)
        s = auto_deploy.torch_attention.default(q, k)
        o = linear(s, $model_layers_0_self_attn_o_proj_weight)
        i = linear(o, $model_layers_1_mamba_in_proj_weight)
        c = auto_deploy.triton_causal_conv1d.default(i, $model_layers_1_mamba_conv1d_weight)
        a = auto_deploy.triton_ssm.default(c, $model_layers_1_mamba_A_log)
        j = linear(a, $model_layers_1_mamba_out_proj_weight)
        l = linear(j, $model_layers_2_linear_attn_in_proj_qkvz_weight)
        d = auto_deploy.triton_causal_conv1d.default(l, $model_layers_2_linear_attn_conv1d_weight)
        g = auto_deploy.fla_gated_delta_rule.default(d, $model_layers_2_linear_attn_A_log)
        h = linear(g, $model_layers_2_linear_attn_out_proj_weight)
        out h
    )");
    CHECK(m.group("q") == "attention/q_branch");
    CHECK(m.group("k") == "attention/kv_branch");
    CHECK(m.group("s") == "attention");
    CHECK(m.group("o") == "attention");
    CHECK(m.group("i") == "mamba");
    CHECK(m.group("c") == "mamba");
    CHECK(m.group("a") == "mamba/mamba_ssm");
    CHECK(m.group("l") == "gdn");
    CHECK(m.group("d") == "gdn/gdn_conv1d");
    CHECK(m.group("g") == "gdn/gdn_delta_rule");
}

TEST_CASE("a decomposed norm is a norm as a whole") {
    std::string text = "ids:\na-1 = aten.embedding.default($model_embed_weight, ids)\n";
    for (int n = 0; n < 3; ++n) {
        text += in_layer(R"(
            p{n} = aten.pow.Tensor_Scalar(a{p}, 2)
            m{n} = aten.mean.dim(p{n}, -1)
            e{n} = aten.add.Tensor(m{n}, 1e-06)
            r{n} = aten.rsqrt.default(e{n})
            y{n} = aten.mul.Tensor(a{p}, r{n})
            w{n} = aten.mul.Tensor(y{n}, $model_layers_{n}_input_layernorm_weight)
            q{n} = linear(w{n}, $model_layers_{n}_self_attn_q_proj_weight)
            a{n} = aten.add.Tensor(a{p}, q{n})
        )", n);
    }
    const Members m(text + "logits = linear(a2, $lm_head_weight)\nout logits");
    for (const char* node : {"p1", "m1", "e1", "r1", "y1", "w1", "p0", "w2"}) {
        CAPTURE(node);
        CHECK(m.group(node) == "norm");
    }
    CHECK(m.group("a1") == "other");
}

namespace {

std::string complaint(const std::string& yaml) {
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "adpipe_rules_test.yaml";
    std::ofstream(file) << yaml;
    Rules rules;
    std::string text;
    try {
        rules.add_file(file);
    } catch (const Error& error) {
        const Diagnostic& first = error.diagnostics().front();
        text = first.code + " " + std::to_string(first.where.line) + ":" + std::to_string(first.where.column) + " " + first.message;
    }
    std::filesystem::remove(file);
    return text;
}

}  // namespace

TEST_CASE("a rules file is read strictly, and every complaint has its place") {
    CHECK(complaint("groups:\n  - {weight: \"*_gate\", group: moe}\n").empty());
    CHECK(complaint("groups:\n  - {weigth: \"*\", group: moe}\n") ==
          "ADP-RULES-002 2:6 unknown key `weigth`; a group rule has weight, op, layer_uses, group, sub_group");
    CHECK(complaint("groups:\n  - {op: topk, group: router}\n") ==
          "ADP-RULES-002 2:23 unknown group `router`; known are norm, attention, mla, moe, mlp, mamba, gdn, other");
    CHECK(complaint("groups:\n  - {group: moe}\n") == "ADP-RULES-002 2:5 a group rule needs `weight` or `op`");
    CHECK(complaint("group: []\n").substr(0, 30) == "ADP-RULES-002 1:1 unknown key ");
    CHECK(complaint("tables: [a]\ntables: [b]\n") == "ADP-RULES-002 2:1 the key `tables` is given twice");
    CHECK(complaint("groups: [").substr(0, 13) == "ADP-RULES-001");
}

TEST_CASE("a family's rules win over the common ones") {
    Rules rules = common_rules();
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "adpipe_family_test.yaml";
    std::ofstream(file) << "groups:\n  - {weight: \"self_attn_q_proj_weight\", group: other}\n";
    rules.add_file(file);
    std::filesystem::remove(file);
    REQUIRE_FALSE(rules.groups.empty());
    CHECK(rules.groups.front().group == Group::other);
}
