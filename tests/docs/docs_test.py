#!/usr/bin/env python3
"""That the documents say what the tree holds, and that every diagnostic is documented and shown."""
import re
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
CODE = re.compile(r"\bADP-[A-Z]+-\d{3}\b")


def documents():
    folders = [PROJECT, PROJECT / "docs", PROJECT / "samples", PROJECT / "tests", PROJECT / "configs"]
    found = {file for folder in folders for file in folder.glob("*.md" if folder == PROJECT else "**/*.md")}
    return sorted(file for file in found if "expect" not in file.parts)  # what the program is to write is not a document


def codes_in_sources():
    """{code: first file that can say it}"""
    found = {}
    for folder in ("framework", "plugins"):
        for file in sorted((PROJECT / folder).rglob("*.[ch]pp")):
            for code in CODE.findall(file.read_text(encoding="utf-8")):
                found.setdefault(code, file.relative_to(PROJECT))
    return found


class DocumentsTest(unittest.TestCase):
    def test_every_package_has_a_line_in_dependencies(self):
        table = re.search(r"<<'END'\n(.*?)\nEND\n", (PROJECT / "dev").read_text(), re.DOTALL).group(1)
        packages = [line.split()[0] for line in table.splitlines()]
        self.assertGreater(len(packages), 5)
        text = (PROJECT / "docs" / "dependencies.md").read_text()
        self.assertEqual([name for name in packages if not re.search(rf"^\|[^|]*\b{re.escape(name)}", text, re.MULTILINE)], [])

    def test_no_name_of_a_test_holds_a_semicolon(self):
        """CMake cuts the name there, and ctest then runs no test under what is left of it, and calls that a pass."""
        names = [f"{file.name}: {name}" for file in sorted((PROJECT / "tests").rglob("*.cpp"))
                 for name in re.findall(r'TEST_CASE\("((?:[^"\\]|\\.)*)"', file.read_text(encoding="utf-8")) if ";" in name]
        self.assertEqual(names, [])

    def test_links_lead_somewhere(self):
        broken = []
        for document in documents():
            text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
                if "://" not in target and not (document.parent / target).exists():
                    broken.append(f"{document.relative_to(PROJECT)}: {target}")
        self.assertEqual(broken, [])

    def test_the_gallery_shows_every_output(self):
        gallery = (PROJECT / "docs" / "gallery.md").read_text(encoding="utf-8")
        outputs = {name for file in (PROJECT / "plugins").glob("render_*/*.cpp")
                   for name in re.findall(r'name = "(render\.\w+)"', file.read_text(encoding="utf-8"))}
        self.assertGreater(len(outputs), 7)
        self.assertEqual(sorted(name for name in outputs if f"`{name}, " not in gallery), [])

    def test_the_plugin_guide_shows_the_worked_example_as_it_is(self):
        guide = (PROJECT / "docs" / "writing-a-plugin.md").read_text(encoding="utf-8")
        shown = {line.strip() for block in re.findall(r"```\w+\n(.*?)```", guide, re.DOTALL) for line in block.splitlines()}
        sample = PROJECT / "samples" / "custom_membership"
        for name, unsaid in (("expert_choice.cpp", ("//", "#include <array>", "private:", "Options options_;", "}", "};")),
                             ("CMakeLists.txt", ()), ("pipeline.yaml", ("#",))):
            lines = [line.strip() for line in (sample / name).read_text(encoding="utf-8").splitlines()]
            missing = [line for line in lines if line and line not in shown and not line.startswith(unsaid or "\0")]
            self.assertEqual(missing, [], f"lines of {name} that the guide does not show")


class ErrorsTest(unittest.TestCase):
    """Every code that the program can say is documented, and shown whole by a command-line case."""

    def setUp(self):
        self.sources = codes_in_sources()

    def test_every_code_is_documented(self):
        documented = set(CODE.findall((PROJECT / "docs" / "errors.md").read_text(encoding="utf-8")))
        missing = [f"{code} ({file})" for code, file in sorted(self.sources.items()) if code not in documented]
        self.assertEqual(missing, [], "codes without an entry in docs/errors.md")
        self.assertEqual(sorted(documented - self.sources.keys()), [], "codes in docs/errors.md that nothing says")

    def test_every_code_has_a_golden_case(self):
        shown = set()
        for file in (PROJECT / "tests" / "golden").glob("*/expect.std*"):
            shown.update(CODE.findall(file.read_text(encoding="utf-8", errors="replace")))
        excused = {line.split()[0] for line in (PROJECT / "tests" / "golden" / "unreachable.txt").read_text(encoding="utf-8").splitlines()
                   if line.startswith("ADP-")}
        self.assertEqual(sorted(excused & shown), [], "codes said to be unreachable that a case shows")
        self.assertEqual(sorted(excused - self.sources.keys()), [], "unreachable codes that nothing says")
        shown |= excused
        missing = [f"{code} ({file})" for code, file in sorted(self.sources.items()) if code not in shown]
        self.assertEqual(missing, [], "codes that no case below tests/golden shows")


if __name__ == "__main__":
    unittest.main()
