#!/usr/bin/env python3
"""The simulated sample is what its script writes. Arguments: none."""
import gzip
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent.parent / "samples" / "served_model"
SAMPLE = FOLDER / "simulated_served_model.trace.json.gz"

with tempfile.TemporaryDirectory() as directory:
    made = Path(directory) / "made.json.gz"
    subprocess.run([sys.executable, "-B", FOLDER / "make_trace.py", made], check=True)
    if gzip.decompress(made.read_bytes()) != gzip.decompress(SAMPLE.read_bytes()):
        sys.exit(f"{SAMPLE} is not what make_trace.py writes: run it")
    if SAMPLE.stat().st_size > 300_000:
        sys.exit(f"{SAMPLE} is too large for a sample")
