#!/usr/bin/env python3
"""That reading a trace leaves it as it was and makes nothing beside it, not even for a moment.  untouched_test.py ADPIPE

Databases are read where SQLite would write if it were let: left in write-ahead mode, with a stale index of it beside them, without an index that a
query would want; and where it could not: in a directory that nobody may write.
"""
import ctypes
import ctypes.util
import os
import select
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
ADPIPE = ""
NSYS = PROJECT / "tests" / "data" / "traces" / "llama_layer_nvtx.sqlite"
DUMP = PROJECT / "tests" / "data" / "dumps" / "llama"

IN_ACCESS, IN_MODIFY, IN_ATTRIB, IN_CLOSE_WRITE, IN_MOVE, IN_CREATE, IN_DELETE = 0x1, 0x2, 0x4, 0x8, 0xC0, 0x100, 0x200
CHANGES = IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVE | IN_CREATE | IN_DELETE
IN_NONBLOCK = 0o4000


class Watched:
    """What happens in a directory while the block runs: also files that come and go, and opening for writing without writing."""

    def __init__(self, directory):
        self.libc = ctypes.CDLL(ctypes.util.find_library("c") or "libc.so.6", use_errno=True)
        self.directory = directory

    def __enter__(self):
        self.queue = self.libc.inotify_init1(IN_NONBLOCK)
        if self.queue < 0 or self.libc.inotify_add_watch(self.queue, os.fsencode(self.directory), CHANGES | IN_ACCESS) < 0:
            raise OSError(ctypes.get_errno(), "inotify")
        self.changes, self.was_read = [], False
        return self

    def __exit__(self, *_):
        while select.select([self.queue], [], [], 0)[0]:
            data = os.read(self.queue, 65536)
            while data:
                _, mask, _, length = struct.unpack_from("iIII", data)
                name = data[16:16 + length].rstrip(b"\0").decode()
                data = data[16 + length:]
                self.was_read |= bool(mask & IN_ACCESS)
                if mask & CHANGES:
                    self.changes.append(f"{name}: {mask:#x}")
        os.close(self.queue)


def state_of(directory):
    """Every file's content, times and rights."""
    found = {}
    for path in [directory, *sorted(directory.rglob("*"))]:
        status = path.stat()
        found[path.name] = (status.st_mode, status.st_mtime_ns, status.st_size, status.st_ino, path.read_bytes() if path.is_file() else b"")
    return found


def rocpd(path):
    """A recording of rocprofiler: twelve steps of the same sixteen kernels."""
    database = sqlite3.connect(path)
    database.executescript("""
        CREATE TABLE rocpd_metadata(id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
        CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, guid TEXT, string TEXT);
        CREATE TABLE rocpd_info_kernel_symbol(id INTEGER PRIMARY KEY, guid TEXT, kernel_name TEXT, display_name TEXT);
        CREATE TABLE rocpd_info_process(id INTEGER PRIMARY KEY, guid TEXT, pid INTEGER);
        CREATE TABLE rocpd_kernel_dispatch(id INTEGER PRIMARY KEY, guid TEXT, pid INTEGER, tid INTEGER, agent_id INTEGER, kernel_id INTEGER,
            dispatch_id INTEGER, queue_id INTEGER, stream_id INTEGER, start INTEGER, end INTEGER, event_id INTEGER);
        INSERT INTO rocpd_metadata VALUES (1, 'schema_version', '3');
        INSERT INTO rocpd_info_process VALUES (1, 'g', 77);""")
    for number in range(16):
        database.execute("INSERT INTO rocpd_info_kernel_symbol VALUES (?, 'g', ?, ?)", (number + 1, f"kernel_{number}", f"kernel_{number}"))
    for row in range(192):
        start = 1000 * row + 50_000 * (row // 16)
        database.execute("INSERT INTO rocpd_kernel_dispatch VALUES (?, 'g', 1, 1, 1, ?, ?, 1, 1, ?, ?, 0)", (row + 1, row % 16 + 1, row, start, start + 900))
    database.commit()
    database.close()


def set_write_ahead(path):
    """Leaves the database in write-ahead mode, closed properly: its header says so, and no log lies beside it."""
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode=WAL")
    database.close()


class UntouchedTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="adpipe-untouched-")
        self.addCleanup(self.temporary.cleanup)
        self.root = Path(self.temporary.name)
        self.traces = self.root / "traces"
        self.traces.mkdir()
        self.addCleanup(lambda: self.traces.chmod(0o755))

    def adpipe(self, *words):
        elsewhere = self.root / "elsewhere"
        elsewhere.mkdir(exist_ok=True)
        environment = {**os.environ, "TMPDIR": str(elsewhere), "HOME": str(elsewhere)}
        return subprocess.run([ADPIPE, *map(str, words)], cwd=elsewhere, env=environment, capture_output=True, text=True, timeout=100)

    def verbs(self, trace, dump):
        """Every command that reads a trace."""
        out = self.root / "out"
        commands = [["steps", trace], ["doctor", trace], ["kernels", trace, "--format", "tsv"], ["layers", trace], ["inventory", trace],
                    ["tables", trace, "-o", out]]
        if dump:
            commands += [["layer", "1", DUMP, "--trace", trace, "-o", out], ["kernels", trace, "--dump", DUMP, "--format", "tsv"]]
        return commands

    def check(self, trace, dump=False, succeeds=True):
        before = state_of(self.traces)
        for command in self.verbs(trace, dump):
            with self.subTest(" ".join(map(str, command))), Watched(self.traces) as seen:
                result = self.adpipe(*command)
            self.assertEqual(result.returncode == 0, succeeds, result.stderr)
            self.assertEqual(seen.changes, [])
            self.assertTrue(seen.was_read or not succeeds, "the trace was not read: this shows nothing")
        self.assertEqual(state_of(self.traces), before)

    def copy(self, name="trace.sqlite"):
        return Path(shutil.copy(NSYS, self.traces / name))

    def test_an_export_of_nsight_systems(self):
        self.check(self.copy(), dump=True)

    def test_a_database_in_write_ahead_mode(self):
        trace = self.copy()
        set_write_ahead(trace)
        self.assertEqual(trace.read_bytes()[18], 2)
        self.check(trace, dump=True)

    def test_a_database_with_an_empty_log_and_its_index(self):
        trace = self.copy()
        set_write_ahead(trace)
        (self.traces / "trace.sqlite-wal").write_bytes(b"")
        (self.traces / "trace.sqlite-shm").write_bytes(bytes(32768))
        self.check(trace)

    def test_a_database_that_another_program_is_writing(self):
        trace = self.copy()
        set_write_ahead(trace)
        writer = sqlite3.connect(trace)
        self.addCleanup(writer.close)
        writer.execute("CREATE TABLE being_written (x)")
        writer.commit()
        self.assertGreater((self.traces / "trace.sqlite-wal").stat().st_size, 0)
        self.check(trace, succeeds=False)

    def test_a_journal_that_a_crash_left(self):
        trace = self.copy()
        (self.traces / "trace.sqlite-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(600))
        self.check(trace, succeeds=False)

    def test_a_directory_that_nobody_may_write(self):
        for mode in ("delete", "wal"):
            self.traces.chmod(0o755)
            trace = self.copy()
            if mode == "wal":
                set_write_ahead(trace)
            trace.chmod(0o444)
            self.traces.chmod(0o555)
            self.check(trace)

    def test_a_recording_of_rocprofiler(self):
        trace = self.traces / "results.db"
        rocpd(trace)
        self.check(trace)
        set_write_ahead(trace)
        self.check(trace)

    def test_the_watch_sees_a_file_that_comes_and_goes(self):
        with Watched(self.traces) as seen:
            (self.traces / "gone").touch()
            (self.traces / "gone").unlink()
        self.assertTrue(seen.changes)


if __name__ == "__main__":
    ADPIPE = sys.argv.pop(1)
    unittest.main()
