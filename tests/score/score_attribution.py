#!/usr/bin/env python3
"""Scores `adpipe kernels --dump` against simulated traces whose every kernel's node is known.

    score_attribution.py ADPIPE DUMPS TRACE... [--time-on-node PERCENT] [--wrong-per-thousand N] [--show N] [--steps-by NAME] [--companion FILE]

TRACE.truth.json.gz lies beside TRACE, or below --truth; its `dump`, <run>/<file>, is looked up in DUMPS. Per GPU event it says which node launched it, if any.
An event is right if adpipe names that node (alone, or as one of at most four that share a kernel), unknown if it names none, wrong otherwise;
naming a node for an event that has none is wrong, and so is another layer. Fails on a wrong event whose evidence is lineage or annotation, on
more than --wrong-per-thousand (0) wrong ones in all, on an event that is not listed, and if less of the decode steps' kernel time than
--time-on-node (95) is on the right node.
"""
import argparse
import collections
import sys
from pathlib import Path

from score import located, percent, read_truth, run_tsv, skip_if_absent

# The tables of SQLite traces and what adpipe calls their rows. A trace of another format numbers all its events in one row of numbers.
KIND_OF_TABLE = {
    "CUPTI_ACTIVITY_KIND_KERNEL": "kernel",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "memcpy",
    "CUPTI_ACTIVITY_KIND_MEMSET": "memset",
    "rocpd_kernel_dispatch": "kernel",
    "rocpd_memory_copy": "memcpy",
}
NO_NODE = ("", "-")
MAX_SHARING = 4

Event = collections.namedtuple("Event", "node layer phase")


def events_of(truth):
    """{(kind, row): Event}; kind is None where rows are numbered over all kinds, from 0."""
    layer_names = {code: name for name, code in truth["layer_codes"].items()}
    events = {}
    for table, column in truth["rows"].items():
        kind = KIND_OF_TABLE.get(table)
        for i in range(column["n"]):
            node, layer = column["node"][i], column["layer"][i]
            events[kind, i + (1 if kind else 0)] = Event(
                truth["nodes"][node] if node >= 0 else None, layer_names[layer] if layer < 0 else str(layer), truth["phases"][column["phase"][i]])
    return events


def verdict(event, row):
    if row is None:
        return "not listed"
    nodes = [] if row["node"] in NO_NODE else row["node"].split(",")
    if event.node and row["layer"] not in (*NO_NODE, event.layer) and event.layer not in ("none", "unknown"):
        return "wrong"
    if not nodes:
        return "unknown" if event.node else "right"
    return "right" if event.node in nodes and len(nodes) <= MAX_SHARING else "wrong"


class Score:
    def __init__(self):
        self.verdicts = collections.Counter()
        self.evidence = collections.Counter()
        self.decode_ns = self.decode_on_node_ns = 0
        self.wrong = []

    def add(self, key, event, row):
        what = verdict(event, row)
        self.verdicts[what] += 1
        if row is None:
            return
        self.evidence[row["evidence"], what] += 1
        if what == "wrong":
            self.wrong.append(f"{key}: want {event.node} (layer {event.layer}), got {row['node']} (layer {row['layer']}, {row['evidence']})")
        if event.phase == "decode" and event.node:
            self.decode_ns += int(row["duration_ns"])
            self.decode_on_node_ns += int(row["duration_ns"]) if what == "right" and row["node"] not in NO_NODE else 0

    def time_on_node(self):
        return percent(self.decode_on_node_ns, self.decode_ns)

    def is_good(self, time_on_node, wrong_per_thousand):
        strong_wrong = sum(self.evidence[evidence, "wrong"] for evidence in ("lineage", "annotation"))
        total = sum(self.verdicts.values())
        return (total > 0 and strong_wrong == 0 and self.verdicts["wrong"] * 1000 <= wrong_per_thousand * total
                and self.verdicts["not listed"] == 0 and self.time_on_node() >= time_on_node)


def score(adpipe, dumps, trace, truth, steps_by=None, companion=None):
    dump = dumps / truth["dump"]  # <run>/<file>
    if not dump.exists():
        dump = dumps / dump.name
    more = (["--step-range", steps_by] if steps_by else []) + (["--companion", companion] if companion else [])
    rows, problem = run_tsv([adpipe, "kernels", trace, "--dump", dump, "--window", "all", *more, "--format", "tsv"])
    if rows is None:
        print(f"{trace}: {problem}")
        return Score()
    events = events_of(truth)
    numbered_over_all = any(kind is None for kind, _ in events)
    found = {(None if numbered_over_all else row["kind"], int(row["row"])): row for row in rows}
    result = Score()
    for key, event in events.items():
        result.add(key, event, found.get(key))
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("adpipe")
    parser.add_argument("dumps", type=Path)
    parser.add_argument("traces", nargs="+", type=Path)
    parser.add_argument("--truth", type=Path, help="folder of the truth files")
    parser.add_argument("--time-on-node", type=float, default=95.0, metavar="PERCENT")
    parser.add_argument("--wrong-per-thousand", type=float, default=0.0, metavar="N")
    parser.add_argument("--steps-by", metavar="NAME", help="find steps by the ranges of that name")
    parser.add_argument("--companion", type=Path, metavar="FILE", help="another recording of the same model, for all traces")
    parser.add_argument("--show", type=int, default=5, metavar="N", help="wrong events to print of each trace")
    arguments = parser.parse_args()
    dumps, traces = located(arguments.dumps), [located(trace) for trace in arguments.traces]
    skip_if_absent([dumps, *traces])

    failed = 0
    for trace in traces:
        truth = read_truth((arguments.truth or trace.parent) / (trace.name + ".truth.json.gz"))
        result = score(arguments.adpipe, dumps, trace, truth, arguments.steps_by, arguments.companion and located(arguments.companion))
        good = result.is_good(arguments.time_on_node, arguments.wrong_per_thousand)
        failed += not good
        print("\n".join("    " + line for line in result.wrong[: arguments.show]), end="\n" if result.wrong[: arguments.show] else "")
        print(f"{'ok    ' if good else 'FAILED'} {trace.name}: {dict(result.verdicts)}; {result.time_on_node():.2f} % of decode time on the right node")
        print("       by evidence: " + ", ".join(f"{evidence} {what} {n}" for (evidence, what), n in sorted(result.evidence.items())))
    print(f"{len(traces) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
