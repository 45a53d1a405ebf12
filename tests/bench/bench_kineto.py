"""Reading a PyTorch profiler trace of a million kernels: against inflating it with the best tool, and against Python's json."""
import gzip
import random
import shutil
import sys

from bench import Bench, Bound

KERNELS = 1_000_000
READ_WITH_PYTHON = "import gzip, json, sys; json.load(gzip.open(sys.argv[1]))"

NAMES = ["nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT",
         "void flashinfer::norm::RMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfloat16*, __nv_bfloat16*, unsigned int, float)",
         "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int, "
         "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
         "void tensorrt_llm::kernels::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(tensorrt_llm::AllReduceFusionPattern)1, "
         "__nv_bfloat16, 8, true>(tensorrt_llm::kernels::AllReduceFusionParams)"]

KERNEL = """  {
    "ph": "X", "cat": "kernel", "name": "%s", "pid": 0, "tid": %d,
    "ts": %d.%03d, "dur": %d.%03d,
    "args": {
      "queued": 0, "device": 0, "context": 1,
      "stream": %d, "correlation": %d,
      "registers per thread": %d,
      "shared memory": %d,
      "blocks per SM": %.6f,
      "warps per SM": %.6f,
      "grid": [%d, 1, 1],
      "block": [%d, 1, 1],
      "est. achieved occupancy %%": 0,
      "graph id": 7, "graph node id": %d
    }
  },
  {
    "ph": "f", "id": %d, "pid": 0, "tid": %d, "ts": %d.%03d,
    "cat": "ac2g", "name": "ac2g", "bp": "e"
  },
"""


def write_trace(path):
    """Replays of a graph of 1,000 kernels, in the profiler's own spelling."""
    random.seed(1)
    time = 7_764_760_000_000_000
    with gzip.open(path, "wt", compresslevel=2) as file:
        file.write('{\n  "schemaVersion": 1, "simulated": true, "baseTimeNanoseconds": 1775078550000000000,\n  "traceEvents": [\n')
        for replay in range(KERNELS // 1000):
            lines = []
            for node in range(1000):
                length = random.randrange(1200, 90_000)
                stream = 21 if node % 7 == 3 else 13
                grid, block = 1 + node * 37 % 500, 128 << node % 3
                lines.append(KERNEL % (NAMES[node * 5 % 4] if node % 9 else NAMES[0] + str(node), stream, time // 1000, time % 1000, length // 1000,
                                       length % 1000, stream, 400_000 + replay, 32 + node % 200, node % 5 * 1024, grid / 132, grid * block / 4224,
                                       grid, block, (7 << 32) + node, 400_000 + replay, stream, time // 1000, time % 1000))
                time += length + random.randrange(200, 900)
            file.write("".join(lines))
        file.write('  {"name": "process_name", "ph": "M", "pid": 0, "args": {"name": "python3"}}\n  ]\n}\n')


def benches(setting):
    if shutil.which("igzip") is None:
        print("bench: kineto: skipped, igzip is not there (Debian and Ubuntu: isal)")
        return
    trace = setting.scratch / "million.json.gz"
    config = setting.scratch / "read.yaml"
    config.write_text(f"pipeline: read\nstages:\n  - stage: trace.kineto\n    with: {{file: {trace}}}\n")
    write_trace(trace)
    yield Bench("kineto: read a million kernels", {"adpipe": [setting.adpipe, "run", "--quiet", config], "igzip": ["igzip", "-dc", trace]},
                {"adpipe": [Bound(2, "ratio", "igzip"), Bound(300e6, "memory")]})
    yield Bench("kineto: against Python's json", {"adpipe": [setting.adpipe, "run", "--quiet", config],
                                                  "python": [sys.executable, "-c", READ_WITH_PYTHON, trace]},
                {"adpipe": [Bound(1 / 25, "ratio", "python")]}, may_take=1)
