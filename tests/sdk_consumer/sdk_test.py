#!/usr/bin/env python3
"""The SDK as another team sees it: installs adpipe, moves it, builds plugins against it by find_package, loads and runs them.

    sdk_test.py --build DIR --compiler CXX [--flags FLAGS] [TestClass]
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
DUMP = PROJECT / "tests" / "data" / "dumps" / "llama" / "092_compile_compile_model.txt"
LAYERS_IN_DUMP = 6
ARGUMENTS = None


def call(*command, **options):
    process = subprocess.run([str(word) for word in command], capture_output=True, encoding="utf-8", **options)
    if process.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: exit {process.returncode}\n{process.stdout}{process.stderr}")
    return process.stdout


def build_outside(source, folder, prefix):
    """Configures and builds a project that knows adpipe only as a prefix."""
    call("cmake", "-G", "Ninja", "-S", source, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={ARGUMENTS.compiler}",
         f"-DCMAKE_CXX_FLAGS={ARGUMENTS.flags}")
    call("cmake", "--build", folder)


def run_pipeline(adpipe, folder, plugin, stages):
    """Runs a pipeline of the small dump, the layers, and `stages` (YAML), with that plugin."""
    config = folder / f"{plugin.stem}.yaml"
    config.write_text(f"""pipeline: outside
layer: 3
output: {folder}/out
stages:
  - stage: select.file
    with: {{file: {DUMP}}}
  - stage: parse.autodeploy
  - stage: member.dataflow
{stages}""")
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    return call(adpipe, "run", config, "--plugin", plugin, env=environment)


class SdkTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="adpipe-sdk-")
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name).resolve()


class InstalledSdk(SdkTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        call("cmake", "--install", ARGUMENTS.build, "--prefix", cls.folder / "first place")
        cls.prefix = cls.folder / "another place"
        (cls.folder / "first place").rename(cls.prefix)
        cls.adpipe = cls.prefix / "bin" / "adpipe"
        build_outside(HERE, cls.folder / "consumer", cls.prefix)

    def test_installed_program_finds_its_plugins_wherever_it_lies(self):
        self.assertIn("parse.autodeploy", call(self.adpipe, "list", cwd="/"))

    def test_plugin_loads_and_runs(self):
        plugin = self.folder / "consumer" / "layer_count.so"
        out = run_pipeline(self.adpipe, self.folder, plugin, "  - stage: render.layer_count\n    with: {word: blocks}\n")
        self.assertIn(f"{LAYERS_IN_DUMP} blocks, ordered\n", out)

    def test_plugin_without_runpath_loads(self):
        plugin = self.folder / "consumer" / "without_runpath.so"
        self.assertNotIn("PATH", "".join(line for line in call("readelf", "-d", plugin).splitlines() if "NEEDED" not in line))
        self.assertIn("layers, ordered\n", run_pipeline(self.adpipe, self.folder, plugin, "  - stage: render.layer_count\n"))

    def test_plugin_shows_two_symbols(self):
        plugin = self.folder / "consumer" / "layer_count.so"
        symbols = [line.split()[-1] for line in call("nm", "-D", "--defined-only", plugin).splitlines()]
        self.assertEqual(symbols, ["adpipe_abi", "adpipe_plugin"])


class BuildTreeSdk(SdkTest):
    """A build folder serves as a prefix too. Builds the worked example of docs/writing-a-plugin.md."""

    def test_worked_example_refines_another_strategy(self):
        sample = PROJECT / "samples" / "custom_membership"
        build_outside(sample, self.folder / "example", ARGUMENTS.build)
        plugin = self.folder / "example" / "expert_choice.so"
        self.assertLessEqual(len((sample / "expert_choice.cpp").read_text().splitlines()), 40)
        self.assertLessEqual(len((sample / "CMakeLists.txt").read_text().splitlines()), 4)
        out = call(ARGUMENTS.build / "bin" / "adpipe", "run", sample / "pipeline.yaml", "--plugin", plugin, "--output", self.folder / "out")
        self.assertIn("Mixture of experts › moe choice", out)
        dumps = PROJECT / "samples" / "deepseek_v3" / "dumps"
        strategy = ["--strategy", "member.expert_choice", "--with", "op=noaux_tc_op", "--plugin", plugin, "--format", "tsv"]
        out = call(ARGUMENTS.build / "bin" / "adpipe", "members", dumps, *strategy)
        self.assertIn("\tmoe\tmoe_choice\tchooses experts\n", out)


def main():
    global ARGUMENTS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=PROJECT / "build" / "dev")
    parser.add_argument("--compiler", default=shutil.which("c++"))
    parser.add_argument("--flags", default="")
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
