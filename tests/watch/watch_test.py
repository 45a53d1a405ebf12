#!/usr/bin/env python3
"""adpipe layer --watch: watch_test.py ADPIPE. Reads what it says and changes its inputs; waits for nothing else."""
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

DUMP = Path(__file__).resolve().parent.parent / "data" / "dumps" / "llama" / "092_compile_compile_model.txt"
ADPIPE = None


class WatchTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = Path(temporary.name)
        self.dumps = self.directory / "dumps"
        self.dumps.mkdir()
        shutil.copy(DUMP, self.dumps / "001_first.txt")

    def start(self, *arguments):
        self.report = open(self.directory / "report", "w+", encoding="utf-8")
        self.addCleanup(self.report.close)
        self.process = subprocess.Popen([ADPIPE, "layer", *arguments, self.dumps, "-o", self.directory / "out", "--watch"], stdout=self.report,
                                        stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.process.stderr.close)
        self.addCleanup(self.process.kill)

    def said_until_watching(self):
        """What it said on standard error in one run."""
        lines = []
        for line in self.process.stderr:
            if line.startswith("watching"):
                return "".join(lines)
            lines.append(line)
        self.fail("it ended: " + "".join(lines))

    def reported(self):
        self.report.seek(0)
        return self.report.read()

    def test_it_runs_again_when_a_dump_comes_is_spoilt_and_is_mended(self):
        self.start("3")
        self.assertIn("001_first.txt", self.said_until_watching())
        self.assertEqual(self.reported().count("nodes "), 1)
        shutil.copy(DUMP, self.dumps / "002_second.txt")
        self.assertIn("002_second.txt", self.said_until_watching())
        self.assertEqual(self.reported().count("nodes "), 2)
        (self.dumps / "002_second.txt").write_text("no dump\n")
        self.assertIn("error: ", self.said_until_watching())
        self.assertEqual(self.reported().count("nodes "), 2)
        (self.dumps / "002_second.txt").unlink()
        self.assertIn("001_first.txt", self.said_until_watching())
        self.assertEqual(self.reported().count("nodes "), 3)
        self.process.send_signal(signal.SIGINT)
        self.assertEqual(self.process.wait(), -signal.SIGINT)

    def test_what_no_change_of_the_inputs_mends_ends_it(self):
        self.start("3", "--also", "htlm")
        self.assertIn("there is no stage 'render.htlm'", self.process.stderr.read())
        self.assertEqual(self.process.wait(), 3)


if __name__ == "__main__":
    ADPIPE = Path(sys.argv.pop(1)).resolve()
    unittest.main()
