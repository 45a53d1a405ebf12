#!/usr/bin/env python3
"""Reads what render.model_explorer writes with Model Explorer's own types: model_explorer_test.py ADPIPE. Exit status 77: skipped.

Needs its package (`pip install ai-edge-model-explorer`), of the Python that MODEL_EXPLORER_PYTHON names, else python3.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
PYTHON = os.environ.get("MODEL_EXPLORER_PYTHON", "python3")
PIPELINE = """
pipeline: test
layer: [1, 5]
output: {out}
stages:
  - stage: select.final
    with: {{directory: {project}/samples/deepseek_v3/dumps}}
  - stage: parse.autodeploy
  - stage: member.dataflow
  - stage: trace.nsys
    with: {{file: {project}/samples/deepseek_v3/decode.sqlite}}
  - stage: window.replay
    with: {{phase: decode}}
  - stage: align.evidence
  - stage: render.model_explorer
"""
# Runs under PYTHON. A key that Model Explorer does not know, and a value of another type, are errors.
READER = r"""
import glob, json, os, sys
import dacite
from model_explorer.graph_builder import GraphCollection
from model_explorer.node_data_builder import GraphNodeData

strict = dacite.Config(strict=True)
[collection_file] = glob.glob(os.path.join(sys.argv[1], "*_model_explorer.json"))
collection = dacite.from_dict(GraphCollection, json.load(open(collection_file, encoding="utf-8")), strict)
nodes = {graph.id: {node.id for node in graph.nodes} for graph in collection.graphs}
assert list(nodes) == ["layer_1", "layer_5"], list(nodes)
for graph in collection.graphs:
    assert len(nodes[graph.id]) == len(graph.nodes) > 20, "ids are not unique"
    assert {edge.sourceNodeId for node in graph.nodes for edge in node.incomingEdges} <= nodes[graph.id]
    assert all(len([n for n in graph.nodes if n.namespace == space]) <= 1000 for space in {n.namespace for n in graph.nodes})
for name in ("time", "share", "evidence", "confidence", "category"):
    for graph, data in json.load(open(collection_file[:-5] + "_" + name + ".json", encoding="utf-8")).items():
        # Its Python types take numbers only; its page takes texts as well.
        for value in data["results"].values():
            assert isinstance(value["value"], (int, float, str))
            value["value"] = float(len(value["value"])) if isinstance(value["value"], str) else value["value"]
        known = dacite.from_dict(GraphNodeData, data, strict)
        assert known.results and set(known.results) <= nodes[graph], graph
print("read", ", ".join(f"{graph}: {len(ids)} nodes" for graph, ids in nodes.items()))
"""


def main():
    if subprocess.run([PYTHON, "-c", "import model_explorer"], capture_output=True).returncode != 0:
        print(f"skipped: {PYTHON} has no model_explorer (pip install ai-edge-model-explorer)")
        return 77
    with tempfile.TemporaryDirectory() as directory:
        config = Path(directory, "test.yaml")
        out = Path(directory, "out")
        config.write_text(PIPELINE.format(out=out, project=PROJECT), encoding="utf-8")
        subprocess.run([sys.argv[1], "run", config, "--quiet"], check=True)
        return subprocess.run([PYTHON, "-c", READER, out]).returncode


if __name__ == "__main__":
    sys.exit(main())
