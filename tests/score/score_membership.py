#!/usr/bin/env python3
"""Scores `adpipe members` against dumps whose every node's layer is known.

    score_membership.py ADPIPE DIR... [--truth DIR] [--at-least PERCENT] [--show N]

DIR holds dumps, and truth/<stem>.json.gz unless --truth says where: {"dump": file name, "modules": {name: {"nodes": {name: {"layer": number, "prologue", "epilogue", …,
"also": [other layers that are right too], "stack": which of several stacks}}}}}. Placeholders (`input`) and calls that span layers (`mixed`)
have no layer to be right about. Truth whose dump is not in DIR is ignored. Fails if a dump has fewer right nodes than --at-least (100).
"""
import argparse
import sys
from pathlib import Path

from score import located, percent, read_truth, run_tsv, skip_if_absent

NOT_SCORED = ("input", "mixed")


def is_right(row, truth):
    if row is None:
        return False
    layers = {str(layer) for layer in [truth["layer"], *truth.get("also", [])]}
    return row["layer"] in layers and row["stack"] == truth.get("stack", row["stack"])


def score(adpipe, dump, truth, show):
    """(right, scored) nodes of one dump; prints the first wrong ones."""
    rows, problem = run_tsv([adpipe, "members", dump, "--module", "all", "--format", "tsv"])
    if rows is None:
        print(f"{dump}: {problem}")
    found = {(row["module"], row["node"]): row for row in rows or []}
    right = scored = 0
    for module, nodes in truth["modules"].items():
        for name, wanted in nodes["nodes"].items():
            if wanted["layer"] in NOT_SCORED:
                continue
            scored += 1
            row = found.get((module, name))
            if is_right(row, wanted):
                right += 1
            elif rows is not None and scored - right <= show:
                got = f"layer {row['layer']} ({row['reason']})" if row else "no such row"
                print(f"    {dump.parent.name}/{dump.name}: {module} %{name}: want layer {wanted['layer']}, got {got}")
    return right, scored


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("adpipe")
    parser.add_argument("directories", nargs="+", type=Path)
    parser.add_argument("--truth", type=Path, metavar="DIR")
    parser.add_argument("--at-least", type=float, default=100.0, metavar="PERCENT")
    parser.add_argument("--show", type=int, default=5, metavar="N", help="wrong nodes to print of each dump")
    arguments = parser.parse_args()
    directories = [located(directory) for directory in arguments.directories]
    skip_if_absent(directories)

    passed = failed = 0
    for directory in directories:
        for truth_file in sorted((arguments.truth or directory / "truth").glob("*.json*")):
            truth = read_truth(truth_file)
            dump = directory / truth["dump"]
            if not dump.exists():
                continue
            right, scored = score(arguments.adpipe, dump, truth, arguments.show)
            good = scored > 0 and percent(right, scored) >= arguments.at_least
            passed, failed = passed + good, failed + (not good)
            print(f"{'ok    ' if good else 'FAILED'} {directory.name}/{dump.name}: {right} of {scored} nodes right")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
