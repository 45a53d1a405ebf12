"""Nanoseconds that each output puts on the layer's kernels: the medians in the table, all executions in the trace."""
import csv
import json
from pathlib import Path

stem = "092_compile_compile_model_layer3"
rows = list(csv.DictReader(Path("out", stem + ".csv").open(encoding="utf-8")))
print("csv: sum of medians", sum(int(row["median_ns"]) for row in rows), "of", len(rows), "kernels")
print("csv: sum of executions", round(sum(float(row["mean_ns"]) * int(row["steps"]) for row in rows) / 1000), "µs")
events = json.loads(Path("out", stem + "_perfetto.json").read_text(encoding="utf-8"))["traceEvents"]
kernels = [event for event in events if event.get("cat") == "kernel"]
print("perfetto: sum of executions", round(sum(event["dur"] for event in kernels)), "µs of", len(kernels))
data = json.loads(Path("out", stem + "_model_explorer_time.json").read_text(encoding="utf-8"))
print("model_explorer: sum of nodes", round(sum(node["value"] for node in data["layer_3"]["results"].values()) * 1000))
