"""Parse and membership of every layer of the full-size dumps, as whole processes."""
import sys

from bench import HERE, Bench, Bound

LAYERS = (61, 122, 244)
EXPERTS = 256
EXPONENT = 1.1  # of the time in the number of layers
STEMS = ("001_export_export_to_gm", "057_post_load_fusion_fuse_finegrained_fp8_moe", "092_compile_compile_model")


LAYER = """%model_layers_{n}_norm_rms = auto_deploy.torch_rmsnorm.default(%{stream} : 2x4x7168 : torch.bfloat16, %model_layers_{n}_input_layernorm_weight : 7168 : torch.bfloat16, 1e-06) : 2x4x7168 : torch.bfloat16
%torch_linear_simple_{a} = auto_deploy.torch_linear_simple.default(%model_layers_{n}_norm_rms : 2x4x7168 : torch.bfloat16, %model_layers_{n}_self_attn_qkv_proj_weight : 9216x7168 : torch.bfloat16, None) : 2x4x9216 : torch.bfloat16
%view_{a} = aten.view.default(%torch_linear_simple_{a} : 2x4x9216 : torch.bfloat16, [2, 4, 72, 128]) : 2x4x72x128 : torch.bfloat16
%split_{a} = aten.split_with_sizes.default(%view_{a} : 2x4x72x128 : torch.bfloat16, [56, 8, 8], 2) : (2x4x56x128, 2x4x8x128, 2x4x8x128) : (torch.bfloat16, torch.bfloat16, torch.bfloat16)
%getitem_{a} = <built-in function getitem>(%split_{a} : ? : tuple, 0) : 2x4x56x128 : torch.bfloat16
%getitem_{b} = <built-in function getitem>(%split_{a} : ? : tuple, 1) : 2x4x8x128 : torch.bfloat16
%getitem_{c} = <built-in function getitem>(%split_{a} : ? : tuple, 2) : 2x4x8x128 : torch.bfloat16
%rope_{a} = auto_deploy.flashinfer_rope.default(%getitem_{a} : 2x4x56x128 : torch.bfloat16, %getitem_{b} : 2x4x8x128 : torch.bfloat16, %position_ids : 2x4 : torch.int64, %rope_table : 4096x128 : torch.float32) : (2x4x56x128, 2x4x8x128) : (torch.bfloat16, torch.bfloat16)
%getitem_{d} = <built-in function getitem>(%rope_{a} : ? : tuple, 0) : 2x4x56x128 : torch.bfloat16
%getitem_{e} = <built-in function getitem>(%rope_{a} : ? : tuple, 1) : 2x4x8x128 : torch.bfloat16
%attention_{a} = auto_deploy.torch_attention.default(%getitem_{d} : 2x4x56x128 : torch.bfloat16, %getitem_{e} : 2x4x8x128 : torch.bfloat16, %getitem_{c} : 2x4x8x128 : torch.bfloat16) : 2x4x56x128 : torch.bfloat16
%view_{b} = aten.view.default(%attention_{a} : 2x4x56x128 : torch.bfloat16, [2, 4, 7168]) : 2x4x7168 : torch.bfloat16
%torch_linear_simple_{b} = auto_deploy.torch_linear_simple.default(%view_{b} : 2x4x7168 : torch.bfloat16, %model_layers_{n}_self_attn_o_proj_weight : 7168x7168 : torch.bfloat16, None) : 2x4x7168 : torch.bfloat16
%add_{a} = aten.add.Tensor(%{stream} : 2x4x7168 : torch.bfloat16, %torch_linear_simple_{b} : 2x4x7168 : torch.bfloat16) : 2x4x7168 : torch.bfloat16
%rms_{a} = auto_deploy.torch_rmsnorm.default(%add_{a} : 2x4x7168 : torch.bfloat16, %model_layers_{n}_post_attention_layernorm_weight : 7168 : torch.bfloat16, 1e-06) : 2x4x7168 : torch.bfloat16
%torch_linear_simple_{c} = auto_deploy.torch_linear_simple.default(%rms_{a} : 2x4x7168 : torch.bfloat16, %model_layers_{n}_mlp_gate_weight : 256x7168 : torch.bfloat16, None) : 2x4x256 : torch.bfloat16
%topk_{a} = aten.topk.default(%torch_linear_simple_{c} : 2x4x256 : torch.bfloat16, 8) : (2x4x8, 2x4x8) : (torch.bfloat16, torch.int64)
%getitem_{f} = <built-in function getitem>(%topk_{a} : ? : tuple, 0) : 2x4x8 : torch.bfloat16
%getitem_{g} = <built-in function getitem>(%topk_{a} : ? : tuple, 1) : 2x4x8 : torch.int64
%moe_{a} = auto_deploy.torch_moe.default(%rms_{a} : 2x4x7168 : torch.bfloat16, %getitem_{g} : 2x4x8 : torch.int64, %getitem_{f} : 2x4x8 : torch.bfloat16, [{w1}], [{w2}], [{w3}]) : 2x4x7168 : torch.bfloat16
%add_{b} = aten.add.Tensor(%add_{a} : 2x4x7168 : torch.bfloat16, %moe_{a} : 2x4x7168 : torch.bfloat16) : 2x4x7168 : torch.bfloat16
"""


def write_model(path, layers):
    """A decoder of `layers` layers of one kind, experts listed one by one, in the form of an exported graph."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("# Transform: export_to_gm\n# Stage: export\n# GraphModules found: 1\n" + 80 * "=" + "\n# GraphModule: (root)\n" + 80 * "=" + "\n"
                   "%input_ids : 2x4 : torch.int64\n%position_ids : 2x4 : torch.int64\n"
                   "%embedding = aten.embedding.default(%model_embed_tokens_weight : 129280x7168 : torch.bfloat16, "
                   "%input_ids : 2x4 : torch.int64) : 2x4x7168 : torch.bfloat16\n")
        stream = "embedding"
        for n in range(layers):
            numbers = {letter: 7 * n + i for i, letter in enumerate("abcdefg")}
            experts = {f"w{k + 1}": ", ".join(f"model_layers_{n}_mlp_experts_{e}_{part}_proj_weight" for e in range(EXPERTS))
                       for k, part in enumerate(("gate", "up", "down"))}
            file.write(LAYER.format(n=n, stream=stream, **numbers, **experts))
            stream = f"add_{numbers['b']}"
        file.write(f"%norm = auto_deploy.torch_rmsnorm.default(%{stream} : 2x4x7168 : torch.bfloat16, %model_norm_weight : 7168 : torch.bfloat16, "
                   "1e-06) : 2x4x7168 : torch.bfloat16\n"
                   "%logits = auto_deploy.torch_linear_simple.default(%norm : 2x4x7168 : torch.bfloat16, "
                   "%lm_head_weight : 129280x7168 : torch.bfloat16, None) : 2x4x129280 : torch.bfloat16\noutput %logits\n")


def growth(setting):
    """Twice the layers, at most 2 to the EXPONENT times the time. Starting the program is in all of them."""
    commands, bounds = {}, {}
    for layers in LAYERS:
        dump = setting.scratch / f"{layers}_layers.txt"
        write_model(dump, layers)
        commands[f"{layers} layers"] = [setting.adpipe, "members", dump, "--format", "tsv"]
        if layers > LAYERS[0]:
            bounds[f"{layers} layers"] = [Bound((layers / LAYERS[0]) ** EXPONENT, "ratio", f"{LAYERS[0]} layers")]
    return Bench("members by number of layers", commands, bounds)


def parse(setting, stem):
    """Only the parse; the program itself takes some 6 MB of the memory."""
    dump = setting.samples / "dumps" / f"{stem}.txt"
    config = setting.scratch / f"parse_{stem}.yaml"
    config.write_text(f"pipeline: parse\nstages:\n  - stage: select.file\n    with: {{file: {dump}}}\n  - stage: parse.auto\n")
    return Bench(f"parse of {stem}.txt", {"adpipe run": [setting.adpipe, "run", "--quiet", config], "wc -l": ["wc", "-l", dump]},
                 {"adpipe run": [Bound(8 * dump.stat().st_size, "memory")]})


def benches(setting):
    yield growth(setting)
    for stem in (STEMS[0], STEMS[-1]):
        yield parse(setting, stem)
    for stem in STEMS:
        dump = setting.samples / "dumps" / f"{stem}.txt"
        yield Bench(f"members of {stem}.txt",
                    {"adpipe members": [setting.adpipe, "members", dump, "--format", "tsv"],
                     "wc -l": ["wc", "-l", dump],
                     "Python": [sys.executable, HERE / "members_baseline.py", dump]},
                    {"adpipe members": [Bound(10, "ratio", "wc -l"), Bound(0.1, "ratio", "Python")]})
