#!/usr/bin/env python3
"""Scores steps that consist of several captured graphs with kernels launched one by one between them, as servers run models whose attention
cannot be captured: the recording of a server with one graph a pass is rewritten so, and read by the ranges of its steps.

    score_piecewise.py ADPIPE DUMPS TRACE
"""
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

from score import read_truth, run_tsv
from score_attribution import score

KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
ATTENTION = "kernel_mha"
LAUNCH_NS = 900


class Rewriter:
    """Cuts each replay at its attention kernels: those are launched by calls of their own, what lies between by graphs of its own."""

    def __init__(self, database):
        self.database = database
        one = lambda sql: database.execute(sql).fetchone()[0]
        self.attention = one(f"SELECT id FROM StringIds WHERE value = '{ATTENTION}'")
        self.correlation = one("SELECT max(correlationId) FROM CUPTI_ACTIVITY_KIND_RUNTIME")
        self.graph = one(f"SELECT max(graphId) FROM {KERNELS}")
        self.launch_name = one("SELECT max(id) FROM StringIds") + 1
        database.execute("INSERT INTO StringIds VALUES (?, 'cudaLaunchKernel_v7000')", (self.launch_name,))
        self.graph_of, self.node_of = {}, {}

    def rewrite(self):
        launches = self.database.execute(f"SELECT DISTINCT graphId, correlationId FROM {KERNELS} WHERE graphId IS NOT NULL").fetchall()
        for graph, correlation in launches:
            self.cut(graph, correlation)
        clones = self.database.execute("SELECT start, end, eventClass, globalTid, nameId, graphNodeId, originalGraphNodeId FROM CUDA_GRAPH_NODE_EVENTS").fetchall()
        for row in clones:
            if row[5] in self.node_of:
                self.database.execute("INSERT INTO CUDA_GRAPH_NODE_EVENTS (start, end, eventClass, globalTid, nameId, graphNodeId, originalGraphNodeId) "
                                      "VALUES (?, ?, ?, ?, ?, ?, ?)", (*row[:5], self.node_of[row[5]], row[6]))
        self.database.commit()

    def cut(self, graph, correlation):
        call = self.database.execute("SELECT start, end, eventClass, globalTid, nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId = ?", (correlation,)).fetchone()
        rows = self.database.execute(f"SELECT rowid, graphNodeId, shortName FROM {KERNELS} WHERE correlationId = ? ORDER BY graphNodeId", (correlation,)).fetchall()
        at, piece, launched = call[0], 0, None
        for rowid, node, name in rows:
            if name == self.attention:
                launched = None
                piece += 1
                at = self.launch(at, call, self.launch_name)
                self.database.execute(f"UPDATE {KERNELS} SET graphId = NULL, graphNodeId = NULL, correlationId = ? WHERE rowid = ?", (self.correlation, rowid))
                continue
            if launched is None:
                at = self.launch(at, call, call[4])
                launched = self.correlation
            new_graph = self.graph_of.setdefault((graph, piece), self.graph + len(self.graph_of) + 1)
            new_node = self.node_of.setdefault(node, (new_graph << 32) + (node & 0xffffffff))
            self.database.execute(f"UPDATE {KERNELS} SET graphId = ?, graphNodeId = ?, correlationId = ? WHERE rowid = ?", (new_graph, new_node, launched, rowid))
        self.database.execute("DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId = ?", (correlation,))

    def launch(self, at, call, name):
        self.correlation += 1
        self.database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue) VALUES (?, ?, ?, ?, ?, ?, 0)",
                              (at, at + 100, call[2], call[3], self.correlation, name))
        return at + LAUNCH_NS // 10


def main():
    adpipe, dumps, trace = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    truth = read_truth(trace.parent / (trace.name + ".truth.json.gz"))
    failed = 0
    with tempfile.TemporaryDirectory(prefix="adpipe-piecewise-") as folder:
        for ranges in ("kept", "dropped"):  # without ranges at capture there is no lineage: the order has to do
            made = Path(folder) / f"{ranges}.sqlite"
            shutil.copy(trace, made)
            database = sqlite3.connect(made)
            Rewriter(database).rewrite()
            if ranges == "dropped":
                database.execute("DELETE FROM NVTX_EVENTS WHERE coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) NOT LIKE '%_forward_step%'")
                database.commit()
            database.close()
            steps, problem = run_tsv([adpipe, "steps", made, "--step-range", "auto", "--format", "tsv"])
            wanted = [replay for replay in truth["replays"] if replay["in_file"]]
            decode = [] if steps is None else [step for step in steps if step["phase"] == "decode"]
            result = score(adpipe, dumps, made, truth, "auto")
            good = len(decode) == len(wanted) and result.is_good(95, 0)
            failed += not good
            print(f"{'ok    ' if good else 'FAILED'} ranges {ranges}: {len(decode)} of {len(wanted)} steps{problem}; {dict(result.verdicts)}; "
                  f"{result.time_on_node():.2f} % of decode time on the right node")
            print("       by evidence: " + ", ".join(f"{evidence} {what} {n}" for (evidence, what), n in sorted(result.evidence.items())))
            print("\n".join(result.wrong[:5]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
