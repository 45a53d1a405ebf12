#!/usr/bin/env python3
"""Writes the simulated trace of this folder: make_trace.py [FILE]. The same bytes every time (before compression).

What a PyTorch profiler with stacks and shapes would record of a server that runs a model of twelve layers (three dense, nine with experts) without CUDA graphs: one prefill of 512
tokens and three decode steps of eight sequences. Nothing here was measured. Names of kernels are of the kind that public recordings have; operand
shapes follow from the model's sizes; times are the larger of bytes over bandwidth and operations over peak, with a drawn deviation.
"""
import gzip
import json
import random
import sys
from pathlib import Path

HIDDEN, HEADS, KV_HEADS, HEAD_DIM, DENSE_WIDTH, EXPERTS, TOP_K, EXPERT_WIDTH, VOCABULARY = 2048, 16, 4, 128, 8192, 32, 4, 1024, 32000
LAYERS, DENSE_LAYERS = 12, 3
QKV = (HEADS + 2 * KV_HEADS) * HEAD_DIM
BANDWIDTH, PEAK, OVERHEAD_NS = 3.35e12, 800e12, 1800  # bytes/s, operations/s, least duration of a kernel
BF16, F32, LONG = "c10::BFloat16", "float", "long int"


def ceil(a, b):
    return -(-a // b)


def gemm_kernel(tokens, n):
    """A large tile where there are many rows, a skinny one with the operands swapped where there are few."""
    if tokens >= 128:
        return "nvjet_tst_128x256_64x4_2x1_2cta_v_bz_TNT", [ceil(tokens, 128) * ceil(n, 256), 1, 1], [384, 1, 1], 168, 213_760
    return "nvjet_tst_64x8_64x16_4x1_v_bz_TNT", [ceil(n, 64), ceil(tokens, 8), 1], [384, 1, 1], 168, 180_224


class Recording:
    def __init__(self):
        self.random = random.Random(20260401)
        self.events, self.host, self.device, self.correlation, self.external, self.python = [], 10_000_000, 0, 0, 0, 0

    def event(self, category, name, start, duration, pid, tid, arguments):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": round(start / 1000, 3), "dur": round(duration / 1000, 3),
                            "args": arguments})

    def frames(self, names, body):
        """`body` runs inside of Python frames."""
        begins = []
        for _ in names:
            begins.append(self.host)
            self.host += 700
        body()
        for name, begin in zip(reversed(names), reversed(begins)):
            self.host += 400
            self.python += 1
            self.event("python_function", name, begin, self.host - begin, 4242, 4242, {"Python id": self.python})

    def launch(self, op, stack, shapes, types, kernel, grid, block, registers, shared_memory, moved, operations=0.0):
        """One operator that launches one kernel."""
        self.external += 1
        self.correlation += 1
        external, correlation = self.external, self.correlation

        def body():
            begin = self.host
            self.host += 1500
            self.event("cuda_runtime", "cudaLaunchKernelExC", self.host, 2100, 4242, 4242, {"External id": external, "cbid": 430, "correlation": correlation})
            start = max(self.device + 900, self.host + 2600)
            duration = max(moved / BANDWIDTH, operations / PEAK) * 1e9 * self.random.uniform(1.15, 1.4) + OVERHEAD_NS
            self.device = start + int(duration)
            blocks = grid[0] * grid[1] * grid[2]
            self.event("kernel", kernel, start, self.device - start, 0, 7,
                       {"External id": external, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": correlation,
                        "registers per thread": registers, "shared memory": shared_memory, "blocks per SM": round(blocks / 132, 6),
                        "grid": grid, "block": block})
            self.host += 3000
            self.event("cpu_op", op, begin, self.host - begin, 4242, 4242, {"External id": external, "Input type": types, "Input Dims": shapes})

        self.frames(stack, body)

    def gemm(self, stack, tokens, k, n):
        kernel, grid, block, registers, shared_memory = gemm_kernel(tokens, n)
        self.launch("aten::mm", stack, [[tokens, k], [k, n]], [BF16, BF16], kernel, grid, block, registers, shared_memory,
                    2 * (tokens * k + k * n + tokens * n), 2.0 * tokens * k * n)

    def norm(self, stack, tokens, first):
        name = "RMSNormKernel" if first else "FusedAddRMSNormKernel"
        op = "flashinfer::rmsnorm" if first else "flashinfer::fused_add_rmsnorm"
        shapes = [[tokens, HIDDEN], [HIDDEN]] if first else [[tokens, HIDDEN], [tokens, HIDDEN], [HIDDEN]]
        self.launch(op, stack, shapes, [BF16] * len(shapes), f"void flashinfer::norm::{name}<8u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfloat16*, unsigned int)",
                    [tokens, 1, 1], [32, 8, 1], 32, 64 + 4 * HIDDEN, 2 * tokens * HIDDEN * (2 if first else 4))


def attention_block(r, tokens, context, sequences, first):
    layer = "layers.py(130): forward"
    r.norm([layer, "layers.py(37): rms_norm"], tokens, first)
    r.gemm([layer, "nn.Module: Attention", "attention.py(80): forward", "linear.py(21): qkv_proj"], tokens, HIDDEN, QKV)
    attention = [layer, "nn.Module: Attention"]
    r.launch("flashinfer::apply_rope", [*attention, "attention.py(80): forward", "rope.py(54): apply_rope"], [[tokens, QKV], [tokens]], [BF16, LONG],
             "void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheKernel<true, 128u, 8u, 16u, __nv_bfloat16, long>(__nv_bfloat16*, float*, long*)",
             [ceil(tokens, 8), 1, 1], [16, 8, 1], 48, 0, 4 * tokens * QKV)
    r.launch("vllm::reshape_and_cache_flash", [*attention, "attention.py(80): forward", "cache.py(31): store"], [[tokens, KV_HEADS, HEAD_DIM]] * 2, [BF16, BF16],
             "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16, (vllm::Fp8KVCacheDataType)0>(__nv_bfloat16 const*, __nv_bfloat16*, long const*)",
             [tokens, 1, 1], [512, 1, 1], 26, 0, 8 * tokens * KV_HEADS * HEAD_DIM)
    where = [*attention, "attention.py(80): forward"]
    if sequences == 1:
        r.launch("flash_attn::fwd", [*where, "flash.py(66): prefill"], [[tokens, HEADS, HEAD_DIM], [tokens, KV_HEADS, HEAD_DIM]], [BF16, BF16],
                 "void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>, cute::C<1>, "
                 "cute::C<1>>, cute::tuple<cute::C<128>, cute::C<176>, cute::C<128>>, 128, cutlass::bfloat16_t, float>>>>(Params)",
                 [132, 1, 1], [384, 1, 1], 168, 221_184, 4 * tokens * QKV, 2.0 * tokens * tokens * HEADS * HEAD_DIM)
    else:
        moved = 4 * sequences * context * KV_HEADS * HEAD_DIM
        r.launch("flashinfer::batch_decode", [*where, "flash.py(91): decode"], [[sequences, HEADS, HEAD_DIM], [4096, 2, 16, KV_HEADS, HEAD_DIM]], [BF16, BF16],
                 "void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0, 2u, 4u, 8u, 16u, 4u, 2u, __nv_bfloat16>(Params)",
                 [sequences * 4, KV_HEADS, 1], [16, 4, 2], 96, 65_536, moved)
        r.launch("flashinfer::batch_decode", [*where, "flash.py(95): decode"], [[sequences * 4, HEADS, HEAD_DIM]], [F32],
                 "void flashinfer::PersistentVariableLengthMergeStatesKernel<8u, 16u, 8u, 4u, float, __nv_bfloat16, int>(float*, float*, __nv_bfloat16*)",
                 [132, 1, 1], [16, 8, 1], 40, 8_192, 16 * sequences * HEADS * HEAD_DIM)
    r.gemm([*attention, "attention.py(80): forward", "linear.py(30): o_proj"], tokens, HIDDEN, HIDDEN)
    r.norm(["layers.py(130): forward", "layers.py(37): rms_norm"], tokens, False)


def activation(r, stack, tokens, width):
    r.launch("vllm::silu_and_mul", stack, [[tokens, 2 * width]], [BF16],
             "void vllm::act_and_mul_kernel<c10::BFloat16, &(c10::BFloat16 vllm::silu_kernel<c10::BFloat16>(c10::BFloat16 const&)), true>(c10::BFloat16*, int)",
             [tokens, 1, 1], [1024, 1, 1], 30, 0, 6 * tokens * width)


def feed_forward(r, tokens, dense):
    if dense:
        block = ["layers.py(130): forward", "nn.Module: MLP"]
        r.gemm([*block, "mlp.py(20): forward"], tokens, HIDDEN, 2 * DENSE_WIDTH)
        activation(r, [*block, "mlp.py(20): forward", "activation.py(12): silu_and_mul"], tokens, DENSE_WIDTH)
        r.gemm([*block, "mlp.py(20): forward"], tokens, DENSE_WIDTH, HIDDEN)
        return
    block = ["layers.py(130): forward", "nn.Module: MoE"]
    r.gemm([*block, "moe.py(55): forward"], tokens, HIDDEN, EXPERTS)
    r.launch("vllm::topk_softmax", [*block, "moe.py(55): forward", "router.py(18): select_experts"], [[tokens, EXPERTS]], [BF16],
             f"void vllm::moe::topkGatingSoftmax<8, {EXPERTS}, 4, 16, int, __nv_bfloat16>(__nv_bfloat16 const*, bool const*, float*, int, int*, int*, int, int, int)",
             [ceil(tokens, 64), 1, 1], [32, 4, 1], 40, 0, 8 * tokens * EXPERTS)
    r.launch("vllm::moe_align_block_size", [*block, "moe.py(55): forward", "router.py(41): align"], [[tokens, TOP_K]], ["int"],
             "void vllm::moe::moe_align_block_size_kernel<int>(int const*, int*, int*, int*, int, int, int, unsigned long)", [1, 1, 1], [1024, 1, 1], 32, 4_352,
             32 * tokens * TOP_K)
    rows, tile = tokens * TOP_K, 128 if tokens >= 128 else 16
    used = min(EXPERTS, rows)
    for up, width, out in ((True, HIDDEN, 2 * EXPERT_WIDTH), (False, EXPERT_WIDTH, HIDDEN)):
        r.launch("vllm::fused_moe", [*block, "moe.py(55): forward", "fused_moe.py(112): invoke"], [[rows, width], [EXPERTS, out, width]], [BF16, BF16],
                 "fused_moe_kernel", [ceil(rows, tile) * ceil(out, 128), 1, 1], [256 if tile == 128 else 128, 1, 1], 232 if tile == 128 else 96, 98_304,
                 2 * (rows * (width + out) + used * width * out), 2.0 * rows * width * out)
        if up:
            activation(r, [*block, "moe.py(55): forward", "activation.py(12): silu_and_mul"], rows, EXPERT_WIDTH)
    r.launch("vllm::moe_sum", [*block, "moe.py(55): forward"], [[tokens, TOP_K, HIDDEN]], [BF16],
             "void vllm::moe::moe_sum_kernel<c10::BFloat16, 4>(c10::BFloat16*, c10::BFloat16 const*, int)", [tokens, 1, 1], [1024, 1, 1], 24, 0, 2 * tokens * 5 * HIDDEN)


def step(r, kind, tokens, sequences, context):
    begin = r.host

    def forward():
        def layers():
            r.launch("aten::embedding", ["nn.Module: Embedding"], [[VOCABULARY, HIDDEN], [tokens]], [BF16, LONG],
                     "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned int, 2, 2, -2, true>(at::cuda::detail::TensorInfo<c10::BFloat16, unsigned int>)",
                     [tokens * 4, 1, 1], [128, 1, 1], 32, 0, 4 * tokens * HIDDEN)
            for layer in range(LAYERS):
                def one_layer(layer=layer):
                    attention_block(r, tokens, context, sequences, layer == 0)
                    feed_forward(r, tokens, layer < DENSE_LAYERS)
                r.frames([f"nn.Module: DecoderLayer_{layer}"], one_layer)
            r.norm(["layers.py(37): rms_norm"], tokens, False)
            r.gemm(["nn.Module: LMHead", "linear.py(44): logits"], sequences, HIDDEN, VOCABULARY)
            r.launch("aten::argmax", ["sampler.py(29): greedy"], [[sequences, VOCABULARY]], [BF16],
                     "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::BFloat16, at::native::ArgMaxOps<float>, unsigned int, long, 4, 4>>(Params)",
                     [sequences, 1, 1], [32, 16, 1], 40, 16_384, 2 * sequences * VOCABULARY)
        r.frames(["nn.Module: Model", "model.py(70): forward"], layers)

    r.frames(["server.py(210): run", "worker.py(133): execute"], forward)
    letter = "p" if kind == "prefill" else "d"
    r.event("user_annotation", f"{kind}[bs={sequences} tok={tokens} {letter}={sequences}]", begin, r.host - begin, 4242, 4242, {})
    r.event("cuda_runtime", "cudaStreamSynchronize", r.host + 200, max(r.device - r.host, 0) + 3000, 4242, 4242, {"cbid": 131, "correlation": 0})
    r.host = r.device = max(r.host, r.device) + 60_000


def main():
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent / "simulated_served_model.trace.json.gz"
    r = Recording()
    step(r, "prefill", 512, 1, 512)
    for i in range(3):
        step(r, "decode", 8, 8, 1024 + i)
    trace = {"schemaVersion": 1, "simulated": True, "with_stack": 1, "record_shapes": 1,
             "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "computeMajor": 9, "computeMinor": 0, "maxThreadsPerBlock": 1024,
                                   "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32, "sharedMemPerBlock": 49152, "numSms": 132,
                                   "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 232448, "sharedMemPerMultiprocessor": 233472}],
             "traceEvents": sorted(r.events, key=lambda event: (event["ts"], -event["dur"]))}
    file.write_bytes(gzip.compress(json.dumps(trace, separators=(",", ":")).encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
