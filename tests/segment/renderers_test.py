#!/usr/bin/env python3
"""Renderers show layers that were found in a trace as they show those of a dump. Argument: the adpipe program."""
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
ADPIPE = str(Path(sys.argv.pop(1)).resolve())
TRACE = PROJECT / "tests" / "data" / "traces" / "llama_layer_nvtx.sqlite"

PIPELINE = f"""
pipeline: trace_alone
layer: 3
output: out
stages:
  - stage: trace.nsys
    with: {{file: {TRACE}}}
  - stage: window.replay
    with: {{phase: decode}}
  - stage: segment.period
  - stage: render.json
  - stage: render.dot
    with: {{formats: [dot]}}
  - stage: render.csv
  - stage: render.table
"""


class RenderersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="adpipe-renderers-")
        directory = Path(cls.folder.name)
        (directory / "trace.yaml").write_text(PIPELINE)
        cls.process = subprocess.run([ADPIPE, "run", "trace.yaml"], cwd=directory, capture_output=True, text=True)
        cls.files = {file.suffix: file.read_text() for file in (directory / "out").glob("*")}
        cls.layer = next(json.loads(file.read_text()) for file in (directory / "out").glob("*layer3.json"))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_the_pipeline_runs(self):
        self.assertEqual(self.process.returncode, 0, self.process.stderr)
        self.assertIn("6 layers of 1 kind", self.process.stderr)

    def test_every_renderer_shows_the_kernels(self):
        self.assertIn("kernel_mha", self.files[".dot"])
        self.assertIn("kernel_mha", self.files[".csv"])
        self.assertIn("kernel_mha", json.dumps(self.layer))

    def test_the_blocks_of_the_layer_have_their_names(self):
        headings = [line.split("  ")[0] for line in self.process.stdout.splitlines() if re.match(r"[A-Z]", line)]
        self.assertIn("Attention", " ".join(headings))
        self.assertNotIn("Residual", " ".join(headings))

    def test_steps_of_another_batch_size_do_not_count_as_steps_without_time(self):
        line = next(line for line in self.process.stdout.splitlines() if line.startswith("per step"))
        self.assertNotRegex(line, r"\b0 ns\b")


if __name__ == "__main__":
    unittest.main()
