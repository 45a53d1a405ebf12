#!/usr/bin/env python3
"""A table made into a trace comes back from the trace, and what tables say adds up. Argument: the adpipe program."""
import csv
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
ADPIPE = sys.argv.pop(1)
TRACE = PROJECT / "tests" / "data" / "traces" / "llama_layer_nvtx.sqlite"

DENSE = ["flashinfer::norm::FusedAddRMSNormKernel", "nvjet_tst_64x8_64x16_4x1_v_bz_TNT", "fused_rope_kernel", "store_kvcache",
         "fmhaSm100fKernel_QkvBfloat16H128PagedKv", "nvjet_tst_128x8_64x12_2x1_v_bz_TNT", "flashinfer::norm::FusedAddRMSNormKernel",
         "nvjet_tst_256x16_64x6_4x1_v_bz_TNT", "act_and_mul_kernel", "nvjet_tst_128x8_64x12_2x1_v_bz_TNT"]
EXPERTS = DENSE[:7] + ["router_gemm_kernel", "deepseek_v3_topk_kernel", "moe_gemm_grouped_kernel", "act_and_mul_kernel", "moe_gemm_grouped_kernel",
                       "finalizeMoeRoutingKernel"]
PROLOGUE = ["at::native::indexSelectSmallIndex"]
EPILOGUE = ["flashinfer::norm::FusedAddRMSNormKernel", "nvjet_tst_128x16_64x9_2x1_v_bz_TNN", "at::native::ArgMaxOps_reduce_kernel"]


class Recording:
    """A profile of a server that launches its kernels one by one; `durations[batch, kind, position]` are in nanoseconds."""

    def __init__(self, layers, batches, seed):
        self.random = random.Random(seed)
        self.layers, self.events, self.durations, self.others = layers, [], {}, []
        self.host = self.device = 1_000_000
        self.correlation = 0
        for batch in batches:
            self.step(batch)

    def kernel(self, name):
        self.correlation += 1
        duration = 1000 + int(self.random.random() * 50_000)
        self.event("cuda_runtime", "cudaLaunchKernel", self.host, 2000, 1, 1, {"correlation": self.correlation})
        self.device = max(self.device, self.host) + 500
        self.event("kernel", name, self.device, duration, 0, 7, {"device": 0, "stream": 7, "correlation": self.correlation})
        self.device += duration
        self.host += 3000
        return duration

    def event(self, category, name, start, duration, pid, tid, arguments):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start / 1000, "dur": duration / 1000, "args": arguments})

    def step(self, batch):
        begin = self.host
        self.others += [self.kernel(name) for name in PROLOGUE]
        for kind, names in self.layers:
            for position, name in enumerate(names):
                self.durations.setdefault((batch, kind, position), []).append(self.kernel(name))
        self.others += [self.kernel(name) for name in EPILOGUE]
        self.event("user_annotation", f"decode[bs={batch} tok={batch} d={batch}]", begin, self.host - begin, 1, 1, {})
        self.event("cuda_runtime", "cudaStreamSynchronize", self.host + 100, 1000, 1, 1, {"correlation": 0})
        self.host = self.device = max(self.host, self.device) + 100_000

    def write(self, file):
        file.write_text(json.dumps({"traceEvents": self.events}))


def run(*arguments):
    return subprocess.run([ADPIPE, *map(str, arguments)], capture_output=True, text=True)


def read_csv(file):
    with open(file, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


class TablesTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="adpipe-tables-")
        self.directory = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def tables(self, recording, *options):
        recording.write(self.directory / "served.json")
        process = run("tables", self.directory / "served.json", "-o", self.directory / "out", *options)
        self.assertEqual(process.returncode, 0, process.stderr)
        return self.directory / "out"

    def check_table(self, file, names, recording, batch, kind):
        rows = read_csv(file)
        self.assertEqual([row["kernel"] for row in rows], names)
        self.assertEqual([int(row["pos"]) for row in rows], list(range(len(names))))
        total = sum(sum(recording.durations[batch, kind, position]) for position in range(len(names)))
        for position, row in enumerate(rows):
            want = [duration / 1000 for duration in recording.durations[batch, kind, position]]
            self.assertEqual(int(row["count"]), len(want))
            for column, value in (("avg_us", statistics.fmean(want)), ("std_us", statistics.stdev(want)), ("min_us", min(want)),
                                  ("max_us", max(want)), ("pct", 100_000 * sum(want) / total)):
                self.assertAlmostEqual(float(row[column]), value, delta=0.0501, msg=f"{file.name} {position} {column}")

    def test_a_table_comes_back_from_the_trace_that_it_was_made_into(self):
        layers = [(0, DENSE)] * 3 + [(1, EXPERTS)] * 9
        recording = Recording(layers, [4, 8, 4, 4], seed=2)
        out = self.tables(recording)
        for batch in (4, 8):
            self.check_table(out / f"conc{batch}_layer.csv", EXPERTS, recording, batch, 1)
            self.check_table(out / f"conc{batch}_layer_kind0.csv", DENSE, recording, batch, 0)

    def test_position_0_is_the_attention_kernel_where_that_is_asked_for(self):
        recording = Recording([(0, DENSE)] * 8, [16, 16], seed=3)
        rows = read_csv(self.tables(recording, "--begin", "attention", "--name", "attn") / "conc16_attn.csv")
        self.assertEqual([row["kernel"] for row in rows], DENSE[4:] + DENSE[:4])
        self.assertEqual([int(row["pos"]) for row in rows], list(range(len(DENSE))))

    def test_times_add_up(self):
        recording = Recording([(0, DENSE)] * 3 + [(1, EXPERTS)] * 9, [4, 8], seed=4)
        page = (self.tables(recording) / "layers.md").read_text()
        lines = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in page.split("## How the times add up")[1].splitlines() if line.startswith("| ")]
        sums = {what: (int(kernels), int(time)) for what, kernels, time in lines[1:]}
        every = [duration for durations in recording.durations.values() for duration in durations] + recording.others
        self.assertEqual(sums["all kernels of the chosen steps"], (len(every), sum(every)))
        self.assertEqual(sums["sum of the above"], sums["all kernels of the chosen steps"])
        self.assertEqual(sums["before the first and behind the last layer"], (len(recording.others), sum(recording.others)))
        self.assertEqual(sums["of no known layer"], (0, 0))

    def test_the_inventory_counts_every_kernel_once(self):
        recording = Recording([(0, DENSE)] * 8, [4], seed=5)
        out = self.tables(recording)
        rows = read_csv(out / "served_kernels.csv")
        wanted = {}
        for (_, _, position), durations in recording.durations.items():
            count, time = wanted.get(DENSE[position], (0, 0))
            wanted[DENSE[position]] = count + len(durations), time + sum(durations)
        for row in rows:
            if row["name"] in wanted and row["name"] not in EPILOGUE:
                count, time = wanted[row["name"]]
                self.assertEqual(int(row["count"]), count)
                self.assertAlmostEqual(float(row["total_us"]), time / 1000, delta=0.0501)
        totals = [float(row["total_us"]) for row in rows]
        self.assertEqual(totals, sorted(totals, reverse=True))
        every = sum(duration for durations in recording.durations.values() for duration in durations) + sum(recording.others)
        self.assertAlmostEqual(sum(totals), every / 1000, delta=0.05 * len(rows))
        self.assertAlmostEqual(sum(float(row["pct"]) for row in rows), 100, delta=0.05 * len(rows))
        self.assertEqual(sum(int(row["count"]) for row in read_csv(out / "served_categories.csv")), sum(int(row["count"]) for row in rows))

    def test_sum_busy_and_idle_fit(self):
        process = run("inventory", TRACE, "--format", "markdown", "--phase", "decode")
        self.assertEqual(process.returncode, 0, process.stderr)
        device = re.search(r"^\| device 0 \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", process.stdout, re.MULTILINE)
        total, busy, overlap, idle, span = map(int, device.groups())
        self.assertEqual(total, busy + overlap)
        self.assertEqual(span, busy + idle)
        self.assertGreater(overlap, 0)  # kernels of one stream overlap in it
        self.assertGreater(idle, 0)

    def test_the_ready_config_writes_the_same_files_as_the_verb(self):
        process = run("run", PROJECT / "configs" / "layer_table.yaml", "--output", self.directory / "config", "--quiet")
        self.assertEqual(process.returncode, 0, process.stderr)
        process = run("tables", PROJECT / "samples" / "deepseek_v3" / "decode.sqlite", "--phase", "decode", "-o", self.directory / "verb", "--quiet")
        self.assertEqual(process.returncode, 0, process.stderr)
        read = lambda folder: {file.name: file.read_bytes() for file in (self.directory / folder).iterdir()}
        self.assertEqual(read("config"), read("verb"))

    def test_the_layers_of_a_dump_have_tables_too(self):
        dump = PROJECT / "tests" / "data" / "dumps" / "llama"
        process = run("tables", TRACE, "--dump", dump, "--phase", "decode", "-o", self.directory / "out")
        self.assertEqual(process.returncode, 0, process.stderr)
        by_dump = read_csv(self.directory / "out" / "conc8_layer.csv")
        process = run("tables", TRACE, "--phase", "decode", "-o", self.directory / "trace_alone")
        self.assertEqual(process.returncode, 0, process.stderr)
        alone = read_csv(self.directory / "trace_alone" / "conc8_layer.csv")
        names = lambda rows: [row["kernel"] for row in rows]
        self.assertEqual(sorted(names(by_dump)), sorted(names(alone)))

    def test_the_options_that_choose_steps_choose_them_in_every_verb(self):
        def rows(verb, *options):
            process = run(verb, TRACE, *options)
            self.assertEqual(process.returncode, 0, process.stderr)
            return process.stdout.splitlines()
        steps = [line.split("\t") for line in rows("steps", "--format", "tsv")[1:]]
        chosen = next(step for step in steps if step[1] == "decode" and step[3] == "4")
        self.assertEqual(len(rows("layers", "--format", "tsv", "--step", chosen[0])) - 1, int(chosen[6]))
        counted = [line.rsplit(",", 4)[1] for line in rows("inventory", "--format", "csv", "--step", chosen[0])[1:]]
        self.assertEqual(sum(map(int, counted)), int(chosen[6]))
        by_graph = [line.split("\t") for line in rows("layers", "--format", "tsv", "--graph", chosen[2])[1:]]
        self.assertEqual({row[7] for row in by_graph}, {step[0] for step in steps if step[2] == chosen[2]})
        rows("tables", "--batch", "4", "-o", str(self.directory / "batch"))
        tables = {file.name for file in (self.directory / "batch").glob("*conc*.csv")}
        self.assertEqual(tables, {"conc4_layer.csv", "capture_conc4_layer.csv"})
        rows("tables", "--graph", chosen[2], "-o", str(self.directory / "graph"))
        self.assertEqual({file.name for file in (self.directory / "graph").glob("*conc*.csv")}, {"conc4_layer.csv"})
        for verb in ("layers", "tables", "inventory"):
            output = ["-o", str(self.directory / "none")] if verb == "tables" else []
            self.assertIn("ADP-WINDOW-001", run(verb, TRACE, "--graph", "77", *output).stderr)
            self.assertEqual(run(verb, TRACE, "--batch", "eight").returncode, 2)

    def test_names_that_differ_behind_a_dot_stay_apart(self):
        recording = Recording([("dense", DENSE)] * 10, [4], seed=5)
        for name in ("run.1.json", "run.2.pt.trace.json"):
            recording.write(self.directory / name)
            self.assertEqual(run("tables", self.directory / name, "-o", self.directory / "out").returncode, 0)
        files = {file.name for file in (self.directory / "out").glob("*_kernels.csv")}
        self.assertEqual(files, {"run.1_kernels.csv", "run.2_kernels.csv"})

    def test_ranks_and_devices_are_never_mixed(self):
        recording = Recording([("dense", DENSE)] * 10, [4, 4], seed=3)
        for event in list(recording.events):  # the same on another device, by another process
            arguments = {**event["args"], **({"device": 1} if "device" in event["args"] else {})}
            recording.events.append({**event, "pid": {0: 10, 1: 11}[event["pid"]], "args": arguments})
        recording.write(self.directory / "two.json")
        for options, shown, other in (((), 0, 1), (("--device", "1"), 1, None)):
            process = run("layers", self.directory / "two.json", *options)
            self.assertEqual(process.returncode, 0, process.stderr)
            self.assertIn("10 layers × 2 steps", process.stdout)
            self.assertEqual("alone is shown" in process.stdout, other is not None, process.stdout)
            if other is not None:
                self.assertRegex(process.stdout, rf"on device {shown} alone is shown; --rank or --device chooses another: .*on device {other}")
        process = run("layers", self.directory / "two.json", "--format", "tsv")
        self.assertEqual({line.split("\t")[5] for line in process.stdout.splitlines()[1:]}, {"0", "1"})


if __name__ == "__main__":
    unittest.main()
