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
        )",
                         n);
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

TEST_CASE("no group reaches across the residual stream: a norm's first cast is the norm's, what scales a branch is the branch's") {
    const Members m(R"(
        ids:
        x = aten.embedding.default($model_embed_weight, ids)
        f = aten.to.dtype(x, torch.float32)
        p = aten.pow.Tensor_Scalar(f, 2)
        c = aten.to.dtype(p, torch.bfloat16)
        w = aten.mul.Tensor($model_layers_0_input_layernorm_weight, c)
        q = linear(w, $model_layers_0_self_attn_o_proj_weight)
        r = aten.mul.Tensor(q, 0.22)
        s = aten.add.Tensor(x, r)
        f2 = aten.to.dtype(s, torch.float32)
        p2 = aten.pow.Tensor_Scalar(f2, 2)
        c2 = aten.to.dtype(p2, torch.bfloat16)
        w2 = aten.mul.Tensor($model_layers_0_post_attention_layernorm_weight, c2)
        u = linear(w2, $model_layers_0_mlp_up_proj_weight)
        y = aten.add.Tensor(s, u)
        k = norm(y, $model_layers_1_input_layernorm_weight)
        out k
    )");
    for (const char* node : {"p", "c", "w", "f2", "p2", "c2", "w2"}) {
        CAPTURE(node);
        CHECK(m.group(node) == "norm");
    }
    CHECK(m.group("r") == "attention");
    CHECK(m.group("s") == "other");
    CHECK(m.group("u") == "mlp");
}

TEST_CASE("norms after the branches: their results are the stream, and a projection that no rule knows is no norm") {
    const Members m(R"(
        ids:
        x = aten.embedding.default($bert_embed_weight, ids)
        a = linear(x, $bert_encoder_layer_0_attention_self_value_weight)
        d = aten.dropout.default(a, 0.1)
        s = aten.add.Tensor(d, x)
        w = aten.layer_norm.default(s, 64, $bert_encoder_layer_0_attention_output_LayerNorm_weight)
        i = linear(w, $bert_encoder_layer_0_intermediate_dense_weight)
        g = aten.gelu.default(i)
        j = linear(w, $bert_encoder_layer_0_novelty_weight)
        t = aten.tanh.default(j)
        o = linear(g, $bert_encoder_layer_0_output_dense_weight)
        y = aten.add.Tensor(o, w)
        z = aten.layer_norm.default(y, 64, $bert_encoder_layer_0_output_LayerNorm_weight)
        k = linear(z, $bert_encoder_layer_1_attention_self_value_weight)
        out k, t
    )");
    CHECK(m.group("d") == "attention");
    CHECK(m.group("s") == "other");
    CHECK(m.group("w") == "norm");
    for (const char* node : {"i", "g", "o"}) CHECK(m.group(node) == "mlp");
    for (const char* node : {"y", "j", "t"}) CHECK(m.group(node) == "other");
    CHECK(m.group("z") == "norm");
}

TEST_CASE("what only prepares the input of experts is theirs, and branches side by side meet in none of them") {
    const Members m(R"(
        ids:
        x = aten.embedding.default($model_embed_weight, ids)
        w = norm(x, $model_layers_0_input_layernorm_weight)
        r = linear(w, $model_layers_0_mlp_router_weight)
        t = aten.topk.default(r, 2)
        v = aten.repeat_interleave.self_int(w, 2)
        e = aten.index.Tensor($model_layers_0_mlp_experts_up_proj, t)
        b = aten.bmm.default(e, v)
        y = aten.add.Tensor(x, b)
        n = norm(y, $model_layers_1_input_layernorm_weight)
        a = linear(n, $model_layers_1_self_attn_o_proj_weight)
        c = linear(n, $model_layers_1_mlp_down_proj_weight)
        d = aten.add.Tensor(a, c)
        z = aten.add.Tensor(y, d)
        out z
    )");
    CHECK(m.group("w") == "norm");
    CHECK(m.group("v") == "moe/moe_experts");
    CHECK(m.group("b").substr(0, 3) == "moe");
    CHECK(m.group("d") == "other");
    CHECK(m.group("z") == "other");
}

TEST_CASE("what scales a branch before a fused add and norm is the branch's") {
    const Members m(R"(
        ids:
        x = aten.embedding.default($model_embed_weight, ids)
        w = rms_norm(x, $model_layers_0_input_layernorm_weight)
        o = linear(w, $model_layers_0_self_attn_o_proj_weight)
        r = aten.mul.Tensor(o, 0.22)
        g = fused_add_rms_norm(x, r, $model_layers_0_post_attention_layernorm_weight)
        n = getitem(g, 0)
        s = getitem(g, 1)
        u = linear(n, $model_layers_0_mlp_up_proj_weight)
        h = fused_add_rms_norm(s, u, $model_norm_weight)
        out h
    )");
    CHECK(m.group("r") == "attention");
    CHECK(m.group("g") == "norm");
    CHECK(m.group("u") == "mlp");
}

TEST_CASE("Kimi delta attention is a gated delta net, in a model whose other layers have attention") {
    const Members m(R"(
        ids:
        x = aten.embedding.default($model_embed_weight, ids)
        n = norm(x, $model_layers_0_input_layernorm_weight)
        q = linear(n, $model_layers_0_self_attn_q_proj_weight)
        c = aten.conv1d.default(q, $model_layers_0_self_attn_q_conv1d_weight)
        g = linear(n, $model_layers_0_self_attn_f_a_proj_weight)
        r = aten.mul.Tensor(c, g)
        o = linear(r, $model_layers_0_self_attn_o_proj_weight)
        y = aten.add.Tensor(x, o)
        k = norm(y, $model_layers_1_input_layernorm_weight)
        p = linear(k, $model_layers_1_self_attn_q_proj_weight)
        s = sdpa(p, p)
        t = linear(s, $model_layers_1_self_attn_o_proj_weight)
        z = aten.add.Tensor(y, t)
        out z
    )");
    CHECK(m.group("q") == "gdn");
    CHECK(m.group("c") == "gdn/gdn_conv1d");
    CHECK(m.group("g") == "gdn/gdn_gating");
    CHECK(m.group("r").substr(0, 3) == "gdn");
    CHECK(m.group("o") == "gdn");
    CHECK(m.group("p") == "attention/q_branch");
    CHECK(m.group("s") == "attention");
}
