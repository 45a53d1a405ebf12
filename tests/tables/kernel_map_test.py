#!/usr/bin/env python3
"""Kernel maps: every kernel of both sides is there once and in order, hostile names stay text, one trace or two. Argument: the adpipe program."""
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
ADPIPE = sys.argv.pop(1)
SAMPLE = PROJECT / "samples" / "served_model" / "simulated_served_model.trace.json.gz"
PREFILL = ["FusedAddRMSNormKernel", "nvjet_tst_128x256_64x4_2x1_v_bz_TNT", "fused_rope_kernel", "store_kvcache", "void flash_fwd_kernel<128, 64>(Params)",
           "nvjet_tst_128x128_64x6_2x1_v_bz_TNT", "FusedAddRMSNormKernel", "nvjet_tst_256x128_64x4_2x1_v_bz_TNT", "act_and_mul_kernel",
           "nvjet_tst_128x256_64x4_2x1_v_bz_TNT"]
DECODE = ["FusedAddRMSNormKernel", "nvjet_tst_64x8_64x16_4x1_v_bz_TNT", "fused_rope_kernel", "store_kvcache", "void paged_attention_v1_kernel<bf16, 128>(Params)",
          "nvjet_tst_64x8_64x16_4x1_v_bz_TNT", "void cublasLt::splitKreduce_kernel<32, 16>(Params)", "FusedAddRMSNormKernel",
          "nvjet_tst_64x16_64x16_4x1_v_bz_TNT", "act_and_mul_kernel", "nvjet_tst_64x8_64x16_4x1_v_bz_TNT"]
HOSTILE = "void evil<\"'&>|`</script><script>alert(1)</script>\x1b[31m[x](javascript:1)\n(int)"


def run(*arguments):
    return subprocess.run([ADPIPE, *map(str, arguments)], capture_output=True, text=True)


class Server:
    """Steps of a model that is launched kernel by kernel; durations in nanoseconds by (phase, position)."""

    def __init__(self, seed):
        self.random, self.events, self.durations = random.Random(seed), [], {}
        self.host = self.device = 1_000_000
        self.correlation = 0

    def event(self, category, name, start, duration, pid, arguments):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": 7, "ts": start / 1000, "dur": duration / 1000, "args": arguments})

    def kernel(self, name):
        self.correlation += 1
        duration = 1000 + self.random.randrange(50_000)
        self.event("cuda_runtime", "cudaLaunchKernel", self.host, 2000, 1, {"correlation": self.correlation})
        self.device = max(self.device, self.host) + 500
        self.event("kernel", name, self.device, duration, 0, {"device": 0, "stream": 7, "correlation": self.correlation, "grid": [4, 1, 1], "block": [128, 1, 1]})
        self.device += duration
        self.host += 3000
        return duration

    def step(self, phase, names, layers=10, batch=4):
        begin = self.host
        self.kernel("at::native::indexSelectSmallIndex")
        for _ in range(layers):
            for position, name in enumerate(names):
                self.durations.setdefault((phase, position), []).append(self.kernel(name))
        self.kernel("at::native::ArgMaxOps_reduce_kernel")
        self.event("user_annotation", f"{phase}[bs={batch}]", begin, self.host - begin, 1, {})
        self.event("cuda_runtime", "cudaStreamSynchronize", self.host + 100, 1000, 1, {"correlation": 0})
        self.host = self.device = max(self.host, self.device) + 100_000

    def write(self, file):
        file.write_text(json.dumps({"traceEvents": self.events}))
        return file


class Rows(HTMLParser):
    """The elements of a page, and the policy that it gives itself."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.policy = set(), set(), ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attributes)
        if tag == "meta" and ("http-equiv", "Content-Security-Policy") in attributes:
            self.policy = dict(attributes)["content"]


class KernelMapTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="adpipe-map-")
        self.directory = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def markdown_rows(self, *arguments):
        process = run("map", *arguments, "--format", "markdown")
        self.assertEqual(process.returncode, 0, process.stderr)
        table = process.stdout.split("| difference |\n")[1].split("\n\n")[0].splitlines()[1:]
        return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table], process.stdout

    def test_every_kernel_is_there_once_in_order_with_its_mean(self):
        server = Server(seed=1)
        server.step("prefill", PREFILL)
        for _ in range(3):
            server.step("decode", DECODE)
        rows, text = self.markdown_rows(server.write(self.directory / "both.json"))
        for phase, names, time in (("prefill", PREFILL, 2), ("decode", DECODE, 5)):
            means = [row[time] for row in rows[:-1] if row[time] != "–"]
            wanted = [statistics.fmean(server.durations[phase, position]) / 1000 for position in range(len(names))]
            self.assertEqual(len(means), len(names))
            for got, want in zip(means, wanted):
                self.assertAlmostEqual(float(got), want, delta=0.0511)
        verdicts = [re.split(r"[ ?]*:", row[7])[0].rstrip(" ?") for row in rows[:-1]]
        self.assertEqual(verdicts, ["same", "other parameters", "same", "same", "other kernel", "other parameters", "only right", "same", "other parameters",
                                    "same", "other parameters"])
        self.assertIn("tile 128x256x64 → 64x8x64", rows[1][7])

    def test_two_traces_give_what_one_with_both_phases_gives(self):
        both, prefill, decode = Server(2), Server(2), Server(3)
        both.step("prefill", PREFILL)
        both.step("decode", DECODE)
        prefill.step("prefill", PREFILL)
        decode.step("decode", DECODE)
        one, _ = self.markdown_rows(both.write(self.directory / "both.json"))
        two, _ = self.markdown_rows(prefill.write(self.directory / "a.json"), decode.write(self.directory / "b.json"))
        column = lambda rows, index: [row[index] for row in rows]
        for index in (0, 1, 2, 4, 7):
            self.assertEqual(column(one, index), column(two, index))

    def test_a_trace_beside_itself_is_the_same(self):
        rows, _ = self.markdown_rows(SAMPLE, SAMPLE, "--left", "decode", "--layer", "5")
        self.assertEqual({row[7] for row in rows[:-1]}, {"same"})

    def test_hostile_names_stay_text(self):
        server = Server(seed=4)
        server.step("prefill", [*PREFILL, HOSTILE])
        server.step("decode", [*DECODE, HOSTILE])
        process = run("map", server.write(self.directory / "<b>evil.json"), "-o", self.directory / "out", "--quiet")
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertNotIn("\x1b", process.stdout)
        page = (self.directory / "out" / "kernel_map.html").read_text()
        rows = Rows(page)
        self.assertNotIn("script", rows.tags)
        self.assertNotIn("b", rows.tags)
        self.assertFalse({name for name in rows.attributes if name.startswith("on") or name in ("style", "src", "href")})
        self.assertTrue(rows.policy.startswith("default-src 'none'"))
        self.assertIn("alert(1)", page)
        markdown = (self.directory / "out" / "kernel_map.md").read_text()
        self.assertNotIn("<script>", markdown)
        for line in markdown.splitlines():
            if line.startswith("| left") or line.startswith("| right"):
                self.assertEqual(len(re.findall(r"(?<!\\)\|", line)), 8, line)

    def test_the_ready_config_shows_what_the_verb_shows(self):
        process = run("run", PROJECT / "configs" / "kernel_map.yaml", "--output", self.directory / "config", "--quiet")
        self.assertEqual(process.returncode, 0, process.stderr)
        verb = run("map", SAMPLE, "-o", self.directory / "verb", "--quiet")
        self.assertEqual(verb.stdout, "")  # files only
        self.assertEqual(run("map", SAMPLE, "--quiet").stdout, process.stdout)
        read = lambda folder: {file.name: file.read_bytes() for file in (self.directory / folder).iterdir()}
        self.assertEqual(read("config"), read("verb"))


if __name__ == "__main__":
    unittest.main()
