#!/usr/bin/env python3
"""configs/profile_model.yaml writes everything, and what the verbs write; own rules are named once. Argument: the adpipe program."""
import csv
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
ADPIPE = str(Path(sys.argv.pop(1)).resolve())
SAMPLE = PROJECT / "samples" / "served_model" / "simulated_served_model.trace.json.gz"
RULES = """library: Ours
rules:
  - rule: experts
    name: fused_moe_kernel
    category: moe
    short: our_experts
    example: {name: fused_moe_kernel}
"""


def run(*arguments, **options):
    process = subprocess.run([ADPIPE, *map(str, arguments)], capture_output=True, text=True, **options)
    assert process.returncode == 0, process.stderr
    return process


class ProfileTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="adpipe-profile-")
        cls.directory = Path(cls.folder.name)
        run("run", PROJECT / "configs" / "profile_model.yaml", "--output", cls.directory / "profile")
        cls.files = {file.name: file.read_text() for file in (cls.directory / "profile").iterdir()}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_it_writes_all_documents(self):
        self.assertEqual(sorted(self.files), [
            "conc8_layer.csv", "conc8_layer_kind0.csv", "kernel_map.html", "kernel_map.md", "kernel_names.csv", "layers.md", "prefill_conc1_layer.csv",
            "prefill_conc1_layer_kind0.csv", "simulated_served_model_categories.csv", "simulated_served_model_kernels.csv",
            "simulated_served_model_kernels.md", "source_trace.html", "source_trace.md", "steps.csv", "walkthrough.html", "walkthrough.md"])

    def test_decoded_once_or_by_each_renderer_is_the_same(self):
        run("tables", SAMPLE, "-o", self.directory / "tables")
        run("map", SAMPLE, "-o", self.directory / "tables")
        run("walkthrough", SAMPLE, "-o", self.directory / "tables")
        run("sources", SAMPLE, "-o", self.directory / "tables")
        for file in (self.directory / "tables").iterdir():
            self.assertEqual(file.read_text(), self.files[file.name], file.name)

    def test_the_list_of_names_agrees_with_the_inventory(self):
        rows = list(csv.DictReader(io.StringIO(self.files["kernel_names.csv"])))
        inventory = list(csv.DictReader(io.StringIO(self.files["simulated_served_model_kernels.csv"])))
        self.assertEqual([(row["name"], row["count"], row["total_us"]) for row in rows], [(row["name"], row["count"], row["total_us"]) for row in inventory])
        tiles = {row["short_name"]: row["parameters"] for row in rows}
        self.assertIn("tile 64x8x64", tiles["nvjet_64x8"])

    def test_steps_are_listed_with_their_batch_sizes(self):
        rows = list(csv.DictReader(io.StringIO(self.files["steps.csv"])))
        self.assertEqual([(row["phase"], row["batch_size"], row["used"]) for row in rows], [("prefill", "1", "yes")] + [("decode", "8", "yes")] * 3)
        for row in rows:
            self.assertLessEqual(float(row["sum_us"]), float(row["wall_us"]))  # one stream

    def test_own_rules_reach_every_renderer(self):
        (self.directory / "own.yaml").write_text(RULES)
        run("run", PROJECT / "configs" / "profile_model.yaml", "--output", self.directory / "own", "--set", f"analyze.decode_names.rules=[{self.directory / 'own.yaml'}]")
        for name in ("conc8_layer.csv", "layers.md", "kernel_map.md", "kernel_names.csv", "walkthrough.md", "walkthrough.html", "source_trace.md", "simulated_served_model_kernels.md"):
            text = (self.directory / "own" / name).read_text().replace("\\", "")
            self.assertIn("our_experts", text, name)
            self.assertNotIn("our_experts", self.files[name].replace("\\", ""), name)


if __name__ == "__main__":
    unittest.main()
