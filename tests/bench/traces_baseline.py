#!/usr/bin/env python3
"""How kernels of captured graphs are put into ranges without adpipe.    traces_baseline.py script|join TRACE

script: all tables read once; nodes looked up in a dictionary, ranges by bisection. join: what TensorRT-LLM's layer-wise benchmarks ask of SQLite, one
kernel at a time: the row of its node's clone, the creation of the original, the innermost range that was open then. Both follow one clone only, and
place nothing that has no range at its capture.
"""
import bisect
import collections
import sqlite3
import sys

KERNELS = "SELECT rowid, start, end, graphNodeId, correlationId, demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL"
RANGES = "SELECT start, end, globalTid, coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) FROM NVTX_EVENTS WHERE eventType IN (59, 60)"


def by_script(database):
    names = dict(database.execute("SELECT id, value FROM StringIds"))
    original = dict(database.execute("SELECT graphNodeId, originalGraphNodeId FROM CUDA_GRAPH_NODE_EVENTS WHERE originalGraphNodeId IS NOT NULL"))
    created = {node: (start, thread) for start, thread, node in
               database.execute("SELECT start, globalTid, graphNodeId FROM CUDA_GRAPH_NODE_EVENTS WHERE originalGraphNodeId IS NULL")}
    ranges = collections.defaultdict(list)
    for start, end, thread, text in database.execute(RANGES):
        ranges[thread].append((start, end, text))
    for of_thread in ranges.values():
        of_thread.sort()
    places, time = {}, collections.Counter()
    for _, start, end, node, _, name in database.execute(KERNELS):
        if node is None:
            continue
        if node not in places:
            places[node] = place(created.get(original.get(node)), ranges)
        time[places[node], names[name]] += end - start
    return time


def place(creation, ranges):
    if creation is None:
        return None
    at, thread = creation
    of_thread = ranges[thread]
    for i in range(bisect.bisect_right(of_thread, (at, sys.maxsize, "")) - 1, -1, -1):
        if of_thread[i][1] >= at:
            return of_thread[i][2]
    return None


def by_join(database):
    time = collections.Counter()
    for row, start, end, node, _, name in database.execute(KERNELS).fetchall():
        if node is None:
            continue
        found = database.execute(
            "SELECT coalesce(R.text, S.value) FROM CUPTI_ACTIVITY_KIND_KERNEL AS K "
            "JOIN CUDA_GRAPH_NODE_EVENTS AS C ON C.graphNodeId = K.graphNodeId AND C.originalGraphNodeId IS NOT NULL "
            "JOIN CUDA_GRAPH_NODE_EVENTS AS O ON O.graphNodeId = C.originalGraphNodeId AND O.originalGraphNodeId IS NULL "
            "JOIN NVTX_EVENTS AS R ON R.globalTid = O.globalTid AND R.eventType IN (59, 60) AND R.start <= O.start AND R.end >= O.start "
            "LEFT JOIN StringIds AS S ON S.id = R.textId WHERE K.rowid = ? ORDER BY R.end - R.start LIMIT 1", (row,)).fetchone()
        time[found and found[0], name] += end - start
    return time


if __name__ == "__main__":
    connection = sqlite3.connect(f"file:{sys.argv[2]}?mode=ro", uri=True)
    print(len({"script": by_script, "join": by_join}[sys.argv[1]](connection)), "kernels of ranges")
