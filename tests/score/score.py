"""What both scorers share: reading truth files and adpipe's TSV."""
import csv
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

SKIPPED = 77
PROJECT = Path(__file__).resolve().parent.parent.parent


def read_truth(path):
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8")
    with opened as file:
        return json.load(file)


def run_tsv(command):
    """Runs adpipe; its rows as dictionaries, or None and what it said on standard error."""
    process = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if process.returncode != 0:
        return None, f"exit {process.returncode}: {process.stderr.strip()}"
    return list(csv.DictReader(process.stdout.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)), ""


def percent(part, whole):
    return 100.0 * part / whole if whole else 100.0


def located(path):
    """The path of an argument. `shared/…` is below $ADPIPE_SHARED, or in the folder of that name beside the checkout: larger inputs that are
    not part of the project."""
    if path.parts[:1] != ("shared",):
        return path
    return Path(os.environ.get("ADPIPE_SHARED", PROJECT.parent / "shared"), *path.parts[1:])


def skip_if_absent(paths):
    """Tests over inputs that not everyone has are skipped, in so many words."""
    absent = [path for path in paths if not path.exists()]
    if absent:
        print(f"skipped: {absent[0]} is not here")
        sys.exit(SKIPPED)
