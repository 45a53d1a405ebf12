// What makes layers hard to tell, one case each. All are decided without names of activations unless the case is about names.

#include "graph_text.hpp"

#include <doctest/doctest.h>

using namespace adpipe;
using namespace adpipe::member;

namespace {

/// A model of `count` layers: what comes before, each layer with {n} and {p} filled in, what comes after with {p} = the last layer.
std::string model(std::string_view before, std::string_view layer, std::string_view after, int count = 4) {
    std::string text{before};
    for (int n = 0; n < count; ++n) text += "\n" + in_layer(layer, n);
    return text + "\n" + in_layer(after, count);
}

constexpr std::string_view embed = R"(
    ids:
    s_in_0 = aten.embedding.default($model_embed_weight, ids)
)";

/// x + branch(norm(x)), norm decomposed: the weightless first ops of the norm stand between the layers.
constexpr std::string_view decomposed_layer = R"(
    f{n} = aten.to.dtype(s_in_{n}, torch.float32)
    p{n} = aten.pow.Tensor_Scalar(f{n}, 2)
    m{n} = aten.mean.dim(p{n}, -1)
    r{n} = aten.rsqrt.default(m{n})
    y{n} = aten.mul.Tensor(f{n}, r{n})
    z{n} = aten.mul.Tensor(y{n}, $model_layers_{n}_norm_weight)
    u{n} = linear(z{n}, $model_layers_{n}_up_proj_weight)
    d{n} = linear(u{n}, $model_layers_{n}_down_proj_weight)
    a{n} = aten.add.Tensor(s_in_{n}, d{n})
)";

std::string chained(std::string_view layer) {
    // The stream of layer n is the result of layer n-1.
    std::string text{layer};
    for (std::size_t at = text.find("s_in_{n}"); at != std::string::npos; at = text.find("s_in_{n}")) text.replace(at, 8, "a{p}");
    return text;
}

std::string decomposed_model(int count = 4) {
    std::string text{embed};
    text += in_layer(decomposed_layer, 0);
    for (int n = 1; n < count; ++n) text += in_layer(chained(decomposed_layer), n);
    text += in_layer(R"(
        ff = aten.to.dtype(a{p}, torch.float32)
        fp = aten.pow.Tensor_Scalar(ff, 2)
        fm = aten.mean.dim(fp, -1)
        fr = aten.rsqrt.default(fm)
        fy = aten.mul.Tensor(ff, fr)
        fz = aten.mul.Tensor(fy, $model_norm_weight)
        logits = linear(fz, $lm_head_weight)
        out logits
    )",
                     count);
    return text;
}

}  // namespace

TEST_CASE("the weightless first ops of a norm belong to the norm's layer, in the first, middle and last layer and after it") {
    const Members m(decomposed_model());
    for (const char* op : {"f", "p", "m", "r", "y", "z", "u", "d", "a"}) {
        for (const int n : {0, 1, 2, 3}) {
            const std::string node = op + std::to_string(n);
            CAPTURE(node);
            CHECK(m.layer(node) == std::to_string(n));
        }
    }
    CHECK(m.layer("s_in_0") == "prologue");
    for (const char* node : {"ff", "fp", "fm", "fr", "fy", "fz", "logits"}) {
        CAPTURE(node);
        CHECK(m.layer(node) == "epilogue");
    }
    CHECK(m.boundary(1) == std::vector<std::string>{"a1"});
    CHECK(m.notes().empty());
}

TEST_CASE("a single layer has no repetition to learn from, but keeps what its weights enclose") {
    const Members m(decomposed_model(1));
    CHECK(m.layer("u0") == "0");
    CHECK(m.layer("d0") == "0");
    CHECK(m.layer("logits") == "epilogue");
}

TEST_CASE("the number at the end of a name says nothing") {
    // Names as a pattern matcher gives them: counted backwards.
    std::string text = decomposed_model();
    const auto swap = [&](const std::string& a, const std::string& b) {
        for (std::size_t at = 0; (at = text.find(a, at)) != std::string::npos; at += b.size()) text.replace(at, a.size(), b);
    };
    swap("u0", "linear_3");
    swap("u1", "linear_2");
    swap("u2", "linear_1");
    const Members m(text, NameUse::use);
    CHECK(m.layer("linear_3") == "0");
    CHECK(m.layer("linear_2") == "1");
    CHECK(m.layer("linear_1") == "2");
}

TEST_CASE("a table made once is the prologue's, what each layer makes of it is the layer's") {
    const Members m(model(R"(
        ids:
        positions:
        table = aten.cos.default(positions)
        a-1 = aten.embedding.default($model_embed_weight, ids)
    )",
                          R"(
        c{n} = aten.unsqueeze.default(table, 1)
        q{n} = linear(a{p}, $model_layers_{n}_q_proj_weight)
        t{n} = aten.mul.Tensor(q{n}, c{n})
        o{n} = linear(t{n}, $model_layers_{n}_o_proj_weight)
        a{n} = aten.add.Tensor(a{p}, o{n})
    )",
                          "logits = linear(a{p}, $lm_head_weight)\nout logits"));
    CHECK(m.layer("table") == "prologue");
    CHECK(m.layer("c0") == "0");
    CHECK(m.layer("c2") == "2");
    CHECK(m.layer("a3") == "3");
    CHECK(m.reason("c2") == "each layer has one at this place");
}

TEST_CASE("a chain of casts that runs through all layers beside the stream is cut at each layer") {
    const Members m(model(R"(
        ids:
        positions:
        k-1 = aten.cos.default(positions)
        a-1 = aten.embedding.default($model_embed_weight, ids)
    )",
                          R"(
        k{n} = aten.to.dtype(k{p}, torch.bfloat16)
        q{n} = linear(a{p}, $model_layers_{n}_q_proj_weight)
        t{n} = aten.mul.Tensor(q{n}, k{n})
        o{n} = linear(t{n}, $model_layers_{n}_o_proj_weight)
        a{n} = aten.add.Tensor(a{p}, o{n})
    )",
                          "logits = linear(a{p}, $lm_head_weight)\nout logits"));
    CHECK(m.layer("k-1") == "prologue");
    for (const int n : {0, 1, 2, 3}) CHECK(m.layer("k" + std::to_string(n)) == std::to_string(n));
}

TEST_CASE("what the loop over the layers picks with the layer's number lies outside the layers") {
    const Members m(model(R"(
        ids:
        all = aten.embedding.default($model_embed_per_layer_weight, ids)
        a-1 = aten.embedding.default($model_embed_weight, ids)
    )",
                          R"(
        full{n} = aten.slice.Tensor(all, 0, 0, 9223372036854775807)
        own{n} = aten.select.int(full{n}, 2, {n})
        g{n} = linear(a{p}, $model_layers_{n}_gate_weight)
        h{n} = aten.mul.Tensor(g{n}, own{n})
        o{n} = linear(h{n}, $model_layers_{n}_o_proj_weight)
        a{n} = aten.add.Tensor(a{p}, o{n})
    )",
                          "logits = linear(a{p}, $lm_head_weight)\nout logits"));
    for (const char* node : {"own0", "own3", "full0", "full2"}) {
        CAPTURE(node);
        CHECK(m.layer(node) == "prologue");
    }
    CHECK(m.layer("h2") == "2");
}

TEST_CASE("a value that a layer makes and later layers read stays with it, what they make of it is theirs") {
    const Members m(model("ids:\na-1 = aten.embedding.default($model_embed_weight, ids)", R"(
        k{n} = linear(a{p}, $model_layers_{n}_k_proj_weight)
        o{n} = linear(k{n}, $model_layers_{n}_o_proj_weight)
        a{n} = aten.add.Tensor(a{p}, o{n})
    )",
                          R"(
        t4 = aten.transpose.int(k1, 1, 2)
        q4 = linear(a3, $model_layers_4_q_proj_weight)
        s4 = sdpa(q4, t4)
        o4 = linear(s4, $model_layers_4_p_proj_weight)
        a4 = aten.add.Tensor(a3, o4)
        t5 = aten.transpose.int(k1, 1, 2)
        q5 = linear(a4, $model_layers_5_q_proj_weight)
        s5 = sdpa(q5, t5)
        o5 = linear(s5, $model_layers_5_p_proj_weight)
        a5 = aten.add.Tensor(a4, o5)
        logits = linear(a5, $lm_head_weight)
        out logits
    )"));
    CHECK(m.layer("k1") == "1");
    CHECK(m.layer("t4") == "4");
    CHECK(m.layer("t5") == "5");
    CHECK(m.boundary(3) == std::vector<std::string>{"k1", "a3"});
}

TEST_CASE("a cast of the next layer may stand before the residual forks") {
    // The first layer has it too, after the embedding: so it begins a layer.
    const Members m(model("ids:\na-1 = aten.embedding.default($model_embed_weight, ids)", R"(
        t{n} = aten.to.dtype(a{p}, torch.bfloat16)
        w{n} = norm(t{n}, $model_layers_{n}_norm_weight)
        o{n} = linear(w{n}, $model_layers_{n}_mixer_weight)
        a{n} = aten.add.Tensor(t{n}, o{n})
    )",
                          "f = norm(a{p}, $model_norm_weight)\nlogits = linear(f, $lm_head_weight)\nout logits"));
    for (const int n : {0, 1, 2, 3}) {
        CHECK(m.layer("t" + std::to_string(n)) == std::to_string(n));
        CHECK(m.layer("a" + std::to_string(n)) == std::to_string(n));
    }
}

TEST_CASE("attention and feed-forward side by side, and a norm after the branch") {
    const Members parallel(model("ids:\na-1 = aten.embedding.default($model_embed_weight, ids)", R"(
        w{n} = norm(a{p}, $model_layers_{n}_norm_weight)
        x{n} = linear(w{n}, $model_layers_{n}_attn_weight)
        y{n} = linear(w{n}, $model_layers_{n}_mlp_weight)
        b{n} = aten.add.Tensor(a{p}, x{n})
        a{n} = aten.add.Tensor(b{n}, y{n})
    )",
                                 "f = norm(a{p}, $model_norm_weight)\nout f"));
    CHECK(parallel.layer("b2") == "2");
    CHECK(parallel.layer("a3") == "3");
    CHECK(parallel.boundary(2) == std::vector<std::string>{"a2"});
    const Members after(model("ids:\na-1 = aten.embedding.default($model_embed_weight, ids)", R"(
        x{n} = linear(a{p}, $model_layers_{n}_attn_weight)
        w{n} = norm(x{n}, $model_layers_{n}_norm_weight)
        a{n} = aten.add.Tensor(a{p}, w{n})
    )",
                              "f = norm(a{p}, $model_norm_weight)\nout f"));
    CHECK(after.layer("a3") == "3");
    CHECK(after.layer("f") == "epilogue");
}

TEST_CASE("the embedding's scale and position sum look like the end of a layer, but are the prologue's") {
    const Members m(model(R"(
        ids:
        tokens = aten.embedding.default($model_wte_weight, ids)
        places = aten.embedding.default($model_wpe_weight, ids)
        a-1 = aten.add.Tensor(tokens, places)
    )",
                          R"(
        w{n} = norm(a{p}, $model_h_{n}_ln_weight)
        o{n} = linear(w{n}, $model_h_{n}_mlp_weight)
        a{n} = aten.add.Tensor(a{p}, o{n})
    )",
                          "f = norm(a{p}, $model_ln_f_weight)\nout f"));
    CHECK(m.layer("a-1") == "prologue");
    CHECK(m.layer("a0") == "0");
    CHECK(m.layer("a3") == "3");
}

TEST_CASE("a fused add and norm names both layers, its sum ends the layer before") {
    const Members m(model("ids:\ns-1 = aten.embedding.default($model_embed_weight, ids)\nd-1 = aten.relu.default(s-1)", R"(
        g{n} = auto_deploy.fused_add_norm.default(d{p}, s{p}, $model_layers_{n}_norm_weight)
        w{n} = getitem(g{n}, 0)
        s{n} = getitem(g{n}, 1)
        u{n} = linear(w{n}, $model_layers_{n}_up_weight)
        d{n} = linear(u{n}, $model_layers_{n}_down_weight)
    )",
                          "g = auto_deploy.fused_add_norm.default(d{p}, s{p}, $model_norm_weight)\nw = getitem(g, 0)\nout w"));
    CHECK(m.layer("g2") == "2");
    CHECK(m.also("g2") == "1");
    CHECK(m.layer("w2") == "2");
    CHECK(m.layer("s2") == "1");
    CHECK(m.also("s2") == "2");
    CHECK(m.layer("g") == "epilogue");
}

TEST_CASE("the in-place add and norm: later lines read operands by name") {
    const Members m(R"(
        ids:
        x = aten.embedding.default($model_embed_weight, ids)
        n0 = norm(x, $model_layers_0_norm_weight)
        o0 = linear(n0, $model_layers_0_o_proj_weight)
        i1 = auto_deploy.flashinfer_fused_add_rms_norm_inplace.default(o0, x, $model_layers_1_norm_weight)
        o1 = linear(o0, $model_layers_1_o_proj_weight)
        i2 = auto_deploy.flashinfer_fused_add_rms_norm_inplace.default(o1, x, $model_layers_2_norm_weight)
        o2 = linear(o1, $model_layers_2_o_proj_weight)
        if = auto_deploy.flashinfer_fused_add_rms_norm_inplace.default(o2, x, $model_norm_weight)
        logits = linear(o2, $lm_head_weight)
        out logits
    )");
    CHECK(m.layer("o0") == "0");
    CHECK(m.layer("i1") == "1");
    CHECK(m.layer("o1") == "1");
    CHECK(m.layer("o2") == "2");
    CHECK(m.layer("if") == "epilogue");
    CHECK(m.layer("logits") == "epilogue");
}

TEST_CASE("stream markers are where the work is that they bracket") {
    const Members m(model("ids:\na-1 = aten.embedding.default($model_embed_weight, ids)", R"(
        w{n} = norm(a{p}, $model_layers_{n}_norm_weight)
        b{n} = begin_aux_stream_passthrough(w{n}, 1)
        x{n} = linear(b{n}, $model_layers_{n}_shared_weight)
        e{n} = end_aux_stream_passthrough(x{n}, 1)
        y{n} = linear(w{n}, $model_layers_{n}_experts_weight)
        t{n} = wait_aux_stream_passthrough(y{n}, 1)
        z{n} = aten.add.Tensor(t{n}, e{n})
        a{n} = aten.add.Tensor(a{p}, z{n})
    )",
                          "f = norm(a{p}, $model_norm_weight)\nout f"));
    for (const char* node : {"b3", "e3", "t3", "z3", "a3"}) {
        CAPTURE(node);
        CHECK(m.layer(node) == "3");
    }
}

TEST_CASE("two stacks with the same numbers, the encoder's output is read by every decoder layer") {
    std::string text = R"(
        frames:
        ids:
        e-1 = linear(frames, $encoder_embed_weight)
    )";
    for (int n = 0; n < 2; ++n) {
        text += in_layer(R"(
            w{n} = norm(e{p}, $encoder_layers_{n}_norm_weight)
            x{n} = linear(w{n}, $encoder_layers_{n}_mlp_weight)
            e{n} = aten.add.Tensor(e{p}, x{n})
        )",
                         n);
    }
    text += R"(
        memory = norm(e1, $encoder_norm_weight)
        d-1 = aten.embedding.default($decoder_embed_weight, ids)
    )";
    for (int n = 0; n < 3; ++n) {
        text += in_layer(R"(
            v{n} = norm(d{p}, $decoder_layers_{n}_norm_weight)
            m{n} = aten.view.default(memory, 24, 64)
            k{n} = linear(m{n}, $decoder_layers_{n}_cross_k_weight)
            c{n} = sdpa(v{n}, k{n})
            o{n} = linear(c{n}, $decoder_layers_{n}_out_weight)
            d{n} = aten.add.Tensor(d{p}, o{n})
        )",
                         n);
    }
    text += "f = norm(d2, $decoder_norm_weight)\nlogits = linear(f, $lm_head_weight)\nout logits";
    const Members m(text);
    CHECK(m.layer("e1") == "1");
    CHECK(m.stack("e1") == "encoder");
    CHECK(m.layer("memory") == "epilogue");
    CHECK(m.stack("memory") == "encoder");
    CHECK(m.layer("d-1") == "prologue");
    CHECK(m.stack("d-1") == "decoder");
    CHECK(m.layer("k1") == "1");
    CHECK(m.stack("k1") == "decoder");
    CHECK(m.layer("m0") == "0");
    CHECK(m.layer("m2") == "2");
    CHECK(m.stack("m2") == "decoder");
    CHECK(m.layer("d2") == "2");
    CHECK(m.layer("logits") == "epilogue");
}

TEST_CASE("a block whose weights several layers call belongs, per call, to the calling layer") {
    std::string text{"ids:\na-1 = aten.embedding.default($model_embed_weight, ids)"};
    for (int n = 0; n < 6; ++n) {
        if (n % 2 == 1) {
            text += in_layer(R"(
                h{n} = linear(a{p}, $model_layers_1_shared_block_weight)
                j{n} = linear(h{n}, $model_layers_{n}_adapter_weight)
                b{n} = aten.add.Tensor(a{p}, j{n})
            )",
                             n);
        } else {
            text += in_layer("\nb{n} = aten.relu.default(a{p})\n", n);
        }
        text += in_layer(R"(
            w{n} = norm(b{n}, $model_layers_{n}_norm_weight)
            x{n} = linear(w{n}, $model_layers_{n}_mixer_weight)
            a{n} = aten.add.Tensor(b{n}, x{n})
        )",
                         n);
    }
    text += "f = norm(a5, $model_norm_weight)\nout f";
    const Members m(text);
    CHECK(m.layer("h1") == "1");
    CHECK(m.layer("h3") == "3");
    CHECK(m.layer("h5") == "5");
    CHECK(m.layer("a2") == "2");
}

TEST_CASE("layers with parts missing, and holes in the numbers") {
    const Members m(R"(
        ids:
        a = aten.embedding.default($model_embed_weight, ids)
        n0 = norm(a, $model_layers_0_norm_weight)
        o0 = linear(n0, $model_layers_0_attn_weight)
        b0 = aten.add.Tensor(a, o0)
        m0 = norm(b0, $model_layers_0_post_norm_weight)
        p0 = linear(m0, $model_layers_0_mlp_weight)
        c0 = aten.add.Tensor(b0, p0)
        m2 = norm(c0, $model_layers_2_post_norm_weight)
        p2 = linear(m2, $model_layers_2_mlp_weight)
        c2 = aten.add.Tensor(c0, p2)
        n3 = norm(c2, $model_layers_3_norm_weight)
        o3 = linear(n3, $model_layers_3_attn_weight)
        b3 = aten.add.Tensor(c2, o3)
        f = norm(b3, $model_norm_weight)
        out f
    )");
    CHECK(m.layer("c0") == "0");
    CHECK(m.layer("c2") == "2");
    CHECK(m.layer("b3") == "3");
    REQUIRE(m.notes().size() == 1);
    CHECK(m.notes()[0].code == "ADP-MEMBER-006");
    CHECK(m.notes()[0].message == "module (root) has no node of layer 1");
}

TEST_CASE("a module without numbered layers is all prologue") {
    const Members m(R"(
        hidden:
        n = norm(hidden, $midlayer_norm_weight)
        q = linear(n, $midlayer_self_attn_q_proj_weight)
        out q
    )");
    CHECK(m.layer("q") == "prologue");
    CHECK(m.layers().layers.empty());
}

TEST_CASE("metadata that ops prepare for all layers is the prologue's, even if one layer reads it") {
    const Members m(model(R"(
        ids:
        lengths:
        prepared = auto_deploy.flashinfer_attention_prepare_metadata.default(lengths)
        pages = getitem(prepared, 0)
        a-1 = aten.embedding.default($model_embed_weight, ids)
    )",
                          R"(
        w{n} = norm(a{p}, $model_layers_{n}_norm_weight)
        o{n} = linear(w{n}, $model_layers_{n}_mixer_weight)
        a{n} = aten.add.Tensor(a{p}, o{n})
    )",
                          R"(
        q = linear(a{p}, $model_layers_4_q_proj_weight)
        s = attention_with_cache(q, pages)
        o = linear(s, $model_layers_4_o_proj_weight)
        a = aten.add.Tensor(a{p}, o)
        f = norm(a, $model_norm_weight)
        out f
    )"));
    CHECK(m.layer("prepared") == "prologue");
    CHECK(m.layer("pages") == "prologue");
    CHECK(m.layer("s") == "4");
}

TEST_CASE("a cache for each layer belongs to its layer, what all layers read to nobody") {
    std::string text = "ids:\nlengths:\nr0_kv_cache:\nr1_kv_cache:\nr2_kv_cache:\na-1 = aten.embedding.default($model_embed_weight, ids)";
    for (int n = 0; n < 3; ++n) {
        text += in_layer(R"(
            q{n} = linear(a{p}, $model_layers_{n}_q_proj_weight)
            s{n} = attention_with_cache(q{n}, lengths, r{n}_kv_cache)
            o{n} = linear(s{n}, $model_layers_{n}_o_proj_weight)
            a{n} = aten.add.Tensor(a{p}, o{n})
        )",
                         n);
    }
    text += "\nf = norm(a2, $model_norm_weight)\nout f";
    const Members m(text);
    CHECK(m.layer("r0_kv_cache") == "0");
    CHECK(m.layer("r2_kv_cache") == "2");
    CHECK(m.layer("lengths") == "input");
}

TEST_CASE("hidden states that leave the model between layers end their layer") {
    const Members m(model("ids:\na-1 = aten.embedding.default($model_embed_weight, ids)", R"(
        w{n} = norm(a{p}, $model_layers_{n}_norm_weight)
        o{n} = linear(w{n}, $model_layers_{n}_mixer_weight)
        a{n} = aten.add.Tensor(a{p}, o{n})
    )",
                          R"(
        f = norm(a{p}, $model_norm_weight)
        captured = aten.cat.default(a0, a2, f)
        draft = linear(captured, $fc_weight)
        out f, draft
    )"));
    CHECK(m.layer("a0") == "0");
    CHECK(m.layer("a2") == "2");
    CHECK(m.layer("captured") == "epilogue");
    CHECK(m.layer("draft") == "epilogue");
}

TEST_CASE("what is added between two layers, and what is made for it, is in neither's pattern") {
    std::string text = "ids:\nimage:\na-1 = aten.embedding.default($model_embed_weight, ids)";
    for (int n = 0; n < 5; ++n) {
        text += in_layer(R"(
            w{n} = norm(b{p}, $model_layers_{n}_norm_weight)
            o{n} = linear(w{n}, $model_layers_{n}_mixer_weight)
            a{n} = aten.add.Tensor(b{p}, o{n})
        )",
                         n);
        if (n < 2) text += in_layer("\ng{n} = aten.tanh.default(image)\nb{n} = aten.sub.Tensor(a{n}, g{n})\n", n);
        else text.replace(text.rfind("a" + std::to_string(n) + " ="), 2, "b" + std::to_string(n));
    }
    text.replace(text.find("a-1"), 3, "b-1");
    text += "\nf = norm(b4, $model_norm_weight)\nout f";
    const Members m(text);
    CHECK(m.layer("a0") == "0");
    CHECK(m.layer("b0") == "0");
    CHECK(m.layer("g0") == "prologue");
    CHECK(m.layer("g1") == "prologue");
}

TEST_CASE("several values carry a layer to the next") {
    const Members m(model(R"(
        ids:
        l-1 = aten.embedding.default($model_embed_weight, ids)
        r-1 = aten.relu.default(l-1)
    )",
                          R"(
        x{n} = linear(l{p}, $model_layers_{n}_f_weight)
        r{n} = aten.add.Tensor(r{p}, x{n})
        y{n} = linear(r{n}, $model_layers_{n}_g_weight)
        l{n} = aten.add.Tensor(l{p}, y{n})
    )",
                          "both = aten.cat.default(l{p}, r{p})\nlogits = linear(both, $lm_head_weight)\nout logits"));
    CHECK(m.layer("l1") == "1");
    CHECK(m.layer("r1") == "1");
    CHECK(m.boundary(1) == std::vector<std::string>{"r1", "l1"});
}

TEST_CASE("a module path in a name decides where the dataflow leaves a choice, and is not believed against it") {
    // One layer: nothing repeats, so the dataflow cannot tell the scale before it from its first op.
    const std::string text = R"(
        ids:
        e = aten.embedding.default($model_embed_weight, ids)
        model_layers_0_norm_pow_1 = aten.pow.Tensor_Scalar(e, 2)
        model_layers_0_norm_mul = aten.mul.Tensor(model_layers_0_norm_pow_1, $model_layers_0_norm_weight)
        q = linear(model_layers_0_norm_mul, $model_layers_0_q_weight)
        n = norm(q, $model_layers_1_norm_weight)
        model_layers_0_view_9 = aten.view.default(n)
        o = linear(model_layers_0_view_9, $model_layers_1_o_weight)
        out o
    )";
    const Members m(text, NameUse::use);
    CHECK(m.layer("model_layers_0_norm_pow_1") == "0");
    CHECK(m.layer("model_layers_0_view_9") == "1");
    REQUIRE(m.notes().size() == 1);
    CHECK(m.notes()[0].code == "ADP-MEMBER-001");
    CHECK(m.notes()[0].message == "the name %model_layers_0_view_9 contradicts the dataflow; the dataflow decides");
    const Members by_path(text, NameUse::first);
    CHECK(by_path.layer("model_layers_0_view_9") == "0");
}

TEST_CASE("parts that have lost the names learn them from the whole graph in the same text") {
    const Members m(R"(
        module whole
        ids:
        model_embed = aten.embedding.default($model_embed_weight, ids)
        model_layers_0_to = aten.to.dtype(model_embed, torch.float32)
        model_layers_0_linear = linear(model_layers_0_to, $model_layers_0_w_weight)
        out model_layers_0_linear
        module split
        ids:
        e = submod_0(ids)
        l = submod_1(e)
        out l
        module split.submod_0
        ids:
        embedding_default = aten.embedding.default($model_embed_weight, ids)
        to_default = aten.to.dtype(embedding_default, torch.float32)
        out to_default
        module split.submod_1
        to_default:
        linear_default = linear(to_default, $model_layers_0_w_weight)
        out linear_default
    )",
                    NameUse::use);
    CHECK(m.layer("model_layers_0_to") == "0");
    const auto part = m.graph().find("to_default", 2);
    REQUIRE(part.has_value());
    CHECK(m.layers().of[*part].layer == 0);
}

TEST_CASE("sizes that a layer reads and all layers use go back to where they are read") {
    const Members m(model(R"(
        ids:
        rows = aten.sym_size.int(ids, 0)
        a-1 = aten.embedding.default($model_embed_weight, ids)
    )",
                          R"(
        q{n} = linear(a{p}, $model_layers_{n}_q_proj_weight)
        v{n} = aten.view.default(q{n}, rows)
        o{n} = linear(v{n}, $model_layers_{n}_o_proj_weight)
        a{n} = aten.add.Tensor(a{p}, o{n})
    )",
                          "f = norm(a{p}, $model_norm_weight)\nout f"));
    CHECK(m.layer("rows") == "prologue");
    CHECK(m.layer("v1") == "1");
}

TEST_CASE("layers of one kind are told from others") {
    std::string text = decomposed_model(4);
    const Members m(text);
    REQUIRE(m.layers().layers.size() == 4);
    CHECK(m.layers().layers[0].kind == m.layers().layers[3].kind);
}

TEST_CASE("what nothing reads stays where it is made: in its layer, or after the layers") {
    const Members m(model("ids:\na-1 = aten.embedding.default($model_embed_weight, ids)", R"(
        w{n} = norm(a{p}, $model_layers_{n}_norm_weight)
        o{n} = linear(w{n}, $model_layers_{n}_mixer_weight)
        d{n} = aten.mean.dim(o{n}, -1)
        a{n} = aten.add.Tensor(a{p}, o{n})
    )",
                          R"(
        f = norm(a{p}, $model_norm_weight)
        pooled = aten.mean.dim(f, -1)
        unread = aten.tanh.default(pooled)
        out f
    )"));
    CHECK(m.layer("d1") == "1");
    CHECK(m.layer("d3") == "3");
    CHECK(m.layer("pooled") == "epilogue");
    CHECK(m.layer("unread") == "epilogue");
}

TEST_CASE("a check goes with the op that uses what it checks next, and nobody's layer depends on it") {
    std::string layer = chained(decomposed_layer);
    const std::string cast = "f{n} = aten.to.dtype(a{p}, torch.float32)";
    layer.replace(layer.find(cast), cast.size(),
                  "    c{n} = aten._assert_tensor_metadata.default(a{p}, None, None, torch.bfloat16)\n    " + cast);
    const std::string text = "ids:\na-1 = aten.embedding.default($model_embed_weight, ids)";
    const Members m(model(text, layer, R"(
        c = aten._assert_tensor_metadata.default(a{p}, None, None, torch.bfloat16)
        f = aten.to.dtype(a{p}, torch.float32)
        z = aten.mul.Tensor(f, $model_norm_weight)
        out z
    )"));
    for (const int n : {0, 1, 2, 3}) {
        for (const char* op : {"c", "f", "p", "m", "r", "a"}) {
            const std::string node = op + std::to_string(n);
            CAPTURE(node);
            CHECK(m.layer(node) == std::to_string(n));
        }
    }
    CHECK(m.layer("c") == "epilogue");
    CHECK(m.reason("c1") == "checks what f1 uses");
}

TEST_CASE("what no layer needs in a model of two stacks goes with the stack that follows") {
    const std::string stack = R"(
        a{n} = linear(b{p}, $S_block_{n}_up_weight)
        b{n} = linear(a{n}, $S_block_{n}_down_weight)
    )";
    std::string text = "ids:\n";
    for (const char* name : {"encoder", "decoder"}) {
        text += std::string{name} + "_mask = aten.arange.default(4)\n" + name + "_b-1 = aten.relu.default(ids)\n";
        for (int n = 0; n < 3; ++n) {
            std::string layer = in_layer(stack, n);
            for (std::size_t at = 0; (at = layer.find("$S_", at)) != std::string::npos;)
                layer.replace(at, 2, std::string{"$"}.append(name));
            for (const char* value : {"a", "b"}) {
                for (int k = -1; k < 3; ++k) {
                    const std::string from = value + std::to_string(k);
                    for (std::size_t at = 0; (at = layer.find(from, at)) != std::string::npos; at += from.size() + 8) {
                        layer.replace(at, from.size(), std::string{name} + "_" + from);
                    }
                }
            }
            text += layer;
        }
    }
    const Members m(text + "y = aten.add.Tensor(encoder_b2, decoder_b2)\nout y\n");
    CHECK(m.stack("encoder_mask") == "encoder");
    CHECK(m.stack("decoder_mask") == "decoder");
    CHECK(m.layer("decoder_mask") == "prologue");
    CHECK(m.stack("decoder_a1") == "decoder");
}
