#!/usr/bin/env python3
"""That every plugin shows exactly two symbols.   exports_test.py NM DIRECTORY...   (each directory holds plugins)"""
import subprocess
import sys
from pathlib import Path

WANTED = ["adpipe_abi", "adpipe_plugin"]


def exported(nm, plugin):
    lines = subprocess.run([nm, "-D", "--defined-only", str(plugin)], check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted(line.split()[-1].split("@")[0] for line in lines)


def main():
    nm, *directories = sys.argv[1:]
    plugins = sorted(plugin for directory in directories for plugin in Path(directory).glob("*.so"))
    wrong = {plugin: names for plugin in plugins if (names := exported(nm, plugin)) != WANTED}
    for plugin, names in wrong.items():
        print(f"{plugin}: exports {' '.join(names)}")
    print(f"{len(plugins) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong or not plugins else 0


if __name__ == "__main__":
    sys.exit(main())
