#!/usr/bin/env python3
"""The main job on the sample, through a config and without one: what it writes is of the formats that users' scripts read, adds up, and is
the same both ways; another renderer is one word.  main_job_test.py --adpipe FILE"""
import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
SAMPLE = PROJECT / "samples" / "deepseek_v3"
STEM = "092_compile_compile_model_layer5"
ADPIPE = ""

GROUPS = {"norm", "attention", "mla", "moe", "mlp", "mamba", "gdn", "other"}
SUB_GROUPS = {"q_branch", "kv_branch", "rope", "moe_router", "moe_experts", "shared_experts", "gdn_conv1d", "gdn_gating", "gdn_delta_rule",
              "mamba_metadata", "mamba_ssm", "mamba_gated_norm"}
# The formats, key by key: a type, a list of one type, a map with optional keys marked `?`; keys that begin with x_ are adpipe's own.
NUMBER = (int, float)
LAYER = {
    "layer": int, "source_file": str,
    "nodes": [{"id": str, "op": str, "shape": str, "dtype": str, "group": GROUPS, "sub_group?": SUB_GROUPS, "inputs": [str],
               "weight_inputs": [{"name": str, "shape": str, "dtype": str}], "trace_kernels": [{"kernel": str, "duration_us": NUMBER}]}],
    "edges": [{"from": str, "to": str}],
    "external_inputs": [{"id": str, "label": str, "shape": str}],
    "trace_summary": {"total_duration_us": NUMBER, "kernel_count": int, "num_streams": int},
}
KERNELS_OF_LAYER = {
    "layer": int, "num_streams": int, "stream_ids": [int], "kernel_count": int, "total_duration_ns": int, "total_duration_us": NUMBER,
    "kernels": [{"index": int, "kernel": str, "full_name": str, "duration_ns": int, "duration_us": NUMBER, "stream_id": int}],
}
KERNELS = {"source": str, "graph_id": int, "unique_graph_nodes": int, "num_replays": int, "num_layers_detected": int, "layers": dict}


def faults(value, form, where="file"):
    """What in a JSON value is not of the form."""
    if isinstance(form, set):
        return [] if value in form else [f"{where}: {value!r}"]
    if isinstance(form, list):
        if not isinstance(value, list):
            return [f"{where}: no list"]
        return [fault for i, entry in enumerate(value) for fault in faults(entry, form[0], f"{where}[{i}]")]
    if not isinstance(form, dict):
        return [] if isinstance(value, form) and not isinstance(value, bool) else [f"{where}: {value!r} is no {form}"]
    if not isinstance(value, dict):
        return [f"{where}: no object"]
    known = {key.rstrip("?") for key in form}
    found = [f"{where}: unknown key {key}" for key in value if key not in known and not key.startswith("x_")]
    for key, part in form.items():
        name = key.rstrip("?")
        if name in value:
            found += faults(value[name], part, f"{where}.{name}")
        elif key == name:
            found.append(f"{where}: no {name}")
    return found


def run(*arguments, cwd=PROJECT):
    return subprocess.run([ADPIPE, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=True)


class MainJobTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = Path(tempfile.mkdtemp(prefix="adpipe-main-job-"))
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        cls.by_config = run("run", "configs/deepseek_decode.yaml", "-o", cls.directory / "config", "--set", "render.dot.formats=dot")
        cls.layer = json.loads((cls.directory / "config" / f"{STEM}.json").read_text(encoding="utf-8"))
        cls.kernels = json.loads((cls.directory / "config" / f"{STEM}_kernels.json").read_text(encoding="utf-8"))

    def test_layer_json_is_of_its_format(self):
        self.assertEqual(faults(self.layer, LAYER), [])
        self.assertEqual(faults({**self.layer, "layer": "5", "more": 1}, LAYER), ["file: unknown key more", "file.layer: '5' is no <class 'int'>"])

    def test_layer_json_holds_together(self):
        ids = {entry["id"] for part in ("nodes", "external_inputs") for entry in self.layer[part]}
        self.assertEqual(len(ids), len(self.layer["nodes"]) + len(self.layer["external_inputs"]))
        self.assertEqual({end for edge in self.layer["edges"] for end in (edge["from"], edge["to"])} - ids, set())
        self.assertEqual({name for node in self.layer["nodes"] for name in node["inputs"]} - ids, set())
        summed = sum(kernel["duration_us"] for node in self.layer["nodes"] for kernel in node["trace_kernels"])
        self.assertAlmostEqual(summed, self.layer["trace_summary"]["total_duration_us"], delta=0.05 * len(self.layer["nodes"]))
        self.assertGreater(summed, 0)

    def test_kernels_json_is_of_its_format_and_adds_up(self):
        self.assertEqual(faults(self.kernels, KERNELS), [])
        self.assertEqual(list(self.kernels["layers"]), ["5"])
        layer = self.kernels["layers"]["5"]
        self.assertEqual(faults(layer, KERNELS_OF_LAYER), [])
        self.assertEqual([kernel["index"] for kernel in layer["kernels"]], list(range(layer["kernel_count"])))
        self.assertEqual(sum(kernel["duration_ns"] for kernel in layer["kernels"]), layer["total_duration_ns"])
        self.assertEqual({kernel["stream_id"] for kernel in layer["kernels"]}, set(layer["stream_ids"]))
        self.assertEqual(layer["kernel_count"], self.layer["trace_summary"]["kernel_count"])

    def test_the_picture_names_every_node_that_launches_kernels(self):
        dot = (self.directory / "config" / f"{STEM}.dot").read_text(encoding="utf-8")
        launching = [node["id"] for node in self.layer["nodes"] if node["trace_kernels"]]
        self.assertGreater(len(launching), 10)
        self.assertEqual([name for name in launching if name not in dot], [])

    def test_the_front_door_gives_the_same(self):
        run("layer", "5", SAMPLE / "dumps", "--trace", SAMPLE / "decode.sqlite", "-o", self.directory / "door")
        for name in (f"{STEM}.json", f"{STEM}_kernels.json"):
            self.assertEqual((self.directory / "door" / name).read_bytes(), (self.directory / "config" / name).read_bytes(), name)

    def test_another_renderer_is_one_word(self):
        text = (PROJECT / "configs" / "deepseek_decode.yaml").read_text(encoding="utf-8")
        head, tail = text[:text.index("  - stage: render.")].replace("../samples", str(PROJECT / "samples")), "  - stage: render.dot\n"
        head = head.replace("rules/deepseek.yaml", str(PROJECT / "configs/rules/deepseek.yaml"))
        for word, made in (("render.dot", f"{STEM}.dot"), ("render.csv", ".csv"), ("render.markdown", ".md"), ("render.mermaid", ".mmd")):
            config = self.directory / f"{word}.yaml"
            config.write_text(head + tail.replace("render.dot", word), encoding="utf-8")
            run("run", config, "-o", self.directory / word)
            files = [file.name for file in (self.directory / word).iterdir()]
            self.assertTrue(any(name.endswith(made) for name in files), f"{word} wrote {files}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--adpipe", required=True)
    known, rest = parser.parse_known_args()
    ADPIPE = known.adpipe
    unittest.main(argv=[sys.argv[0], *rest])
