#!/usr/bin/env python3
"""./dev: what it installs, builds and runs, and when it must not. The machine's tools are stand-ins that write down how they were called."""
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

DEV = Path(__file__).resolve().parent.parent.parent / "dev"
TOOLS = "bash env readlink dirname grep mkdir tail cat rm nproc chmod touch cp".split()


class DevTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name).resolve() / "a clone with spaces"
        self.bin = self.root.parent / "bin"
        self.calls = self.root.parent / "calls"
        self.root.mkdir()
        self.bin.mkdir()
        shutil.copy(DEV, self.root / "dev")
        self.scripts = self.root / "build" / "javascript"
        self.scripts.mkdir(parents=True)
        for script in ("d3.min.js", "dagre.min.js"):
            (self.scripts / script).touch()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        for tool in ("c++", "dot", "python3", "ctest"):
            self.stand_in(tool, "")
        self.stand_in("id", "echo 0")
        self.stand_in("apt-get", f'case "$*" in *" install "*) touch "{self.bin}/dot"; chmod +x "{self.bin}/dot" ;; esac')
        self.stand_in("cmake", 'mkdir -p "build/$2/bin"; touch "build/$2/build.ninja"; '
                      'echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" > "build/$2/CMakeCache.txt"')
        self.stand_in("ninja", f'printf "#!/bin/sh\\necho adpipe \\"\\$@\\"\\nexit 3\\n" > "$2/bin/adpipe"; chmod +x "$2/bin/adpipe"; echo "[1/2] compiling"')

    def stand_in(self, name, script):
        file = self.bin / name
        file.unlink(missing_ok=True)
        file.write_text(f'#!{self.bin}/bash\necho "{name} $*" >> "{self.calls}"\n{script}\n')
        file.chmod(0o755)

    def dev(self, *arguments, cwd=None):
        self.calls.write_text("")
        environment = {"PATH": str(self.bin), "HOME": str(self.root.parent), "CPATH": str(self.root.parent / "include")}
        return subprocess.run([self.root / "dev", *arguments], cwd=cwd or self.root, env=environment, capture_output=True, text=True)

    def called(self, tool):
        return [line for line in self.calls.read_text().splitlines() if line.startswith(tool + " ")]

    def test_run_builds_and_becomes_adpipe(self):
        result = self.dev("run", "x.yaml", "--quiet")
        self.assertEqual(result.stdout, "adpipe run x.yaml --quiet\n", result.stderr)
        self.assertEqual(result.returncode, 3, "adpipe's exit status is dev's")
        self.assertEqual(len(self.called("cmake")), 1)
        self.assertEqual(self.called("apt-get"), [], "nothing is missing, so nothing is installed")

    def test_a_second_run_only_asks_ninja(self):
        self.dev("run", "x.yaml")
        self.dev("run", "x.yaml")
        self.assertEqual(self.called("cmake"), [])
        self.assertEqual(len(self.called("ninja")), 1)

    def test_a_moved_clone_is_built_anew(self):
        self.dev("run", "x.yaml")
        moved = self.root.with_name("another place")
        self.root.rename(moved)
        self.root = moved
        result = self.dev("run", "x.yaml")
        self.assertEqual(len(self.called("cmake")), 1, result.stderr)
        self.assertIn("adpipe run x.yaml", result.stdout)

    def test_config_of_the_project_is_found_from_elsewhere_but_ones_own_comes_first(self):
        (self.root / "configs").mkdir()
        (self.root / "configs" / "a.yaml").touch()
        elsewhere = self.root.parent / "elsewhere"
        elsewhere.mkdir()
        self.assertEqual(self.dev("run", "configs/a.yaml", cwd=elsewhere).stdout, f"adpipe run {self.root}/configs/a.yaml\n")
        (elsewhere / "configs").mkdir()
        (elsewhere / "configs" / "a.yaml").touch()
        self.assertEqual(self.dev("run", "configs/a.yaml", cwd=elsewhere).stdout, "adpipe run configs/a.yaml\n")

    def test_root_installs_exactly_what_is_missing(self):
        (self.bin / "dot").unlink()
        result = self.dev("run", "x.yaml")
        installs = [call for call in self.called("apt-get") if " install " in call]
        self.assertEqual(installs, ["apt-get -q install -y --no-install-recommends graphviz"], result.stderr)
        self.assertIn("installing graphviz", result.stderr)
        self.assertEqual(result.stdout, "adpipe run x.yaml\n")

    def test_without_root_the_line_to_run_is_printed_and_nothing_is_done(self):
        (self.bin / "dot").unlink()
        self.stand_in("id", "echo 1000")
        result = self.dev("run", "x.yaml")
        self.assertEqual(result.returncode, 1)
        self.assertIn("    sudo apt-get install -y --no-install-recommends graphviz\n", result.stderr)
        self.assertEqual(self.called("apt-get") + self.called("cmake"), [])

    def test_sudo_is_used_where_it_asks_for_no_password(self):
        (self.bin / "dot").unlink()
        self.stand_in("id", "echo 1000")
        self.stand_in("sudo", 'shift; "$@"')
        result = self.dev("run", "x.yaml")
        self.assertTrue([call for call in self.called("sudo") if call.endswith("install -y --no-install-recommends graphviz")], result.stderr)
        self.assertEqual(result.stdout, "adpipe run x.yaml\n")

    def test_sudo_with_a_password_is_not_asked(self):
        (self.bin / "dot").unlink()
        self.stand_in("id", "echo 1000")
        self.stand_in("sudo", "exit 1")
        result = self.dev("run", "x.yaml")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(self.called("apt-get"), [])

    def test_failed_install_shows_why_and_stops(self):
        (self.bin / "dot").unlink()
        self.stand_in("apt-get", 'echo "E: no such mirror"; exit 100')
        result = self.dev("run", "x.yaml")
        self.assertEqual(result.returncode, 1)
        self.assertIn("E: no such mirror", result.stderr)
        self.assertEqual(self.called("cmake"), [])

    def test_scripts_of_the_page_are_fetched_without_root_and_not_installed(self):
        (self.scripts / "dagre.min.js").unlink()
        self.stand_in("id", "echo 1000")
        self.stand_in("apt-get", 'case "$*" in *" download "*) touch node-dagre-layout_1_all.deb ;; esac')
        self.stand_in("dpkg-deb", 'mkdir -p usr/share/nodejs/dagre/dist; echo fetched > usr/share/nodejs/dagre/dist/dagre.min.js')
        result = self.dev("run", "x.yaml")
        self.assertEqual(result.stdout, "adpipe run x.yaml\n", result.stderr)
        self.assertEqual([call.split(" download ")[1] for call in self.called("apt-get")], ["node-dagre-layout"])
        self.assertEqual(sorted(file.name for file in self.scripts.iterdir()), ["d3.min.js", "dagre.min.js", "log"])
        self.assertEqual((self.scripts / "dagre.min.js").read_text(), "fetched\n")

    def test_without_the_page_all_else_goes_on_and_only_setup_tries_again(self):
        (self.scripts / "dagre.min.js").unlink()
        self.stand_in("apt-get", "exit 100")
        result = self.dev("run", "x.yaml")
        self.assertEqual(result.stdout, "adpipe run x.yaml\n", result.stderr)
        self.assertIn("render.html is left out of the build", result.stderr)
        self.assertNotIn("left out", self.dev("run", "x.yaml").stderr)
        self.assertEqual(self.called("apt-get"), [])
        for tool in ("cmake", "ninja", "clang-format"):
            self.stand_in(tool, "")
        self.dev("setup")
        self.assertEqual(len([call for call in self.called("apt-get") if " download " in call]), 1)

    def test_root_gets_the_browser_of_the_tests_and_nobody_else_does(self):
        (self.root / "build" / "dev").mkdir()
        self.stand_in("apt-get", f'case "$*" in *chromium*) echo > "{self.bin}/chromium"; chmod +x "{self.bin}/chromium" ;; esac')
        self.have_doctest()
        self.dev("test")
        self.assertEqual([call for call in self.called("apt-get") if " install " in call],
                         ["apt-get -q install -y --no-install-recommends chromium"])
        (self.bin / "chromium").unlink()
        self.stand_in("id", "echo 1000")
        self.dev("test")
        self.assertEqual(self.called("apt-get"), [])
        self.assertEqual(len(self.called("ctest")), 1)

    def test_without_a_browser_the_tests_run_and_only_setup_tries_again(self):
        (self.root / "build" / "dev").mkdir()
        self.stand_in("apt-get", "exit 100")
        self.have_doctest()
        result = self.dev("test")
        self.assertIn("the tests that look at the HTML page are skipped", result.stderr)
        self.assertEqual(len(self.called("ctest")), 1)
        self.dev("test")
        self.assertEqual(self.called("apt-get"), [])

    def have_doctest(self):
        """The header that ./dev looks for cannot be stood in for: it is looked for in CPATH too."""
        (self.root.parent / "include" / "doctest").mkdir(parents=True)
        (self.root.parent / "include" / "doctest" / "doctest.h").touch()

    def test_failed_build_shows_why_and_runs_nothing(self):
        self.stand_in("ninja", 'echo "x.cpp:1: error: no"; exit 1')
        result = self.dev("run", "x.yaml")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("x.cpp:1: error: no", result.stderr)

    def test_unknown_command_and_no_command(self):
        self.assertEqual(self.dev("rnu").returncode, 1)
        self.assertIn("usage:", self.dev().stdout)


if __name__ == "__main__":
    unittest.main()
