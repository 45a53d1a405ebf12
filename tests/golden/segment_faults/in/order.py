"""A trace of the PyTorch profiler: six layers of a small model, launched kernel by kernel. Argument: what is wrong with it."""
import json
import random
import sys

LAYER = ["RMSNormKernel", "nvjet_tst_64x8_64x16_4x1_v_bz_TNT", "fused_rope_kernel", "fmhaSm100fKernel_H128", "nvjet_tst_64x8_64x16_2x1_v_bz_TNT",
         "FusedAddRMSNormKernel", "nvjet_tst_256x16_64x6_4x1_v_bz_TNT", "act_and_mul_kernel", "nvjet_tst_64x8_64x16_2x1_v_bz_TNT"]
names = ["indexSelectSmallIndex"] + 6 * LAYER + ["RMSNormKernel", "nvjet_tst_128x16_64x9_2x1_v_bz_TNN"]
places = list(range(len(names)))
if sys.argv[1] == "mixed":  # each kernel has the times of one some places on
    places = [place * 23 % len(names) for place in places]
if sys.argv[1] == "noise":
    random.seed(1)
    names = [f"{'abcdefgh'[int(8 * random.random())]}_kernel" for _ in places]
print(json.dumps({"traceEvents": [
    {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 100.5 + 10 * place, "dur": 8.25, "args": {"device": 0, "stream": 7}}
    for name, place in zip(names, places)]}))
