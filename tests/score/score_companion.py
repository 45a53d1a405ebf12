#!/usr/bin/env python3
"""Scores kernels placed by a second recording of the same model: the first lost its ranges and the origin of its graphs' nodes, the second has a range
around each op, and is either whole or holds the capture of the graphs alone.

    score_companion.py ADPIPE DUMPS TRACE [FOREIGN]

Both are made from TRACE and its truth. FOREIGN is a recording of another model: as companion it must do no harm.
"""
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

from score import percent, read_truth
from score_attribution import score

KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"


def open_copy(trace, made):
    shutil.copy(trace, made)
    return sqlite3.connect(made)


def strip(database):
    database.execute("DELETE FROM NVTX_EVENTS")
    database.execute("DELETE FROM CUDA_GRAPH_NODE_EVENTS")
    database.commit()
    database.close()


def add_ranges(database, truth):
    """A range of the op's name around each launch, and around each capture of a node."""
    nodes = truth["rows"][KERNELS]["node"]
    made = {}
    for start, thread, node, original in database.execute("SELECT start, globalTid, graphNodeId, originalGraphNodeId FROM CUDA_GRAPH_NODE_EVENTS"):
        if original is not None:
            made.setdefault(node, original)
    created = {node: (start, thread) for start, thread, node in
               database.execute("SELECT start, globalTid, graphNodeId FROM CUDA_GRAPH_NODE_EVENTS WHERE originalGraphNodeId IS NULL")}
    calls = {correlation: (start, end, thread) for start, end, thread, correlation in
             database.execute("SELECT start, end, globalTid, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME")}
    ranges = set()
    for row, correlation, node in database.execute(f"SELECT rowid, correlationId, graphNodeId FROM {KERNELS}"):
        if nodes[row - 1] < 0:
            continue
        name = truth["nodes"][nodes[row - 1]]
        if node is None:
            start, end, thread = calls[correlation]
            ranges.add((start, end, thread, name))
            continue
        while node in made:
            node = made[node]
        if node in created:
            start, thread = created[node]
            call = database.execute("SELECT start, end FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE globalTid = ?1 AND start <= ?2 AND end >= ?2 "
                                    "ORDER BY end - start LIMIT 1", (thread, start)).fetchone() or (start, start)
            ranges.add((min(call[0], start), max(call[1], start), thread, name))
    database.execute("DELETE FROM NVTX_EVENTS")
    database.executemany("INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, text) VALUES (?, ?, 59, ?, ?)", sorted(ranges))
    database.commit()


def check(name, adpipe, dumps, trace, truth, companion, least):
    result = score(adpipe, dumps, trace, truth, companion=companion)
    by_companion = sum(n for (evidence, _), n in result.evidence.items() if evidence == "companion")
    events = sum(1 for row in truth["rows"][KERNELS]["node"] if row >= 0)
    good = result.is_good(95, 0) and result.evidence["companion", "wrong"] == 0 and percent(by_companion, events) >= least
    print(f"{'ok    ' if good else 'FAILED'} {name}: {dict(result.verdicts)}; {result.time_on_node():.2f} % of decode time on the right node")
    print("       by evidence: " + ", ".join(f"{evidence} {what} {n}" for (evidence, what), n in sorted(result.evidence.items())))
    print("".join(f"    {line}\n" for line in result.wrong[:5]), end="")
    return 0 if good else 1


def main():
    adpipe, dumps, trace = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    truth = read_truth(trace.parent / (trace.name + ".truth.json.gz"))
    with tempfile.TemporaryDirectory(prefix="adpipe-companion-") as folder:
        bare, whole, capture = (Path(folder) / f"{name}.sqlite" for name in ("bare", "whole", "capture"))
        strip(open_copy(trace, bare))
        database = open_copy(trace, whole)
        add_ranges(database, truth)
        database.close()
        database = open_copy(whole, capture)
        database.execute(f"DELETE FROM {KERNELS} WHERE rowid > 3")
        database.commit()
        database.close()
        failed = check("a whole recording", adpipe, dumps, bare, truth, whole, 95)
        failed += check("the capture alone", adpipe, dumps, bare, truth, capture, 50)
        for foreign in sys.argv[4:]:
            failed += check("a recording of another model", adpipe, dumps, bare, truth, Path(foreign), 0)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
