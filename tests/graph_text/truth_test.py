#!/usr/bin/env python3
"""Reads graph texts and compares the names of all vertices with the truth beside each, the edges with a plain reading of the lines, and,
where the text has module stacks, the module path of every op.

    truth_test.py --graph-dump FILE DIRECTORY...      a DIRECTORY holds runs, each with texts and truth/<stem>.json.gz

A DIRECTORY that begins with "shared:" is relative to the folder of shared data beside the checkout, or $ADPIPE_SHARED; where that is
absent, the test says so and is skipped.
"""
import argparse
import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
SKIP = 77
NAME = re.compile(r"[A-Za-z_]\w*")


def directory(name):
    if not name.startswith("shared:"):
        return PROJECT / name
    return Path(os.environ.get("ADPIPE_SHARED", PROJECT.parent / "shared")) / name.removeprefix("shared:")


def read(graph_dump, text):
    """{module: {name: row}}"""
    process = subprocess.run([graph_dump, text], capture_output=True, text=True)
    if process.returncode != 0 or process.stderr:
        raise AssertionError(f"{text}: {process.stderr.strip() or process.returncode}")
    modules = {}
    for line in process.stdout.splitlines():
        module, name, kind, shape, dtype, path, number, sources = line.split("\t")
        row = {"kind": kind, "shape": shape, "dtype": dtype, "path": path, "line": int(number), "sources": sources.split(",")[:-1]}
        modules.setdefault(module, {})[name] = row
    return modules


def check_names(text, truth, modules, faults):
    if set(modules) != set(truth["modules"]):
        faults.append(f"{text}: modules {sorted(set(modules) ^ set(truth['modules']))[:5]}")
    for module, want in truth["modules"].items():
        rows = modules.get(module, {})
        nodes = {name for name, row in rows.items() if row["kind"] in ("op", "placeholder")}
        weights = {name for name, row in rows.items() if row["kind"] == "weight"}
        if nodes != set(want["nodes"]):
            faults.append(f"{text}: {module}: nodes {sorted(nodes ^ set(want['nodes']))[:5]}")
        if "weights" in want and not weights <= set(want["weights"]):
            faults.append(f"{text}: {module}: weights {sorted(weights - set(want['weights']))[:5]}")


def check_edges(text, modules, faults):
    """In AutoDeploy's form: the vertices that a line's arguments name, in order, as regular expressions find them."""
    lines = text.read_text(encoding="utf-8").splitlines()
    for module, rows in modules.items():
        for name, row in rows.items():
            if row["kind"] not in ("op", "output"):
                continue
            line = lines[row["line"] - 1]
            arguments = line.split("(", 1)[1] if row["kind"] == "op" else line
            arguments = re.sub(r"%([\w.]+)( : .*? : [\w.]+)?(?=[,)]|$)", r"[\1]", arguments)
            lists = re.findall(r"[\[(][^\[\]()]*[\])]", arguments)
            want = [word for part in lists for word in NAME.findall(part) if word in rows]
            if want != row["sources"]:
                faults.append(f"{text}:{row['line']}: {module}: {name}: uses {want[:4]}…, read as {row['sources'][:4]}…")


def check_paths(text, truth, modules, faults):
    for module, rows in modules.items():
        for name, row in rows.items():
            want = truth["modules"][module]["nodes"].get(name, {}).get("path")
            if row["kind"] == "op" and want is not None and row["path"] != want:
                faults.append(f"{text}: {name}: path {row['path']!r}, want {want!r}")
            if row["kind"] == "weight" and not row["path"]:
                faults.append(f"{text}: {name}: no path")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph-dump", required=True)
    parser.add_argument("directories", nargs="+")
    given = parser.parse_args()
    faults, texts = [], 0
    for name in given.directories:
        root = directory(name)
        if not root.is_dir():
            print(f"skipped: there is no {root}")
            return SKIP
        for file in sorted(root.glob("*/truth/*.json.gz")):
            with gzip.open(file, "rt", encoding="utf-8") as opened:
                truth = json.load(opened)
            text = file.parent.parent / truth["dump"]
            texts += 1
            try:
                modules = read(given.graph_dump, text)
            except AssertionError as error:
                faults.append(str(error))
                continue
            check_names(text, truth, modules, faults)
            if text.name[:1].isdigit():
                check_edges(text, modules, faults)
            elif "stack" in text.name:
                check_paths(text, truth, modules, faults)
    for fault in faults[:40]:
        print(fault)
    print(f"{texts} texts, {len(faults)} faults")
    return 0 if texts and not faults else 1


if __name__ == "__main__":
    sys.exit(main())
