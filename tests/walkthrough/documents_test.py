#!/usr/bin/env python3
"""What walkthroughs and source traces say is what the sample's script wrote. Argument: the adpipe program."""
import gzip
import html
import json
import re
import statistics
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
ADPIPE = sys.argv.pop(1)
SAMPLE = PROJECT / "samples" / "served_model" / "simulated_served_model.trace.json.gz"


def run(*arguments):
    process = subprocess.run([ADPIPE, *map(str, arguments)], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return process.stdout


def facts(section):
    return {what.replace("\\", ""): html.unescape(value.replace("\\", "")) for what, value in re.findall(r"^\| (.*?) \| (.*) \|$", section, re.MULTILINE)}


class DocumentsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with gzip.open(SAMPLE) as stream:
            cls.events = json.load(stream)["traceEvents"]
        cls.ops = {event["args"]["External id"]: event for event in cls.events if event["cat"] == "cpu_op"}
        cls.kernels = sorted((event for event in cls.events if event["cat"] == "kernel"), key=lambda event: event["ts"])

    def test_every_kernel_of_a_layer_has_its_operator_shapes_launch_and_time(self):
        page = run("walkthrough", SAMPLE, "--layer", "5", "--format", "markdown")
        sections = re.split(r"^### ", page.split("## What the trace")[0], flags=re.MULTILINE)[1:]
        decode = self.kernels[160:332]  # behind the prefill: the first decode step
        layer = decode[1 + 3 * 11 + 2 * 15:][:15]
        self.assertEqual(len(sections), len(layer))
        for section, kernel in zip(sections, layer):
            said = facts(section)
            op = self.ops[kernel["args"]["External id"]]
            self.assertEqual(said["operator"], op["name"])
            shapes = ["×".join(map(str, shape)) for shape in op["args"]["Input Dims"]]
            self.assertEqual(re.sub(r" \w+(?=,|$)", "", said["operands"]), ", ".join(shapes))
            self.assertEqual(said["grid"], " × ".join(map(str, kernel["args"]["grid"])) + " blocks")
            self.assertEqual(said["registers"], f"{kernel['args']['registers per thread']} a thread")
            self.assertEqual(said["kernel"], kernel["name"].removeprefix("void "))
            self.assertIn("27 executions", said["time"])

    def test_the_matrix_product_rate_is_operations_over_the_median(self):
        section = run("walkthrough", SAMPLE, "--layer", "5", "--kernel", "1", "--format", "markdown")
        names = {kernel["name"] for kernel in self.kernels}
        self.assertTrue(any(name in section.replace("\\", "") for name in names))
        times = [event["dur"] for event in self.kernels[160:] if self.ops[event["args"]["External id"]]["args"]["Input Dims"] == [[8, 2048], [2048, 3072]]]
        # Layers 3 to 11 of three steps: of twelve products a step the last nine.
        median = statistics.median(time for i, time in enumerate(times) if i % 12 >= 3)
        rate = 2 * 8 * 2048 * 3072 / median / 1e6
        self.assertIn(f"{rate:.1f} TFLOP/s", section)

    def test_the_source_trace_holds_every_frame_and_counts_every_kernel(self):
        page = run("sources", SAMPLE, "--format", "markdown").replace("\\", "")
        frames = {event["name"] for event in self.events if event["cat"] == "python_function"}
        for frame in frames:
            match = re.fullmatch(r"(.*)\((\d+)\): (.*)", frame)
            if match:
                self.assertIn(f"[{match[3]}]({match[1]}:{match[2]})", page)
        for path, kernels in (("prefill, batch size 1", 160), ("decode, batch size 8", 172)):
            listed = page.split(f"## Path: {path}\n")[1].split("\n## ")[0]
            counts = [int(match[1] or 1) for match in re.finditer(r"^ *- kernel [^×\n]*?(?: × (\d+))? – ", listed, re.MULTILINE)]
            self.assertEqual(sum(counts), kernels)

    def test_links_of_a_source_trace_are_not_markup(self):
        page = run("sources", SAMPLE, "--format", "markdown")
        self.assertNotIn("<", re.sub(r"```.*?```", "", page, flags=re.DOTALL).replace("\\<", "").replace("<0.1 %", ""))


class CompanionTest(unittest.TestCase):
    """A replay knows its kernels' names alone; the recording of the capture knows which call put each into the graph."""

    LAYER = ["RMSNormKernel", "Cijk_Ailk_Bljk_BBS_MT32x32x64", "rotary_embedding_kernel", "paged_attention_kernel", "Cijk_Ailk_Bljk_BBS_MT64x16x64",
             "silu_and_mul_kernel", "Cijk_Ailk_Bljk_BBS_MT16x16x64"]

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="adpipe-companion-")
        self.directory = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, events):
        (self.directory / name).write_text(json.dumps({"traceEvents": events}))
        return self.directory / name

    def event(self, category, name, start, duration, tid=1, pid=1, **arguments):
        return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": duration, "args": arguments}

    def replay(self, layer, layers=8):
        events = [self.event("cuda_runtime", "hipGraphLaunch", 1000, 50, correlation=7), self.event("user_annotation", "decode[bs=4]", 990, 80)]
        for i, name in enumerate(layer * layers):
            events.append(self.event("kernel", name, 1100 + 10 * i, 4 + i % 3, tid=3, pid=0, correlation=7, device=0, stream=3))
        return self.write("replay.json", events)

    def capture(self, layer, layers=8):
        events = [self.event("cuda_runtime", "hipStreamBeginCapture", 10, 1, correlation=1)]
        for i, name in enumerate(layer * layers):
            start = 100 + 20 * i
            events += [self.event("python_function", f"model.py({10 + i % len(layer)}): f{i % len(layer)}", start, 15),
                       self.event("cpu_op", f"our::op_{i % len(layer)}", start + 2, 10, **{"External id": i, "Input Dims": [[4, 64 + i % len(layer)]], "Input type": ["float"]}),
                       self.event("cuda_runtime", "hipLaunchKernel", start + 4, 3, kernel=name, correlation=100 + i)]
        events.append(self.event("cuda_runtime", "hipStreamEndCapture", 100 + 20 * len(layer) * layers, 1, correlation=2))
        return self.write("capture.json", events)

    def test_kernels_take_operators_shapes_and_frames_from_the_capture(self):
        page = run("walkthrough", self.replay(self.LAYER), "--companion", self.capture(self.LAYER), "--format", "markdown")
        sections = re.split(r"^### ", page.split("## What the trace")[0], flags=re.MULTILINE)[1:]
        self.assertEqual(len(sections), len(self.LAYER))
        for position, section in enumerate(sections):
            said = facts(section)
            self.assertEqual(said["operator"], f"our::op_{position}")
            self.assertEqual(said["operands"], f"4×{64 + position} f32")
            self.assertIn("capture.json", said["known from"])
            self.assertEqual(said["called from"], f"model.py({10 + position}): f{position}")
        sources = run("sources", self.directory / "replay.json", "--companion", self.directory / "capture.json", "--format", "markdown")
        self.assertIn("[f3](model.py:13) – 8 kernels", sources)

    def test_a_kernel_that_the_capture_has_not_takes_nothing_over(self):
        capture = self.capture(self.LAYER)
        changed = [*self.LAYER[:5], "some_new_kernel", *self.LAYER[5:]]
        page = run("walkthrough", self.replay(changed), "--companion", capture, "--format", "markdown")
        sections = re.split(r"^### ", page.split("## What the trace")[0], flags=re.MULTILINE)[1:]
        said = {section.split("\n")[0].split(": ")[1].replace("\\", ""): facts(section) for section in sections}
        self.assertNotIn("operator", said["some_new_kernel"])
        self.assertEqual(said["paged_attention_kernel"]["operator"], "our::op_3")
        self.assertEqual(said["silu_and_mul_kernel"]["operator"], "our::op_5")

    def test_another_model_s_capture_says_nothing(self):
        other = self.capture([f"kernel_of_another_model_{letter}" for letter in "abcdefg"])
        page = run("walkthrough", self.replay(self.LAYER), "--companion", other, "--format", "markdown")
        self.assertNotIn("our::op", page)


if __name__ == "__main__":
    unittest.main()
