#!/usr/bin/env python3
"""Blocks that a multiprocessor holds, against what the PyTorch profiler computed with CUDA's own calculator. Argument: occupancy_of_launches."""
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
DATA = Path(os.environ.get("ADPIPE_SHARED", PROJECT.parent / "shared")) / "data" / "kineto"
TRACES = ["qwen1.5_0.5b_eager_h100.json.gz", "sglang_decode_b300.trace.json.gz"]


def launches(file):
    with gzip.open(file) as stream:
        trace = json.load(stream)
    device = trace["deviceProperties"][0]
    seen = {}
    for event in trace["traceEvents"]:
        arguments = event.get("args", {})
        if event.get("cat") != "kernel" or "est. achieved occupancy %" not in arguments:
            continue
        threads = arguments["block"][0] * arguments["block"][1] * arguments["block"][2]
        key = (device["computeMajor"], device["computeMinor"], threads, arguments["registers per thread"], arguments["shared memory"],
               device["maxThreadsPerMultiprocessor"], device["regsPerMultiprocessor"], device["sharedMemPerMultiprocessor"])
        seen[key, arguments["blocks per SM"]] = arguments["est. achieved occupancy %"]
    return seen


def main():
    if not (DATA / TRACES[0]).exists():
        print(f"skipped: {DATA} is not here")
        return 77
    failed = compared = 0
    for trace in TRACES:
        cases = launches(DATA / trace)
        lines = "".join(" ".join(map(str, key)) + "\n" for key, _ in cases)
        answers = subprocess.run([sys.argv[1]], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
        for ((key, blocks_per_multiprocessor), wanted), answer in zip(cases.items(), answers, strict=True):
            blocks, warps, most_warps = map(int, answer.split())
            # The profiler counts the blocks that the grid has for each multiprocessor, where these are fewer.
            got = min(1.0, min(blocks_per_multiprocessor / blocks, 1.0) * warps / most_warps) * 100 if blocks > 0 else 0
            if wanted == 0:
                continue  # shared memory that a kernel must ask for: the profiler does not know that it did, and says that no block fits
            compared += 1
            if abs(got - wanted) > 1:
                failed += 1
                print(f"{trace}: {key}, {blocks_per_multiprocessor} blocks for each: {got:.1f} %, the profiler says {wanted} %")
    print(f"{compared} launches, {failed} differ")
    return 1 if failed or compared < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
