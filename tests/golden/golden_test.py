#!/usr/bin/env python3
"""golden.py itself: that it fails where it must. Uses a stand-in for adpipe, a shell script."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

GOLDEN = Path(__file__).resolve().parent / "golden.py"


class GoldenTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = Path(self.temporary.name)
        self.adpipe = self.folder / "bin" / "adpipe"
        self.adpipe.parent.mkdir()
        self.adpipe.write_text('#!/bin/sh\necho "hello $1"\n')
        self.adpipe.chmod(0o755)

    def case(self, name, cmd, **expectations):
        folder = self.folder / name
        folder.mkdir()
        (folder / "cmd").write_text(cmd)
        for key, text in expectations.items():
            (folder / f"expect.{key}").write_text(text)
        return folder

    def golden(self, *arguments):
        return subprocess.run([sys.executable, str(GOLDEN), "--adpipe", str(self.adpipe), "--folder", str(self.folder), *arguments],
                              capture_output=True, text=True)

    def test_same_output_passes(self):
        self.case("good", "adpipe world\n", stdout="hello world\n")
        result = self.golden()
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("1 passed, 0 failed", result.stdout)

    def test_other_output_fails_with_a_diff(self):
        self.case("bad", "adpipe world\n", stdout="hello earth\n")
        result = self.golden()
        self.assertEqual(result.returncode, 1)
        self.assertIn("-hello earth\n+hello world\n", result.stdout)

    def test_missing_last_newline_fails(self):
        self.case("newline", "printf hello\n", stdout="hello\n")
        self.assertEqual(self.golden().returncode, 1)

    def test_exit_status_counts(self):
        self.case("status", "exit 3\n")
        result = self.golden()
        self.assertEqual(result.returncode, 1)
        self.assertIn("+3\n", result.stdout)

    def test_unexpected_and_missing_files_fail(self):
        self.case("extra", "mkdir out; echo 1 > out/a\n")
        missing = self.case("missing", "true\n")
        (missing / "expect").mkdir()
        (missing / "expect" / "b").write_text("2\n")
        result = self.golden()
        self.assertIn("0 passed, 2 failed", result.stdout)
        self.assertIn("out/a (found)", result.stdout)
        self.assertIn("out/b (expected)", result.stdout)

    def test_changed_input_fails_even_when_blessed(self):
        folder = self.case("spoils", "echo more >> in/data\n")
        (folder / "in").mkdir()
        (folder / "in" / "data").write_text("data\n")
        self.assertEqual(self.golden("--bless").returncode, 1)
        self.assertEqual((folder / "in" / "data").read_text(), "data\n")

    def test_temporary_directory_is_the_one_placeholder(self):
        self.case("where", "pwd\n", stdout="<tmp>\n")
        self.assertEqual(self.golden().returncode, 0)

    def test_bless_rewrites_only_what_ran_and_shows_the_difference(self):
        ran = self.case("ran", "adpipe new; mkdir out; echo file > out/f; exit 2\n", stdout="hello old\n", stderr="old\n")
        other = self.case("other", "adpipe new\n", stdout="hello old\n")
        result = self.golden("--bless", "ran")
        self.assertIn("-hello old\n+hello new\n", result.stdout)
        self.assertEqual((ran / "expect.stdout").read_text(), "hello new\n")
        self.assertFalse((ran / "expect.stderr").exists())
        self.assertEqual((ran / "expect.rc").read_text(), "2\n")
        self.assertEqual((ran / "expect" / "f").read_text(), "file\n")
        self.assertEqual((other / "expect.stdout").read_text(), "hello old\n")
        self.assertEqual(self.golden("ran").returncode, 0)

    def test_status_77_is_a_skip(self):
        self.case("lacks", "echo 'no dot here' >&2; exit 77\n")
        result = self.golden()
        self.assertEqual(result.returncode, 77)
        self.assertIn("skipped: no dot here", result.stdout)


if __name__ == "__main__":
    unittest.main()
