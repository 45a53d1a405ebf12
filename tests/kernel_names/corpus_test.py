#!/usr/bin/env python3
"""What the kernel-name rules know of every kernel in public and simulated traces: share of names and of time with a library, a category, parameters.

    corpus_test.py DECODE_NAMES [--list]

Fails if less than 98 % of the time has a category, or if a kernel whose work is known has another one: categories.tsv holds what people read out of the
names, one line per family of kernels (a part of the name, and its category). Names that it does not cover are listed, and fail as well, so that a
new trace means reading its names. --list prints every name with what was decoded.
"""
import argparse
import collections
import csv
import gzip
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
SHARED = Path(os.environ.get("ADPIPE_SHARED", PROJECT.parent / "shared"))
ENOUGH_PERCENT = 98.0


def kineto_kernels(file):
    opened = gzip.open(file, "rt", encoding="utf-8", errors="replace")
    with opened as stream:
        text = stream.read()
    try:
        trace = json.loads(text, strict=False)
    except json.JSONDecodeError:
        return  # a trace that was cut off: others hold its kernels
    for event in trace if isinstance(trace, list) else trace.get("traceEvents", []):
        if event.get("ph") == "X" and str(event.get("cat", "")).lower() == "kernel":
            yield event["name"], float(event.get("dur", 0))


def sqlite_kernels(file):
    database = sqlite3.connect(f"{file.as_uri()}?mode=ro&immutable=1", uri=True)
    tables = {name for name, in database.execute("SELECT name FROM sqlite_master")}
    if "CUPTI_ACTIVITY_KIND_KERNEL" in tables:
        query = "SELECT s.value, sum(k.end - k.start) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName GROUP BY 1"
    elif "kernels" in tables:
        query = "SELECT name, sum(duration) FROM kernels GROUP BY 1"
    else:
        return
    for name, nanoseconds in database.execute(query):
        yield name, nanoseconds / 1000.0


def csv_kernels(file):
    with open(file, newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            yield row["Kernel_Name"], (int(row["End_Timestamp"]) - int(row["Start_Timestamp"])) / 1000.0


def corpus():
    """{name: microseconds}"""
    times = collections.Counter()
    folders = [SHARED / "data" / name for name in ("kineto", "nsys", "rocm", "simulated_traces")]
    for file in sorted(path for folder in folders for path in folder.rglob("*") if path.is_file()):
        if file.name.endswith(".truth.json.gz"):
            continue
        read = {".gz": kineto_kernels, ".sqlite": sqlite_kernels, ".db": sqlite_kernels, ".csv": csv_kernels}.get(file.suffix)
        for name, microseconds in read(file) if read else ():
            times[name.replace("\n", " ")] += microseconds
    return times


def expected_categories():
    """[(part of a name, category)]; the first that fits decides."""
    with open(HERE / "categories.tsv", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
    return [(part, category) for part, category in lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("decode_names")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if not (SHARED / "data" / "kineto").exists():
        print(f"skipped: {SHARED / 'data'} is not here")
        return 77

    times = corpus()
    names = sorted(times, key=lambda name: -times[name])
    output = subprocess.run([arguments.decode_names], input="\n".join(names) + "\n", capture_output=True, text=True, check=True).stdout
    decoded = [line.split("\t") for line in output.splitlines()]
    assert len(decoded) == len(names)
    total = sum(times.values())
    known = collections.Counter()
    families = expected_categories()
    wrong = []
    for name, (library, category, rule, parameters, short) in zip(names, decoded):
        if arguments.list:
            print(f"{times[name]:12.1f}  {library or '-':14} {category:13} {rule or '-':32} {short:40} [{parameters}] {name[:160]}")
        for what, is_known in (("library", library), ("category", category != "other"), ("parameters", parameters)):
            known[what, "names"] += bool(is_known)
            known[what, "time"] += times[name] if is_known else 0.0
        want = next((wanted for part, wanted in families if part in name), None)
        if want is None:
            wrong.append(f"no line of categories.tsv covers it ({category}): {name[:160]}")
        elif category != want:
            wrong.append(f"want {want}, got {category} by {rule or 'no rule'}: {name[:160]}")
    print(f"{len(names)} kernel names, {total / 1e6:.2f} s")
    for what in ("library", "category", "parameters"):
        print(f"  {what:10} known: {100 * known[what, 'names'] / len(names):5.1f} % of names, {100 * known[what, 'time'] / total:6.2f} % of time")
    print("\n".join(wrong[:60]))
    enough = 100 * known["category", "time"] / total >= ENOUGH_PERCENT
    return 0 if enough and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
