#!/usr/bin/env python3
"""What walkthroughs and source traces say is what the sample's script wrote. Argument: the adpipe program."""
import gzip
import html
import json
import re
import statistics
import subprocess
import sys
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


if __name__ == "__main__":
    unittest.main()
