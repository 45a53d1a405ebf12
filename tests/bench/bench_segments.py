"""From a PyTorch profiler trace alone to tables of layers: against inflating it with the best tool; and how the search for layers grows with the trace."""
import gzip
import random
import shutil

from bench import Bench, Bound
from bench_kineto import KERNEL

LAYER = ["void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfloat16*, __nv_bfloat16*, unsigned int)",
         "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT", "fused_rope_kernel", "void store_kvcache<128l>(StoreKVCacheParams)",
         "fmhaSm100fKernel_QkvBfloat16OBfloat16H128PagedKvCausalP64VarSeqQ8Kv128PersistentSwapsAbForGen", "nvjet_sm90_tst_32x64_64x16_4x1_v_bz_TNN",
         "void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfloat16*, __nv_bfloat16*, unsigned int)",
         "nvjet_sm90_tst_256x16_64x6_4x1_v_bz_TNT", "void vllm::act_and_mul_kernel<c10::BFloat16>(c10::BFloat16*, c10::BFloat16 const*, int)",
         "nvjet_sm90_tst_64x16_64x16_4x1_v_bz_TNT"]
BEFORE = ["void at::native::indexSelectSmallIndex<c10::BFloat16, long>(int)"]
BEHIND = ["nvjet_sm90_tst_128x16_64x9_2x1_v_bz_TNN", "void at::native::reduce_kernel<512, 1, at::native::ArgMaxOps<float> >(int)"]


def write_trace(path, replays, layers):
    """Replays of a captured graph of that many layers."""
    random.seed(1)
    time = 7_764_760_000_000_000
    names = BEFORE + LAYER * layers + BEHIND
    with gzip.open(path, "wt", compresslevel=2) as file:
        file.write('{\n  "schemaVersion": 1, "simulated": true,\n  "traceEvents": [\n')
        for replay in range(replays):
            lines = []
            for node, name in enumerate(names):
                length = random.randrange(1200, 90_000)
                grid, block = 1 + node * 37 % 500, 128 << node % 3
                lines.append(KERNEL % (name, 13, time // 1000, time % 1000, length // 1000, length % 1000, 13, 400_000 + replay, 32 + node % 200,
                                       node % 5 * 1024, grid / 132, grid * block / 4224, grid, block, (7 << 32) + node, 400_000 + replay, 13,
                                       time // 1000, time % 1000))
                time += length + random.randrange(200, 900)
                if len(lines) == 1000:  # a step may be the whole trace
                    file.write("".join(lines))
                    lines.clear()
            file.write("".join(lines))
            time += 500_000
        file.write('  {"name": "process_name", "ph": "M", "pid": 0, "args": {"name": "python3"}}\n  ]\n}\n')


def segment(setting, trace):
    """The command that finds the layers of `trace`, and writes nothing."""
    config = setting.scratch / f"{trace.stem}.yaml"
    config.write_text(f"pipeline: segments\nstages:\n  - stage: trace.kineto\n    with: {{file: {trace}}}\n  - stage: window.replay\n    with: {{phase: all}}\n"
                      "  - stage: segment.period\n")
    return [setting.adpipe, "run", "--quiet", config]


def benches(setting):
    steps, one_step = {}, {}
    for size, label in ((10_000, "10,000 kernels"), (100_000, "100,000 kernels"), (1_000_000, "1,000,000 kernels")):
        many = setting.scratch / f"steps_{size}.json.gz"
        write_trace(many, size // 503, 50)
        steps[label] = segment(setting, many)
        single = setting.scratch / f"step_{size}.json.gz"
        write_trace(single, 1, size // 10)
        one_step[label] = segment(setting, single)
    linear = {"1,000,000 kernels": [Bound(12, "ratio", "100,000 kernels")]}
    yield Bench("segments: layers of steps alike", steps, linear, may_take=3)
    yield Bench("segments: layers of one step", one_step, linear, may_take=3)
    if shutil.which("igzip") is None:
        print("bench: segments: the layer table is skipped, igzip is not there (Debian and Ubuntu: isal)")
        return
    trace = setting.scratch / "steps_1000000.json.gz"
    yield Bench("segments: layer table of a million kernels",
                {"adpipe": [setting.adpipe, "tables", trace, "-o", setting.scratch / "tables", "--quiet"], "igzip": ["igzip", "-dc", trace]},
                {"adpipe": [Bound(2.2, "ratio", "igzip")]}, may_take=5)
