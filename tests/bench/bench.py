#!/usr/bin/env python3
"""Measures whole processes against stated baselines, in one run, and prints ratios.

    bench.py --adpipe FILE [--runs N] [--check] [NAME...]

Every bench_*.py beside this file has a function `benches(setting)` that yields Bench objects; NAME picks those whose name begins so. The
commands of a bench run in turn (A B A B …), so that a machine whose speed drifts slows all of them alike, and a ratio is the median of the
ratios of each turn. Times are wall-clock; compare ratios, not times, between machines. --check fails where a bound is broken.
"""
import argparse
import dataclasses
import importlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent


@dataclasses.dataclass
class Setting:
    """What a bench may use."""
    adpipe: Path
    scratch: Path  # a directory that is deleted at the end
    samples: Path = PROJECT / "samples" / "deepseek_v3"


@dataclasses.dataclass
class Bound:
    """At most `limit`; of the median seconds, the peak memory in bytes, or the ratio to another command of the bench."""
    limit: float
    of: str  # "seconds", "memory" or "ratio"
    baseline: str = ""


@dataclasses.dataclass
class Bench:
    name: str
    commands: dict  # {label: command line}; all do the same work, or are what it is measured against
    bounds: dict = dataclasses.field(default_factory=dict)  # {label: [Bound]}
    may_take: int = 0  # runs of a slow bench; 0: as many as asked


@dataclasses.dataclass
class Run:
    seconds: float
    memory: int


def run_once(command):
    started = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, command))}: exit {process.returncode}\n{said.decode(errors='replace')}")
    return Run(seconds, usage.ru_maxrss * 1024)


def peak_memory(command, scratch):
    """Bytes; None where GNU time is missing. What a child of this script reports of itself begins with the memory of this script."""
    program = shutil.which("time")
    if program is None:
        return None
    report = scratch / "peak_kilobytes"
    run_once([program, "--format=%M", f"--output={report}", *command])
    return int(report.read_text()) * 1024


def measure(bench, runs, scratch):
    """{label: [Run]}, after one warm-up of each."""
    peaks = {label: peak_memory(command, scratch) for label, command in bench.commands.items()}
    if None in peaks.values():
        for command in bench.commands.values():
            run_once(command)
    measured = {label: [] for label in bench.commands}
    for _ in range(bench.may_take or runs):
        for label, command in bench.commands.items():
            run = run_once(command)
            measured[label].append(dataclasses.replace(run, memory=peaks[label] or run.memory))
    return measured


def ratio(measured, label, baseline):
    return statistics.median(a.seconds / b.seconds for a, b in zip(measured[label], measured[baseline]))


def value_of(bound, label, measured):
    if bound.of == "ratio":
        return ratio(measured, label, bound.baseline)
    if bound.of == "memory":
        return statistics.median(run.memory for run in measured[label])
    return statistics.median(run.seconds for run in measured[label])


def bound_text(bound, value):
    if bound.of == "ratio":
        text = f"{value:.2f} x {bound.baseline} (at most {bound.limit:g})"
    elif bound.of == "memory":
        text = f"{value / 1e6:.1f} MB (at most {bound.limit / 1e6:.1f})"
    else:
        text = f"{value * 1e3:.1f} ms (at most {bound.limit * 1e3:g})"
    return text if value <= bound.limit else text + "  OVER"


def report(bench, measured):
    """Prints a bench; how many of its bounds are broken."""
    broken = 0
    first = next(iter(bench.commands))
    print(f"\n{bench.name}")
    for label, runs in measured.items():
        seconds = sorted(run.seconds for run in runs)
        memory = statistics.median(run.memory for run in runs)
        against = "" if label == first else f"  {first} takes {ratio(measured, first, label):.3f} x its time"
        print(f"  {label:<28}{statistics.median(seconds) * 1e3:>10.1f} ms  ({seconds[0] * 1e3:.1f} to {seconds[-1] * 1e3:.1f})"
              f"{memory / 1e6:>9.1f} MB{against}")
    for label, bounds in bench.bounds.items():
        for bound in bounds:
            value = value_of(bound, label, measured)
            broken += value > bound.limit
            print(f"  bound: {label}: {bound_text(bound, value)}")
    return broken


def all_benches(setting):
    sys.path.insert(0, str(HERE))
    for module in sorted(HERE.glob("bench_*.py")):
        own = setting.scratch / module.stem  # all are made before the first runs: equal names must not meet
        own.mkdir()
        yield from importlib.import_module(module.stem).benches(dataclasses.replace(setting, scratch=own))


def main():
    sys.modules["bench"] = sys.modules["__main__"]  # so that bench_*.py get these classes, not a second copy
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--adpipe", type=Path, default=PROJECT / "build/release/bin/adpipe")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()

    broken = 0
    with tempfile.TemporaryDirectory(prefix="adpipe-bench-") as scratch:
        setting = Setting(arguments.adpipe.absolute(), Path(scratch))
        benches = list(all_benches(setting))
        for name in arguments.names:
            if not any(bench.name.startswith(name) for bench in benches):
                sys.exit(f"bench: no such bench: {name}")
        chosen = [bench for bench in benches if not arguments.names or any(bench.name.startswith(name) for name in arguments.names)]
        print(f"{os.cpu_count()} processors; median of {arguments.runs} runs in turn, minimum to maximum, peak memory")
        for bench in chosen:
            broken += report(bench, measure(bench, arguments.runs, setting.scratch))
    print(f"\n{len(chosen)} benches, {broken} bounds broken")
    return 1 if broken and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
