#!/usr/bin/env python3
"""Reads PyTorch profiler traces with Python's json, and compares every row with what the reader of trace.kineto makes of them.

    kineto_reference.py --trace-dump FILE [--skip-without-shared] TRACE...

A TRACE that begins with "shared:" is relative to the folder of public traces beside the checkout, or $ADPIPE_SHARED.
"""
import argparse
import gzip
import json
import os
import subprocess
import sys
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
SKIP = 77

KERNEL, MEMCPY, MEMSET = 0, 1, 2
USER, CPU_OP, PYTHON, GPU_USER = 1, 2, 3, 4
GPU_KIND = {"kernel": KERNEL, "gpu_memcpy": MEMCPY, "gpu_memset": MEMSET, "Kernel": KERNEL, "Memcpy": MEMCPY, "Memset": MEMSET}
RANGE_SOURCE = {"cpu_op": CPU_OP, "Operator": CPU_OP, "user_annotation": USER, "gpu_user_annotation": GPU_USER, "python_function": PYTHON}
CALLS = ("cuda_runtime", "cuda_driver", "Runtime")


def shared_file(name):
    root = Path(os.environ.get("ADPIPE_SHARED", PROJECT.parent / "shared"))
    return root / name


def load(path):
    opener = gzip.open if path.name.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return json.load(file, parse_float=Decimal)


def nanoseconds(microseconds):
    return int((Decimal(microseconds) * 1000).to_integral_value(ROUND_HALF_UP))


def times(event):
    start = nanoseconds(event["ts"])
    return {"start": start, "end": start + nanoseconds(event.get("dur", 0))}


def identity(args):
    return args.get("External id", args.get("external id"))


def kernel_row(event, row):
    args = event["args"]
    triple = lambda name: args.get(name, [None] * 3)
    node = args.get("graph node id") or None
    layer = args.get("layer")
    return {"table": "kernel", "kind": GPU_KIND[event["cat"]], "row": row, **times(event), "name": event["name"],
            "device": args["device"], "context": args.get("context"), "stream": args["stream"], "correlation": args["correlation"],
            "graph": args.get("graph id") or (node >> 32 if node else None) or None, "graph_node": node, "external": identity(args),
            "grid": triple("grid"), "block": triple("block"), "registers": args.get("registers per thread"),
            "shared_memory": args.get("shared memory"), "bytes": args.get("bytes"), "annotation": args.get("name") or None,
            "annotation_module": args.get("module_fqn") or None, "annotation_layer": layer}


def range_row(event):
    source = RANGE_SOURCE[event["cat"]]
    if event["cat"] == "Operator" and event["name"].startswith("ProfilerStep#"):
        source = USER
    row = {"table": "annotation", **times(event), "name": event["name"], "source": source, "external": identity(event.get("args", {}))}
    row["tid"] = int(event["tid"])
    row["device"] = event["pid"] if source == GPU_USER else None
    return row


def rows_of(trace):
    events = trace if isinstance(trace, list) else trace["traceEvents"]
    gpu, calls, ranges = [], [], []
    for event in events:
        category = event.get("cat")
        if category in GPU_KIND:
            gpu.append(kernel_row(event, len(gpu)))
        elif category in CALLS:
            calls.append({"table": "launch", **times(event), "name": event["name"], "tid": int(event["tid"]),
                          "correlation": event["args"]["correlation"]})
        elif category in RANGE_SOURCE:
            if category != "python_function" or event["name"].startswith("nn.Module: "):
                ranges.append(range_row(event))
    return gpu, calls, ranges


def normal(row):
    """A row of trace_dump in the form of the rows above."""
    row = dict(row)
    row.pop("process", None)
    if "thread" in row:
        row["tid"] = row.pop("thread") & ((1 << 48) - 1)
    for name in ("annotation", "annotation_module"):
        if name in row:
            row[name] = row[name] or None
    if row["table"] == "annotation" and row["source"] == PYTHON:
        row["external"] = None
    return row


def read(trace_dump, form, path):
    process = subprocess.run([trace_dump, form, path, "--columns"], capture_output=True, text=True)
    if process.returncode != 0:
        sys.exit(f"{path}: exit {process.returncode}: {process.stderr}")
    lines, summary = process.stdout.split("\n{\n", 1) if "\n{\n" in process.stdout else ("", process.stdout)
    tables = {"kernel": [], "launch": [], "annotation": []}
    for line in lines.splitlines():
        row = json.loads(line)
        tables[row["table"]].append(normal(row))
    return tables


def compare_rows(path, expected, found):
    """How many rows differ; the first three are printed."""
    wrong = 0
    for table, rows in expected.items():
        if len(rows) != len(found[table]):
            print(f"{path}: {table}: {len(found[table])} rows in place of {len(rows)}")
            wrong += 1
        for number, (want, got) in enumerate(zip(rows, found[table])):
            if want != got:
                wrong += 1
                if wrong <= 3:
                    print(f"{path}: {table} {number}:\n  want {want}\n  got  {got}")
    print(f"{path.name}: {sum(map(len, expected.values()))} rows, {wrong} wrong")
    return wrong


def compare(trace_dump, path):
    expected = dict(zip(("kernel", "launch", "annotation"), rows_of(load(path))))
    return compare_rows(path, expected, read(trace_dump, "kineto", path))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace-dump", required=True)
    parser.add_argument("traces", nargs="+")
    arguments = parser.parse_args()
    paths = [shared_file(name[7:]) if name.startswith("shared:") else Path(name) for name in arguments.traces]
    present = [path for path in paths if path.exists()]
    for path in paths:
        if path not in present:
            print(f"skipped: {path} is not there")
    wrong = sum([compare(arguments.trace_dump, path) for path in present])
    return 1 if wrong else SKIP if not present else 0


if __name__ == "__main__":
    sys.exit(main())
