// What single model families do that others do not, one case each, cut down from their exported graphs. No names of activations are used.

#include "graph_text.hpp"

#include <doctest/doctest.h>

using namespace adpipe;
using namespace adpipe::member;

namespace {

/// `before`, `count` layers of `layer` with {n} and {p} filled in, `after` with {p} = the last layer.
std::string family(std::string_view before, std::string_view layer, std::string_view after, int count = 4) {
    std::string text{before};
    for (int n = 0; n < count; ++n) text += "\n" + in_layer(layer, n);
    return text + "\n" + in_layer(after, count);
}

void check_layers(const Members& m, std::initializer_list<const char*> ops, std::initializer_list<int> layers) {
    for (const std::string op : ops) {
        for (const int n : layers) {
            const std::string node = op + std::to_string(n);
            CAPTURE(node);
            CHECK(m.layer(node) == std::to_string(n));
        }
    }
}

void check_all(const Members& m, std::initializer_list<const char*> nodes, std::string_view layer) {
    for (const char* node : nodes) {
        CAPTURE(node);
        CHECK(m.layer(node) == layer);
    }
}

}  // namespace

TEST_CASE("a block of several layers whose weights go by the last caller's name, with an adapter that the first call alone uses (Zamba2)") {
    std::string text{"ids:\na-1 = aten.embedding.default($model_embed_weight, ids)\nfirst = aten.clone.default(a-1)"};
    for (int n = 0; n < 6; ++n) {
        if (n == 2 || n == 4) {
            text += in_layer(R"(
                c{n} = aten.cat.default(a{p}, first)
                h{n} = norm(c{n}, $model_layers_4_shared_transformer_norm_weight)
                i{n} = linear(h{n}, $model_layers_4_shared_transformer_up_weight)
                l{n} = linear(h{n}, $model_layers_4_shared_transformer_adapters_{n}_weight)
                m{n} = aten.add.Tensor(i{n}, l{n})
                o{n} = linear(m{n}, $model_layers_4_shared_transformer_down_weight)
                j{n} = linear(o{n}, $model_layers_{n}_linear_weight)
                b{n} = aten.add.Tensor(a{p}, j{n})
            )",
                             n);
        } else {
            text += in_layer("\nb{n} = aten.relu.default(a{p})\n", n);
        }
        text += in_layer(R"(
            w{n} = norm(b{n}, $model_layers_{n}_norm_weight)
            x{n} = linear(w{n}, $model_layers_{n}_mixer_weight)
            a{n} = aten.add.Tensor(a{p}, x{n})
        )",
                         n);
    }
    text += "f = norm(a5, $model_norm_weight)\nout f";
    const Members m(text);
    CHECK(m.layer("first") == "prologue");
    check_layers(m, {"c", "h", "i", "l", "m", "o", "j", "b"}, {2, 4});
    check_layers(m, {"w", "x", "a"}, {0, 1, 2, 3, 4, 5});
}

TEST_CASE("the stream that enters a model whose sums and norms are fused is the prologue's (Granite)") {
    const Members m(R"(
        ids:
        e = aten.embedding.default($model_embed_weight, ids)
        s = aten.mul.Tensor(e, 12.0)
        w0 = rms_norm(s, $model_layers_0_input_norm_weight)
        o0 = linear(w0, $model_layers_0_attn_weight)
        g0 = fused_add_rms_norm(s, o0, $model_layers_0_post_norm_weight)
        x0 = getitem(g0, 0)
        r0 = getitem(g0, 1)
        y0 = linear(x0, $model_layers_0_mlp_weight)
        g1 = fused_add_rms_norm(r0, y0, $model_layers_1_input_norm_weight)
        w1 = getitem(g1, 0)
        s1 = getitem(g1, 1)
        o1 = linear(w1, $model_layers_1_attn_weight)
        h1 = fused_add_rms_norm(s1, o1, $model_layers_1_post_norm_weight)
        x1 = getitem(h1, 0)
        r1 = getitem(h1, 1)
        y1 = linear(x1, $model_layers_1_mlp_weight)
        g2 = fused_add_rms_norm(r1, y1, $model_norm_weight)
        w2 = getitem(g2, 0)
        out w2
    )");
    check_all(m, {"e", "s"}, "prologue");
    check_all(m, {"w0", "o0", "g0", "x0", "r0", "y0", "s1"}, "0");
    check_all(m, {"g1", "w1", "o1", "h1", "x1", "r1", "y1"}, "1");
    check_all(m, {"g2", "w2"}, "epilogue");
    CHECK(m.also("g2") == "1");
}

TEST_CASE("a sum of embeddings at the place where other layers have the sum that ends the one before (GPT-Neo)") {
    const Members m(family(R"(
        ids:
        places:
        t = aten.embedding.default($wte_weight, ids)
        p = aten.embedding.default($wpe_weight, places)
        a-1 = aten.add.Tensor(t, p)
    )",
                           R"(
        w{n} = aten.layer_norm.default(a{p}, 64, $h_{n}_ln_1_weight)
        o{n} = linear(w{n}, $h_{n}_attn_out_proj_weight)
        b{n} = aten.add.Tensor(o{n}, a{p})
        x{n} = aten.layer_norm.default(b{n}, 64, $h_{n}_ln_2_weight)
        u{n} = linear(x{n}, $h_{n}_mlp_c_fc_weight)
        d{n} = linear(u{n}, $h_{n}_mlp_c_proj_weight)
        a{n} = aten.add.Tensor(b{n}, d{n})
    )",
                           "f = aten.layer_norm.default(a{p}, 64, $ln_f_weight)\nout f"));
    CHECK(m.layer("a-1") == "prologue");
    check_layers(m, {"w", "b", "x", "d", "a"}, {0, 1, 2, 3});
}

TEST_CASE("the residual may be the normed value, so that nothing passes the norm by (MiniMax)") {
    const Members m(family("ids:\na-1 = aten.embedding.default($model_embed_weight, ids)", R"(
        f{n} = aten.to.dtype(a{p}, torch.float32)
        p{n} = aten.pow.Tensor_Scalar(f{n}, 2)
        r{n} = aten.rsqrt.default(p{n})
        y{n} = aten.mul.Tensor(f{n}, r{n})
        t{n} = aten.to.dtype(y{n}, torch.bfloat16)
        z{n} = aten.mul.Tensor($model_layers_{n}_norm_weight, t{n})
        u{n} = linear(z{n}, $model_layers_{n}_up_weight)
        d{n} = linear(u{n}, $model_layers_{n}_down_weight)
        b{n} = aten.mul.Tensor(z{n}, 0.5)
        c{n} = aten.mul.Tensor(d{n}, 2.0)
        a{n} = aten.add.Tensor(b{n}, c{n})
    )",
                           R"(
        f = aten.to.dtype(a{p}, torch.float32)
        p = aten.pow.Tensor_Scalar(f, 2)
        r = aten.rsqrt.default(p)
        y = aten.mul.Tensor(f, r)
        t = aten.to.dtype(y, torch.bfloat16)
        z = aten.mul.Tensor($model_norm_weight, t)
        out z
    )"));
    check_layers(m, {"f", "p", "r", "y", "t", "z", "u", "d", "b", "c", "a"}, {0, 1, 2, 3});
    check_all(m, {"f", "p", "r", "y", "t", "z"}, "epilogue");
    CHECK(m.boundary(1) == std::vector<std::string>{"a1"});
}

TEST_CASE("both values that a fused add and norm behind the last layer joins are the last layer's (MiniMax, fused)") {
    const Members m(family("ids:\na-1 = aten.embedding.default($model_embed_weight, ids)\ng-1 = norm(a-1, $model_layers_0_norm_weight)", R"(
        u{n} = linear(g{p}, $model_layers_{n}_up_weight)
        d{n} = linear(u{n}, $model_layers_{n}_down_weight)
        b{n} = aten.mul.Tensor(u{n}, 0.5)
        c{n} = aten.mul.Tensor(d{n}, 2.0)
        i{n} = auto_deploy.flashinfer_fused_add_rms_norm_inplace.default(c{n}, b{n}, $model_layers_{n}_end_norm_weight)
        g{n} = aten.view.default(c{n}, 64)
    )",
                           R"(
        u4 = linear(g{p}, $model_layers_4_up_weight)
        d4 = linear(u4, $model_layers_4_down_weight)
        b4 = aten.mul.Tensor(u4, 0.5)
        c4 = aten.mul.Tensor(d4, 2.0)
        i4 = auto_deploy.flashinfer_fused_add_rms_norm_inplace.default(c4, b4, $model_norm_weight)
        logits = linear(c4, $lm_head_weight)
        out logits
    )"));
    check_layers(m, {"u", "d", "b", "c"}, {0, 1, 2, 3, 4});
    check_all(m, {"i4", "logits"}, "epilogue");
}

TEST_CASE("what the only attention layer reads was made before the layers, but for the last index into it (Nemotron-H)") {
    const Members m(R"(
        ids:
        places:
        a = aten.embedding.default($model_embed_weight, ids)
        m0 = aten.unsqueeze.default(places, 1)
        m1 = aten.ge.Tensor(places, m0)
        k = aten.cos.default(places)
        w0 = norm(a, $model_layers_0_norm_weight)
        o0 = linear(w0, $model_layers_0_mamba_weight)
        a0 = aten.add.Tensor(a, o0)
        w1 = norm(a0, $model_layers_1_norm_weight)
        q1 = linear(w1, $model_layers_1_q_proj_weight)
        c1 = aten.unsqueeze.default(k, 1)
        r1 = aten.mul.Tensor(q1, c1)
        s1 = sdpa(r1, m1)
        o1 = linear(s1, $model_layers_1_o_proj_weight)
        a1 = aten.add.Tensor(a0, o1)
        w2 = norm(a1, $model_layers_2_norm_weight)
        o2 = linear(w2, $model_layers_2_mamba_weight)
        a2 = aten.add.Tensor(a1, o2)
        f = norm(a2, $model_norm_weight)
        out f
    )");
    check_all(m, {"m0", "m1", "k"}, "prologue");
    check_layers(m, {"c", "r", "s", "o", "a"}, {1});
}

TEST_CASE("a weight of a kind that the first layer alone has, fed from positions, makes that chain the layer's (T5)") {
    const Members m(R"(
        ids:
        places:
        a = aten.embedding.default($model_embed_weight, ids)
        k0 = aten.abs.default(places)
        e0 = aten.embedding.default($model_layers_0_relative_bias_weight, k0)
        q0 = linear(a, $model_layers_0_q_proj_weight)
        s0 = sdpa(q0, e0)
        o0 = linear(s0, $model_layers_0_o_proj_weight)
        a0 = aten.add.Tensor(a, o0)
        q1 = linear(a0, $model_layers_1_q_proj_weight)
        s1 = sdpa(q1, e0)
        o1 = linear(s1, $model_layers_1_o_proj_weight)
        a1 = aten.add.Tensor(a0, o1)
        f = norm(a1, $model_norm_weight)
        out f
    )");
    check_all(m, {"k0", "e0"}, "0");
}

TEST_CASE("a branch of the last layer that no other layer has ends with the sum it feeds (Nemotron-H with experts last)") {
    const Members m(R"(
        ids:
        a = aten.embedding.default($model_embed_weight, ids)
        w0 = norm(a, $model_layers_0_norm_weight)
        o0 = linear(w0, $model_layers_0_mamba_weight)
        a0 = aten.add.Tensor(a, o0)
        w1 = norm(a0, $model_layers_1_norm_weight)
        o1 = linear(w1, $model_layers_1_mamba_weight)
        a1 = aten.add.Tensor(a0, o1)
        w2 = norm(a1, $model_layers_2_norm_weight)
        g2 = linear(w2, $model_layers_2_router_weight)
        h2 = aten.sigmoid.default(g2)
        x2 = aten.bmm.default(w2, $model_layers_2_experts_weight)
        y2 = aten.mul.Tensor(x2, h2)
        v2 = aten.sum.dim_IntList(y2, 1)
        o2 = linear(w2, $model_layers_2_shared_weight)
        b2 = aten.add.Tensor(v2, o2)
        a2 = aten.add.Tensor(a1, b2)
        f = norm(a2, $model_norm_weight)
        out f
    )");
    check_layers(m, {"g", "h", "x", "y", "v", "o", "b", "a"}, {2});
    CHECK(m.layer("f") == "epilogue");
}

TEST_CASE("an input's size is read before the layers, even if the first alone needs it (xLSTM)") {
    const Members m(family(R"(
        ids:
        n = aten.sym_size.int(ids, 0)
        a-1 = aten.embedding.default($model_embed_weight, ids)
    )",
                           R"(
        w{n} = norm(a{p}, $model_layers_{n}_norm_weight)
        o{n} = linear(w{n}, $model_layers_{n}_mixer_weight)
        a{n} = aten.add.Tensor(a{p}, o{n})
    )",
                           "f = norm(a{p}, $model_norm_weight)\nout f") +
                    "");
    CHECK(m.layer("n") == "prologue");
}

TEST_CASE("a check of a value that a fused end reads next is in the layer that made the value (Ernie 4.5)") {
    const Members m(R"(
        ids:
        a = aten.embedding.default($model_embed_weight, ids)
        w0 = rms_norm(a, $model_layers_0_norm_weight)
        y0 = linear(w0, $model_layers_0_mlp_weight)
        k0 = aten._assert_tensor_metadata.default(y0)
        g1 = fused_add_rms_norm(a, y0, $model_layers_1_norm_weight)
        w1 = getitem(g1, 0)
        s1 = getitem(g1, 1)
        y1 = linear(w1, $model_layers_1_mlp_weight)
        g2 = fused_add_rms_norm(s1, y1, $model_norm_weight)
        w2 = getitem(g2, 0)
        out w2
    )");
    CHECK(m.layer("k0") == "0");
    CHECK(m.layer("g1") == "1");
}

TEST_CASE("what only a check reads, or nothing, is where that is from which it was made (DeBERTa)") {
    const Members m(family("ids:\na-1 = aten.embedding.default($model_embed_weight, ids)\np = aten.arange.default(24)", R"(
        w{n} = norm(a{p}, $model_layers_{n}_norm_weight)
        t{n} = aten.slice.Tensor($model_layers_{n}_table_weight, 0, 0, 24)
        c{n} = aten.add.Tensor(p, 512)
        s{n} = aten.sym_storage_offset.default(c{n})
        e{n} = aten.ge.Scalar(s{n}, 0)
        k{n} = aten._assert_scalar.default(e{n})
        g{n} = aten.gather.default(w{n}, -1, c{n})
        o{n} = linear(g{n}, $model_layers_{n}_mixer_weight)
        a{n} = aten.add.Tensor(a{p}, o{n})
    )",
                           "f = norm(a{p}, $model_norm_weight)\nout f"));
    CHECK(m.layer("p") == "prologue");
    check_layers(m, {"c", "s", "e", "k", "g", "a"}, {0, 1, 2, 3});
}

TEST_CASE(
    "a text model that reads an inner layer of a vision tower: what leads there is behind the tower, and so is its unread end (LLaVA)") {
    std::string text{"pixels:\nids:\nv-1 = conv(pixels, $vision_tower_embed_weight)"};
    for (int n = 0; n < 3; ++n) {
        text += in_layer(R"(
            o{n} = linear(v{p}, $vision_tower_encoder_layers_{n}_mlp_weight)
            v{n} = aten.add.Tensor(v{p}, o{n})
        )",
                         n);
    }
    text += R"(
        pooled = norm(v2, $vision_tower_post_norm_weight)
        s = aten.slice.Tensor(v1, 1, 1, 17)
        p = linear(s, $projector_weight)
        e = aten.embedding.default($language_model_embed_weight, ids)
        a-1 = aten.masked_scatter.default(e, p)
    )";
    for (int n = 0; n < 3; ++n) {
        text += in_layer(R"(
            w{n} = norm(a{p}, $language_model_layers_{n}_norm_weight)
            x{n} = linear(w{n}, $language_model_layers_{n}_mlp_weight)
            a{n} = aten.add.Tensor(a{p}, x{n})
        )",
                         n);
    }
    const Members m(text + "f = norm(a2, $language_model_norm_weight)\nout f");
    check_all(m, {"pooled", "s", "p"}, "epilogue");
    check_layers(m, {"v", "w", "a"}, {0, 1, 2});
    CHECK(m.layer("e") == "prologue");
}

TEST_CASE("a value reshaped before the first weight of a layer whose norms come last (WavLM)") {
    const Members m(family("ids:\na-1 = norm(ids, $model_embed_norm_weight)", R"(
        v{n} = aten.view.default(a{p}, 2, 79, 4, 16)
        p{n} = aten.permute.default(v{n}, 0, 2, 1, 3)
        g{n} = linear(p{n}, $model_layers_{n}_gate_weight)
        q{n} = linear(a{p}, $model_layers_{n}_q_proj_weight)
        o{n} = aten.mul.Tensor(q{n}, g{n})
        b{n} = aten.add.Tensor(a{p}, o{n})
        a{n} = norm(b{n}, $model_layers_{n}_norm_weight)
    )",
                           "out a{p}"));
    check_layers(m, {"v", "p", "g", "q", "o", "b", "a"}, {0, 1, 2, 3});
}

TEST_CASE("layers that run in another order than their numbers say") {
    std::string text{"ids:\na-1 = aten.embedding.default($model_embed_weight, ids)"};
    int last = -1;
    for (const int n : {0, 3, 1, 2}) {
        std::string layer{R"(
            f{n} = aten.to.dtype(a{l}, torch.float32)
            p{n} = aten.pow.Tensor_Scalar(f{n}, 2)
            y{n} = aten.mul.Tensor(f{n}, p{n})
            z{n} = aten.mul.Tensor(y{n}, $model_layers_{n}_norm_weight)
            u{n} = linear(z{n}, $model_layers_{n}_up_weight)
            g{n} = aten.gelu.default(u{n})
            d{n} = linear(g{n}, $model_layers_{n}_down_weight)
            a{n} = aten.add.Tensor(a{l}, d{n})
        )"};
        for (std::size_t at = 0; (at = layer.find("{l}")) != std::string::npos;) layer.replace(at, 3, std::to_string(last));
        text += in_layer(layer, n);
        last = n;
    }
    text +=
        "ff = aten.to.dtype(a2, torch.float32)\nfp = aten.pow.Tensor_Scalar(ff, 2)\nfy = aten.mul.Tensor(ff, fp)\n"
        "fz = aten.mul.Tensor(fy, $model_norm_weight)\nout fz";
    const Members m(text);
    check_layers(m, {"f", "p", "y", "z", "u", "g", "d", "a"}, {0, 1, 2, 3});
    check_all(m, {"ff", "fp", "fy", "fz"}, "epilogue");
}

TEST_CASE("a weight that a layer's work uses late, after a later layer's, is still its own layer's") {
    const Members m(family("ids:\na-1 = aten.embedding.default($model_embed_weight, ids)", R"(
        w{n} = norm(a{p}, $model_layers_{n}_norm_weight)
        o{n} = linear(w{n}, $model_layers_{n}_mixer_weight)
        a{n} = aten.add.Tensor(a{p}, o{n})
    )",
                           R"(
        s1 = linear(a3, $model_layers_1_skip_weight)
        f = norm(s1, $model_norm_weight)
        out f
    )"));
    CHECK(m.layer("s1") == "1");
    check_layers(m, {"w", "o", "a"}, {0, 1, 2, 3});
    CHECK(m.layer("f") == "epilogue");
}

TEST_CASE("a stream marker on the stream itself, where norms come last and the end of the last layer is fused (EXAONE 4)") {
    const Members m(family("ids:\na-1 = aten.embedding.default($model_embed_weight, ids)", R"(
        b{n} = begin_aux_stream_passthrough(a{p}, 1)
        v{n} = linear(b{n}, $model_layers_{n}_v_proj_weight)
        q{n} = linear(a{p}, $model_layers_{n}_q_proj_weight)
        o{n} = sdpa(q{n}, v{n})
        w{n} = norm(o{n}, $model_layers_{n}_norm_weight)
        a{n} = aten.add.Tensor(a{p}, w{n})
    )",
                           R"(
        b4 = begin_aux_stream_passthrough(a3, 1)
        v4 = linear(b4, $model_layers_4_v_proj_weight)
        q4 = linear(a3, $model_layers_4_q_proj_weight)
        o4 = sdpa(q4, v4)
        w4 = norm(o4, $model_layers_4_norm_weight)
        i = auto_deploy.flashinfer_fused_add_rms_norm_inplace.default(w4, a3, $model_norm_weight)
        logits = linear(w4, $lm_head_weight)
        out logits
    )"));
    check_layers(m, {"b", "v", "q", "o", "w"}, {0, 1, 2, 3, 4});
    check_layers(m, {"a"}, {0, 1, 2, 3});
    check_all(m, {"i", "logits"}, "epilogue");
}

TEST_CASE("a stream that each layer adds to in place goes by the name of what entered the model (LLaVA)") {
    const Members m(R"(
        ids:
        pixels:
        v0 = linear(pixels, $vision_layers_0_mlp_weight)
        v1 = linear(v0, $vision_layers_1_mlp_weight)
        k = aten.eq.Scalar(ids, 5)
        e = aten.embedding.default($text_embed_weight, ids)
        x = aten.masked_scatter.default(e, k, v1)
        w0 = norm(x, $text_layers_0_norm_weight)
        d0 = linear(w0, $text_layers_0_mlp_weight)
        i0 = auto_deploy.flashinfer_fused_add_rms_norm_inplace.default(d0, x, $text_layers_0_post_norm_weight)
        y0 = linear(d0, $text_layers_0_end_weight)
        i1 = auto_deploy.flashinfer_fused_add_rms_norm_inplace.default(y0, x, $text_layers_1_norm_weight)
        d1 = linear(y0, $text_layers_1_mlp_weight)
        j1 = auto_deploy.flashinfer_fused_add_rms_norm_inplace.default(d1, x, $text_layers_1_post_norm_weight)
        y1 = linear(d1, $text_layers_1_end_weight)
        i2 = auto_deploy.flashinfer_fused_add_rms_norm_inplace.default(y1, x, $text_norm_weight)
        logits = linear(y1, $lm_head_weight)
        out logits
    )");
    check_all(m, {"k", "e"}, "prologue");
    check_all(m, {"w0", "d0", "i0", "y0"}, "0");
    check_all(m, {"i1", "d1", "j1", "y1"}, "1");
}

TEST_CASE("an index into a tensor is no result of the op that made it (Gemma 3n as torch.compile writes it)") {
    const Members m(family(R"(
        ids:
        all = aten.embedding.default($model_embed_per_layer_weight, ids) : 2x12x4x16
        e = aten.embedding.default($model_embed_weight, ids) : 2x12x64
        a-1 = aten.stack.default(e, e, e) : 3x2x12x64
    )",
                           R"(
        own{n} = getitem(all, {n}) : 2x12x16
        f{n} = getitem(a{p}, 0) : 2x12x64
        p{n} = aten.pow.Tensor_Scalar(f{n}, 2) : 2x12x64
        z{n} = aten.mul.Tensor(p{n}, $model_layers_{n}_norm_weight) : 2x12x64
        g{n} = linear(z{n}, $model_layers_{n}_gate_weight) : 2x12x16
        h{n} = aten.mul.Tensor(g{n}, own{n}) : 2x12x16
        d{n} = linear(h{n}, $model_layers_{n}_down_weight) : 2x12x64
        a{n} = aten.add.Tensor(a{p}, d{n}) : 3x2x12x64
    )",
                           R"(
        f = getitem(a{p}, 0) : 2x12x64
        w = norm(f, $model_norm_weight) : 2x12x64
        out w
    )"));
    check_layers(m, {"f", "p", "z", "g", "h", "d", "a"}, {0, 1, 2, 3});
    check_all(m, {"own0", "own1", "own3", "all", "e", "a-1"}, "prologue");
    check_all(m, {"w"}, "epilogue");
}

namespace {

/// A decomposed norm: {x} → h{i}, with its ops t, p, m, r named by {i}.
std::string norm_ops(std::string_view x, std::string_view i, std::string_view weight) {
    std::string text =
        "\nt{i} = aten.to.dtype({x}, torch.float32)\np{i} = aten.pow.Tensor_Scalar(t{i}, 2)\nm{i} = aten.mean.dim(p{i}, [-1])\n"
        "r{i} = aten.rsqrt.default(m{i})\ns{i} = aten.mul.Tensor(t{i}, r{i})\nc{i} = aten.to.dtype(s{i}, torch.bfloat16)\n"
        "h{i} = aten.mul.Tensor({w}, c{i})\n";
    for (const auto& [from, to] : {std::pair<std::string_view, std::string_view>{"{i}", i}, {"{x}", x}, {"{w}", weight}}) {
        for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) text.replace(at, from.size(), to);
    }
    return text;
}

/// A layer: norm, projection, sum.
std::string branch(std::string_view before, std::string_view after, std::string_view weights) {
    std::string norm_weight{weights};
    norm_weight.append("_norm_weight");
    std::string text = norm_ops(before, after, norm_weight);
    return text.append("y")
        .append(after)
        .append(" = linear(h")
        .append(after)
        .append(", ")
        .append(weights)
        .append("_proj_weight)\n")
        .append(after)
        .append(" = aten.add.Tensor(")
        .append(before)
        .append(", y")
        .append(after)
        .append(")\n");
}

const char* const embedding = "ids:\na = aten.embedding.default($model_embed_weight, ids)";

}  // namespace

TEST_CASE("layers that lack a block begin with a norm that has another name in each (DeciLM)") {
    std::string text{embedding};
    text += branch("a", "b0", "$model_layers_0_mlp");
    text += branch("b0", "b1", "$model_layers_1_mlp");
    text += branch("b1", "b2", "$model_layers_2_attn");
    text += branch("b2", "c3", "$model_layers_3_attn") + branch("c3", "b3", "$model_layers_3_mlp");
    text += norm_ops("b3", "z", "$model_norm_weight") + "out hz";
    const Members m(text);
    check_all(m, {"a"}, "prologue");
    check_layers(m, {"tb", "pb", "mb", "rb", "sb", "cb", "hb", "yb", "b"}, {0, 1, 2, 3});
    check_all(m, {"tc3", "pc3", "rc3", "c3"}, "3");
    check_all(m, {"tz", "pz", "mz", "rz", "hz"}, "epilogue");
}

TEST_CASE("the only layer of a draft model begins like those of the model (multi-token prediction)") {
    std::string text{embedding};
    text += branch("a", "b0", "$model_layers_0_mlp");
    text += branch("b0", "b1", "$model_layers_1_mlp");
    text += branch("b1", "b2", "$model_layers_2_mlp");
    text += norm_ops("a", "e", "$mtp_layers_0_enorm_weight") + norm_ops("b2", "g", "$mtp_layers_0_hnorm_weight");
    text += "k = aten.cat.default(he, hg)\nq = linear(k, $mtp_layers_0_eh_proj_weight)\n";
    text += branch("q", "d", "$mtp_layers_0_mlp");
    text += norm_ops("b2", "z", "$model_norm_weight") + "w = linear(hz, $lm_head_weight)\nv = linear(d, $lm_head_weight)\nout w, v";
    const Members m(text);
    check_all(m, {"te", "pe", "re", "he", "tg", "pg", "rg", "hg", "k", "q", "td", "d"}, "0");
    for (const char* node : {"te", "tg", "d"}) CHECK(m.stack(node) == "mtp");
    check_all(m, {"tb2", "b2"}, "2");
    check_all(m, {"tz", "hz", "w", "v"}, "epilogue");
}

TEST_CASE("a model that goes through its layers twice") {
    std::string text{embedding};
    std::string before = "a";
    for (const std::string run : {"u", "v"}) {
        for (const std::string layer : {"0", "1", "2"}) {
            std::string weights = "$model_layers_";
            weights.append(layer).append("_mlp");
            std::string after = run;
            after += layer;
            text += branch(before, after, weights);
            before = after;
        }
        std::string norm = run;
        norm += "n";
        text += norm_ops(before, norm, "$model_norm_weight");
        before = "h";
        before += norm;
    }
    text += "out hvn";
    const Members m(text);
    check_layers(m, {"tu", "pu", "ru", "hu", "yu", "u", "tv", "pv", "rv", "hv", "yv", "v"}, {0, 1, 2});
    check_all(m, {"tvn", "pvn", "rvn", "hvn"}, "epilogue");
    CHECK(m.layer("hun") == "2");
    REQUIRE(m.notes().size() == 1);
    CHECK(m.notes()[0].code == "ADP-MEMBER-008");
    CHECK(m.boundary(0) == std::vector<std::string>{"u0", "v0"});
}

TEST_CASE("cross-attention layers of a list of their own take turns with the layers (Flamingo)") {
    std::string text{embedding};
    text += branch("a", "x0", "$model_cross_layers_0_attn") + branch("x0", "b0", "$model_layers_0_mlp") +
            branch("b0", "b1", "$model_layers_1_mlp");
    text += branch("b1", "x1", "$model_cross_layers_1_attn") + branch("x1", "b2", "$model_layers_2_mlp") +
            branch("b2", "b3", "$model_layers_3_mlp");
    text += norm_ops("b3", "z", "$model_norm_weight") + "out hz";
    const Members m(text);
    check_layers(m, {"tb", "pb", "rb", "hb", "yb", "b"}, {0, 1, 2, 3});
    check_layers(m, {"tx", "px", "rx", "hx", "yx", "x"}, {0, 1});
    for (const char* node : {"tx1", "x1"}) CHECK(m.stack(node) == "cross");
    for (const char* node : {"tb2", "b2"}) CHECK(m.stack(node) == "model");
    check_all(m, {"tz", "hz"}, "epilogue");
}

TEST_CASE("a router that all layers share is called by each, also just before the layer that its weight is named after") {
    const Members m(family("ids:\na-1 = aten.embedding.default($model_embed_weight, ids)", R"(
        h{n} = norm(a{p}, $model_layers_{n}_norm_weight)
        e{n} = linear(h{n}, $model_layers_{n}_experts_weight)
        r{n} = linear(h{n}, $model_layers_3_router_weight)
        s{n} = aten.softmax.int(r{n}, -1)
        y{n} = aten.mul.Tensor(e{n}, s{n})
        a{n} = aten.add.Tensor(a{p}, y{n})
    )",
                           "f = norm(a{p}, $model_norm_weight)\nout f"));
    check_layers(m, {"h", "e", "r", "s", "y", "a"}, {0, 1, 2, 3});
}

TEST_CASE("one scalar a layer, picked from a weight of no layer") {
    const Members m(family("ids:\na-1 = aten.embedding.default($model_embed_weight, ids)", R"(
        q{n} = aten.select.int($model_lambdas, 0, {n})
        b{n} = aten.mul.Tensor(a{p}, q{n})
        h{n} = norm(b{n}, $model_layers_{n}_norm_weight)
        y{n} = linear(h{n}, $model_layers_{n}_mlp_weight)
        a{n} = aten.add.Tensor(b{n}, y{n})
    )",
                           "f = norm(a{p}, $model_norm_weight)\nout f"));
    check_all(m, {"q0", "q1", "q2", "q3"}, "prologue");
    check_layers(m, {"h", "y", "a"}, {0, 1, 2, 3});
}

TEST_CASE("the only check of a table that all layers read stays with it") {
    const Members m(family(R"(
        ids:
        a-1 = aten.embedding.default($model_embed_weight, ids)
        cos = aten.cos.default(ids)
        check = aten._assert_tensor_metadata.default(cos)
    )",
                           R"(
        h{n} = norm(a{p}, $model_layers_{n}_norm_weight)
        q{n} = linear(h{n}, $model_layers_{n}_q_weight)
        k{n} = aten.mul.Tensor(q{n}, cos)
        y{n} = linear(k{n}, $model_layers_{n}_o_weight)
        a{n} = aten.add.Tensor(a{p}, y{n})
    )",
                           "f = norm(a{p}, $model_norm_weight)\nout f"));
    check_all(m, {"cos", "check"}, "prologue");
}

TEST_CASE("a projection after the layers whose input is a quantized value and its scales is no end of the last layer (NVFP4)") {
    const Members m(family("ids:\na-1 = aten.embedding.default($model_embed_weight, ids)", R"(
        h{n} = norm(a{p}, $model_layers_{n}_norm_weight)
        q{n} = quantize(h{n}, $model_layers_{n}_mlp_input_scale)
        v{n} = getitem(q{n}, 0)
        s{n} = getitem(q{n}, 1)
        y{n} = gemm(v{n}, $model_layers_{n}_mlp_weight, s{n})
        a{n} = aten.add.Tensor(a{p}, y{n})
    )",
                           R"(
        f = aten.layer_norm.default(a{p}, 64)
        q = quantize(f, $lm_head_input_scale)
        v = getitem(q, 0)
        s = getitem(q, 1)
        y = gemm(v, $lm_head_weight, s)
        out y
    )"));
    check_layers(m, {"h", "q", "v", "s", "y", "a"}, {0, 1, 2, 3});
    check_all(m, {"f", "q", "v", "s", "y"}, "epilogue");
}

TEST_CASE("a stack whose stream is made of weights alone, such as learned queries, begins after it (Q-Former)") {
    const Members m(family(R"(
        ids:
        e = aten.expand.default($qformer_query_tokens, [2, 4, 64])
        a-1 = aten.layer_norm.default(e, 64, $qformer_norm_weight)
        mem = aten.embedding.default($embed_weight, ids)
    )",
                           R"(
        k{n} = linear(mem, $qformer_layers_{n}_k_weight)
        q{n} = linear(a{p}, $qformer_layers_{n}_q_weight)
        y{n} = aten.mul.Tensor(q{n}, k{n})
        a{n} = aten.add.Tensor(a{p}, y{n})
    )",
                           "f = norm(a{p}, $norm_weight)\nout f"));
    check_all(m, {"e", "a-1"}, "prologue");
    check_layers(m, {"k", "q", "y", "a"}, {0, 1, 2, 3});
}

TEST_CASE("a layer ends in a scalar of its own, which the next layer's norm and residual read (Gemma 4)") {
    std::string text{embedding};
    std::string before = "a";
    for (const std::string n : {"0", "1", "2"}) {
        std::string weights = "$model_layers_";
        weights.append(n).append("_mlp");
        std::string sum = "b";
        sum += n;
        text += branch(before, sum, weights);
        before = "e";
        before += n;
        text.append(before).append(" = aten.mul_.Tensor(").append(sum).append(", $model_layers_").append(n).append("_layer_scalar)\n");
        text.append("k").append(n).append(" = aten._assert_tensor_metadata.default(").append(before).append(")\n");
    }
    text += norm_ops(before, "z", "$model_norm_weight") + "out hz";
    const Members m(text);
    check_layers(m, {"tb", "pb", "mb", "rb", "sb", "hb", "b", "e"}, {0, 1, 2});
    check_all(m, {"k0"}, "1");
    check_all(m, {"tz", "pz", "sz", "hz"}, "epilogue");
}
