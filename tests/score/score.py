"""What both scorers share: reading truth files and adpipe's TSV."""
import csv
import gzip
import json
import subprocess
import sys
from pathlib import Path

SKIPPED = 77


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


def skip_if_absent(paths):
    """Tests over inputs that not everyone has are skipped, in so many words."""
    absent = [path for path in paths if not Path(path).exists()]
    if absent:
        print(f"skipped: {absent[0]} is not here")
        sys.exit(SKIPPED)
