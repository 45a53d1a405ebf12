"""Reading an export of Nsight Systems and putting its kernels onto a graph: against SQLite's own scan, a script in Python, and a join per kernel."""
import shutil
import sqlite3
import sys

from bench import HERE, Bench, Bound

FULL = 1_300_000
SIZES = (10_000, 100_000, 1_000_000)
KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
SCAN = ("SELECT count(*), max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL; SELECT count(*), max(end) FROM CUPTI_ACTIVITY_KIND_MEMCPY; "
        "SELECT count(*), max(end) FROM CUPTI_ACTIVITY_KIND_RUNTIME; SELECT count(*), max(end) FROM CUDA_GRAPH_NODE_EVENTS")


def columns_of(database, table):
    return [row[1] for row in database.execute(f"PRAGMA table_info({table})")]


def write_trace(sample, path, kernels):
    """The sample with as many replays of its graph as give so many kernels: the first one again and again, a little later each time."""
    shutil.copy(sample, path)
    database = sqlite3.connect(path)
    replays = [row[0] for row in database.execute(f"SELECT correlationId FROM {KERNELS} WHERE graphId IS NOT NULL GROUP BY 1 ORDER BY min(start)")]
    first, others = replays[0], ",".join(map(str, replays[1:]))
    start, end, size = database.execute(f"SELECT min(start), max(end), count(*) FROM {KERNELS} WHERE correlationId = ?", (first,)).fetchone()
    # Eager passes before the replays stay; they are a few thousand kernels.
    database.execute(f"DELETE FROM {KERNELS} WHERE start > ? OR correlationId IN ({others})", (end,))
    database.execute(f"DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE start > ? OR correlationId IN ({others})", (end,))
    there, = database.execute(f"SELECT count(*) FROM {KERNELS}").fetchone()
    if kernels < there:
        database.execute(f"DELETE FROM {KERNELS} WHERE graphId IS NULL")
        there = size
    copies = max(0, round((kernels - there) / size))
    database.execute("CREATE TEMP TABLE copies (n INTEGER)")
    database.executemany("INSERT INTO copies VALUES (?)", ((n,) for n in range(1, copies + 1)))
    period = end - start + 50_000
    for table in (KERNELS, "CUPTI_ACTIVITY_KIND_RUNTIME"):
        names = columns_of(database, table)
        later = {"start": f"start + n * {period}", "end": f"end + n * {period}", "correlationId": "correlationId + 1000000 + n"}
        database.execute(f"INSERT INTO {table} ({', '.join(names)}) SELECT {', '.join(later.get(name, name) for name in names)} "
                         f"FROM copies, (SELECT * FROM {table} WHERE correlationId = {first})")
    database.commit()
    database.execute("VACUUM")
    database.close()


def write_config(setting, name, trace, job):
    """A pipeline that reads the trace, and, as a job, puts its kernels onto the sample's graph."""
    config = setting.scratch / f"{name}.yaml"
    stages = [f"{{stage: trace.nsys, with: {{file: {trace}}}}}"]
    if job:
        stages = [f"{{stage: select.final, with: {{directory: {setting.samples / 'dumps'}}}}}", "{stage: parse.auto}", "{stage: member.dataflow}",
                  *stages, "{stage: window.replay}", "{stage: align.evidence}"]
    config.write_text(f"pipeline: {name}\nlayer: 5\nstages:\n" + "".join(f"  - {stage}\n" for stage in stages))
    return config


def benches(setting):
    traces = {}
    for kernels in (*SIZES, FULL):
        traces[kernels] = setting.scratch / f"{kernels}.sqlite"
        write_trace(setting.samples / "decode.sqlite", traces[kernels], kernels)
    run = [setting.adpipe, "run", "--quiet"]
    read = write_config(setting, "read", traces[FULL], False)
    job = write_config(setting, "job", traces[FULL], True)
    if shutil.which("sqlite3"):
        shell = ["sqlite3", traces[FULL], SCAN]
        yield Bench("traces: read 1.3 million kernels", {"adpipe": [*run, read], "sqlite3 shell": shell}, {"adpipe": [Bound(2, "ratio", "sqlite3 shell")]})
        yield Bench("traces: 1.3 million kernels onto their nodes", {"adpipe": [*run, job], "sqlite3 shell": shell},
                    {"adpipe": [Bound(2, "ratio", "sqlite3 shell")]})
    else:
        print("bench: traces: the scan is skipped, sqlite3 is not there")
    labels = {kernels: f"{kernels:,} kernels".replace(",", " ") for kernels in SIZES}
    grown = {labels[kernels]: [*run, write_config(setting, f"job_{kernels}", traces[kernels], True)] for kernels in SIZES}
    yield Bench("traces: kernels onto their nodes, by number", grown,
                {labels[larger]: [Bound(larger / smaller, "ratio", labels[smaller])] for smaller, larger in zip(SIZES, SIZES[1:])})
    baseline = [sys.executable, HERE / "traces_baseline.py"]
    yield Bench("traces: against a script in Python", {"adpipe": [*run, job], "python": [*baseline, "script", traces[FULL]]},
                {"adpipe": [Bound(1, "ratio", "python")]}, may_take=1)
    yield Bench("traces: against a join per kernel, at 10 000", {"adpipe": grown[labels[SIZES[0]]], "SQL": [*baseline, "join", traces[SIZES[0]]]},
                {"adpipe": [Bound(1, "ratio", "SQL")]}, may_take=1)
