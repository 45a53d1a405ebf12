#!/usr/bin/env python3
"""Runs command-line cases and compares everything they print and write with what is expected.

    golden.py [--adpipe FILE] [--bless] [CASE...]        a CASE is a folder or its name; none: all of them

A case is a folder with
    cmd              bash commands; `adpipe` is the one under test. Written files go below `out`, e.g. `adpipe layer 5 in/dumps -o out`
    in/              its inputs, if it has any
    expect.stdout    what it prints, byte for byte; missing means nothing
    expect.stderr
    expect.rc        exit status; missing means 0
    expect/          the files it leaves below `out`; missing means none
    slow             an empty file: takes more than 5 seconds, and is labelled so for ctest

A case runs in a temporary directory that holds a copy of its `in`, and links named `samples`, `configs` and `data` (tests/data) to the
project's, and `shared` to the folder of larger inputs that are not part of it, where that is there ($ADPIPE_SHARED, else beside the
checkout). Nothing is normalised, except that the temporary directory's name is shown as <tmp>, and that a stage which fails may take its
time (a sanitizer's build, a busy machine). A change to `in` is a failure as well.
--bless makes what came out the expectation of the cases that ran, and prints the differences, to be read before they are committed.
"""
import argparse
import difflib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
TIMEOUT_S = 120
SKIPPED = 77
KEPT_VARIABLES = ("ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS")
SLOW_FAILURE = re.compile(rb", after \d+\.\d s(?=\n)")


def files_below(directory):
    """{relative name: content} of all files; a directory without files counts too, as `name/`."""
    found = {}
    if directory.is_symlink() or directory.is_file():
        return {"": directory.read_bytes()}
    for path in sorted(directory.rglob("*")) if directory.is_dir() else []:
        name = path.relative_to(directory).as_posix()
        if path.is_symlink():
            found[name] = b"-> " + os.fsencode(os.readlink(path))
        elif path.is_dir():
            if not any(path.iterdir()):
                found[name + "/"] = b""
        elif not os.access(path, os.R_OK):
            found[name] = b"(unreadable)"
        else:
            found[name] = path.read_bytes()
    return found


def lay_out(case, directory):
    """Fills the temporary directory in which the case runs."""
    if (case / "in").is_dir():
        shutil.copytree(case / "in", directory / "in", symlinks=True)
    for name, target in (("samples", "samples"), ("configs", "configs"), ("data", "tests/data")):
        (directory / name).symlink_to(PROJECT / target)
    shared = Path(os.environ.get("ADPIPE_SHARED", PROJECT.parent / "shared"))
    if shared.is_dir():
        (directory / "shared").symlink_to(shared)


def environment(adpipe, directory):
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    search = os.pathsep.join([str(adpipe.parent), os.environ.get("PATH", os.defpath)])
    return {"PATH": search, "HOME": str(directory / "home"), "TMPDIR": str(directory), "LC_ALL": "C", **kept}


def run(case, adpipe):
    """What the case does: {"stdout": bytes, "stderr": bytes, "rc": bytes, "out/NAME": bytes, …}, and the files below `in` after it."""
    directory = Path(tempfile.mkdtemp(prefix="adpipe-golden-")).resolve()
    try:
        lay_out(case, directory)
        before = files_below(directory / "in")
        process = subprocess.Popen(["bash", "-u", str(case / "cmd")], cwd=directory, env=environment(adpipe, directory),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            stdout, stderr = process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            stdout, stderr = process.communicate()
            stderr += f"(golden.py: killed after {TIMEOUT_S} s)\n".encode()
        got = {"stdout": stdout, "stderr": stderr, "rc": b"%d\n" % process.returncode}
        got.update({"out/" + name: content for name, content in files_below(directory / "out").items()})
        after = files_below(directory / "in")
        for name in sorted(before.keys() | after.keys()):
            if before.get(name) != after.get(name):
                got["in/" + name] = after.get(name, b"(deleted)")
        return {name: SLOW_FAILURE.sub(b", after less than a second", content.replace(os.fsencode(directory), b"<tmp>"))
                for name, content in got.items()}
    finally:
        subprocess.run(["chmod", "-R", "u+rwX", str(directory)], check=False)  # a case may have locked itself out
        shutil.rmtree(directory)


def expectation(case):
    expected = {name: b"" for name in ("stdout", "stderr")} | {"rc": b"0\n"}
    for name in expected:
        file = case / f"expect.{name}"
        if file.exists():
            expected[name] = file.read_bytes()
    expected.update({"out/" + name: content for name, content in files_below(case / "expect").items()})
    return expected


def difference(expected, got):
    """A unified diff of all that differs, as text."""
    lines = []
    for name in sorted(expected.keys() | got.keys()):
        old, new = expected.get(name), got.get(name)
        if old == new:
            continue
        if b"\0" in (old or b"") + (new or b""):
            lines.append(f"{name}: binary, {len(old or b'')} bytes expected, {len(new or b'')} found\n")
            continue
        pair = [(text or b"").decode("utf-8", "backslashreplace").splitlines(keepends=True) for text in (old, new)]
        for line in difflib.unified_diff(*pair, f"{name} (expected)" if old is not None else "(no such file expected)",
                                         f"{name} (found)" if new is not None else "(not written)"):
            lines.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(lines)


def bless(case, got):
    """Makes `got` what is expected."""
    for name, usual in (("stdout", b""), ("stderr", b""), ("rc", b"0\n")):
        file = case / f"expect.{name}"
        if got[name] == usual:
            file.unlink(missing_ok=True)
        else:
            file.write_bytes(got[name])
    shutil.rmtree(case / "expect", ignore_errors=True)
    for name, content in got.items():
        if name.startswith("out/"):
            file = case / "expect" / name[len("out/"):]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)


def find_cases(names, folder):
    if not names:
        return sorted(cmd.parent for cmd in folder.glob("*/cmd"))
    cases = []
    for name in names:
        case = Path(name) if (Path(name) / "cmd").is_file() else folder / name
        if not (case / "cmd").is_file():
            sys.exit(f"golden.py: no case \"{name}\": there is no {case}/cmd")
        cases.append(case.resolve())
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--adpipe", type=Path, default=PROJECT / "build/dev/bin/adpipe")
    parser.add_argument("--folder", type=Path, default=HERE, help="where the cases lie")
    parser.add_argument("--bless", action="store_true")
    arguments = parser.parse_args()
    adpipe = arguments.adpipe.absolute()
    if not os.access(adpipe, os.X_OK):
        sys.exit(f"golden.py: no program {adpipe}")

    failed = skipped = 0
    cases = find_cases(arguments.cases, arguments.folder)
    for case in cases:
        got = run(case, adpipe)
        if got["rc"] == b"%d\n" % SKIPPED:  # the case says on standard error what it lacks here
            skipped += 1
            print(f"{case.name}: skipped: {got['stderr'].decode(errors='replace').strip()}")
            continue
        diff = difference(expectation(case), got)
        if diff:
            print(f"{case.name}: {'blessed' if arguments.bless else 'differs'}\n{diff}", end="")
        if any(name.startswith("in/") for name in got):
            print(f"{case.name}: changed its inputs (above); no expectation can allow that")
            failed += 1
        elif diff and arguments.bless:
            bless(case, got)
        elif diff:
            failed += 1
    print(f"{len(cases) - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else SKIPPED if skipped and skipped == len(cases) else 0


if __name__ == "__main__":
    sys.exit(main())
