#!/usr/bin/env python3
"""Scores `adpipe layers` against simulated traces whose every kernel's layer is known.

    score_layers.py ADPIPE TRACE... [--truth DIR] [--right PERCENT] [--range NAME] [--show N]

TRACE.truth.json.gz lies beside TRACE, or below --truth. A kernel of a decode step is right if adpipe puts it into its layer, or into the prologue or
epilogue where it belongs, steps that the recording cut off left aside; a layer that the truth's `also` lists is right too (a fused add and norm). Kernels that the graph did not launch (sampling,
copies) are not scored. Fails if a trace has less than --right (95) percent of them, by count, or if most decode steps are not found to have as many
layers as the model.
"""
import argparse
import collections
import sys
from pathlib import Path

from score import located, percent, read_truth, run_tsv, skip_if_absent
from score_attribution import events_of


class LayerScore:
    def __init__(self):
        self.verdicts = collections.Counter()
        self.wrong = []
        self.layers = collections.defaultdict(set)  # per step
        self.problem = ""

    def add(self, key, event, also, row):
        if row is None or row["layer"] == "-":
            self.verdicts["unknown"] += 1
            return
        if row["layer"] in (event.layer, *also):
            self.verdicts["right"] += 1
            return
        self.verdicts["wrong"] += 1
        self.wrong.append(f"{key}: want layer {event.layer} ({event.node}), got {row['layer']} of {row['program']}, {row['name'][:60]}")

    def right(self):
        return percent(self.verdicts["right"], sum(self.verdicts.values())) if self.verdicts else 0.0

    def steps_with(self, layers):
        counts = [len(found) for found in self.layers.values()]
        return percent(counts.count(layers), len(counts)) if counts else 0.0


def score_layers(adpipe, trace, truth, options, phases=("decode",)):
    result = LayerScore()
    rows, result.problem = run_tsv([adpipe, "layers", trace, "--format", "tsv", "--quiet", *options])
    if rows is None:
        return result
    events = events_of(truth)
    numbered_over_all = any(kind is None for kind, _ in events)
    found = {(None if numbered_over_all else row["kind"], int(row["row"])): row for row in rows}
    also = {name: [str(layer) for layer in node.get("also", [])] for name, node in zip(truth["nodes"], truth["node_truth"])}
    complete = {replay["index"] for replay in truth["replays"] if replay["complete"]}
    replays = [replay for table in truth["rows"].values() for replay in table["replay"]]
    for (key, event), replay in zip(events.items(), replays):
        row = found.get(key)
        if event.phase not in phases or not event.node or (event.phase == "decode" and complete and replay not in complete):
            continue
        result.add(key, event, also[event.node], row)
        if row is not None and row["layer"].isdigit():
            result.layers[row["process"], row["step"]].add(row["layer"])
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("adpipe")
    parser.add_argument("traces", nargs="+", type=Path)
    parser.add_argument("--truth", type=Path, help="folder of the truth files")
    parser.add_argument("--right", type=float, default=95.0, metavar="PERCENT")
    parser.add_argument("--range", metavar="NAME", help="find layers by ranges of that name")
    parser.add_argument("--show", type=int, default=5, metavar="N", help="wrong kernels to print of each trace")
    arguments = parser.parse_args()
    traces = [located(trace) for trace in arguments.traces]
    skip_if_absent(traces)

    failed = 0
    for trace in traces:
        truth = read_truth((arguments.truth or trace.parent) / (trace.name + ".truth.json.gz"))
        result = score_layers(arguments.adpipe, trace, truth, ["--range", arguments.range] if arguments.range else [])
        good = result.right() >= arguments.right and result.steps_with(truth["num_layers"]) > 50
        failed += not good
        for line in result.wrong[: arguments.show]:
            print("    " + line)
        print(f"{'ok    ' if good else 'FAILED'} {trace.name}: {result.right():.2f} % of kernels in their layer {dict(result.verdicts)}; "
              f"{truth['num_layers']} layers in {result.steps_with(truth['num_layers']):.0f} % of decode steps {result.problem}")
    print(f"{len(traces) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
