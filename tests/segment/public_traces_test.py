#!/usr/bin/env python3
"""`adpipe layers` on public traces of real servers: as many layers as the model has. Argument: the adpipe program."""
import csv
import json
import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
DATA = Path(os.environ.get("ADPIPE_SHARED", PROJECT.parent / "shared")) / "data"

# Trace, phase, {(layers, layers of each kind)} of its programs.
FOUND = [
    ("kineto/sglang_decode_b300.trace.json.gz", "decode", {(32, (32,))}),  # a dense model of 32 layers
    ("kineto/sglang_decode_mi300.trace.json.gz", "decode", {(32, (32,))}),  # the same on AMD
    ("kineto/vllm_decode_full/graph_execution.json.gz", "decode", {(24, (12, 12))}),  # sliding and full attention take turns
    ("kineto/qwen1.5_0.5b_eager_h100.json.gz", "all", {(24, (24,))}),  # eager; the model has 24 layers
]
# No language model, or not enough of one.
NOTHING = [
    "kineto/gpu_only_mi210.json.gz",
    "kineto/resnet50_2021_style.pt.trace.json.gz",
    "nsys/power_iteration_3.20.2.sqlite",
    "rocm/decode_kernel_trace.csv",  # thinned: of each step the kernels of one layer are left
]


def run(adpipe, *arguments):
    return subprocess.run([adpipe, "layers", *map(str, arguments)], capture_output=True, text=True)


def check_found(adpipe, trace, phase, wanted):
    process = run(adpipe, DATA / trace, "--phase", phase, "--format", "json")
    if process.returncode != 0:
        return f"exit {process.returncode}: {process.stderr.strip()}"
    result = json.loads(process.stdout)
    got = {(program["layers"], tuple(kind["layers"] for kind in program["kinds"])) for program in result["programs"]}
    if got != wanted:
        return f"want {wanted}, got {got}"
    unsure = [program for program in result["programs"] if program["confidence"] < 0.8]
    if unsure:
        return f"right, but not sure: {unsure[0]['confidence']}"
    nowhere = [kernel for kernel in result["kernels"] if kernel["layer"] is None]
    return f"{len(nowhere)} kernels in no known place" if nowhere else ""


def check_operators(adpipe):
    """Every kernel of the replay finds its operator in the recording of the capture."""
    folder = DATA / "kineto/vllm_decode_full"
    companion = next((folder / "capture_traces").glob("*.json.gz"))
    process = run(adpipe, folder / "graph_execution.json.gz", "--companion", companion, "--format", "tsv")
    if process.returncode != 0:
        return f"exit {process.returncode}: {process.stderr.strip()}"
    rows = list(csv.DictReader(process.stdout.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    unknown = [row["name"] for row in rows if row["operator"] == "-"]
    attention = {row["operator"] for row in rows if "kernel_unified_attention" in row["name"]}
    if len(rows) != 421 or unknown or attention != {"vllm::unified_attention_with_output"}:
        return f"{len(unknown)} of {len(rows)} kernels without operator; attention by {attention}"
    return ""


def check_nothing(adpipe, trace):
    process = run(adpipe, DATA / trace)
    if process.returncode == 1 and "[ADP-SEG-001]" in process.stderr and not process.stdout:
        return ""
    return f"exit {process.returncode}, want 1 and ADP-SEG-001: {process.stderr.strip() or process.stdout[:200]}"


def main():
    adpipe = sys.argv[1]
    if not (DATA / FOUND[0][0]).exists():
        print(f"skipped: {DATA} is not here")
        return 77
    failed = 0
    for trace, problem in ([(case[0], check_found(adpipe, *case)) for case in FOUND] + [(trace, check_nothing(adpipe, trace)) for trace in NOTHING]
                           + [("operators of vLLM's replay", check_operators(adpipe))]):
        failed += bool(problem)
        print(f"{'FAILED' if problem else 'ok    '} {trace} {problem}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
