#!/usr/bin/env python3
"""Properties of membership on whole dumps: neither names of activations, nor the order of independent lines, nor identity ops matter.

    properties_test.py --adpipe PROGRAM [DUMP...]

Each dump of tests/data/dumps is changed in three ways; by dataflow alone (names: ignore) every node must keep its layer.
"""
import argparse
import csv
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
DEFINITION = re.compile(r"%([\w.]+) (=|:) ")
REFERENCE = re.compile(r"%([\w.]+)")
# A name, not the target of a call ("submod_4(…", "<built-in function getitem>").
NAME = re.compile(r"(?<![\w.])(?<!function )(?<!method )(%?)([A-Za-z_]\w*)(?![\w.(])")
WORD = re.compile(r"(?<![\w.%'])[A-Za-z_]\w*")


def read_blocks(text):
    """[(module header lines, definition lines, output line)]"""
    blocks, head, body, names = [], [], [], set()
    for line in text.split("\n"):
        if DEFINITION.match(line):
            body.append(line)
        elif line.startswith("output"):
            blocks.append((head, body, line))
            head, body = [], []
        else:
            head.append(line)
    return blocks, head


def write_blocks(blocks, tail):
    return "\n".join(line for head, body, output in blocks for line in head + body + [output]) + "\n" + "\n".join(tail)


def defined(body):
    return [DEFINITION.match(line).group(1) for line in body]


def used(line, names):
    """Names that a line uses: %x anywhere, bare words inside lists."""
    rest = line[DEFINITION.match(line).end():]
    found = set(REFERENCE.findall(rest)) & names
    for inside in re.findall(r"[\[(]([^\[\]()]*)[\])]", rest):
        found |= set(WORD.findall(inside)) & names
    return found


def rename(blocks, rng):
    """New random names for the results of all ops; inputs and weights keep theirs."""
    maps = []
    renamed = []
    for head, body, output in blocks:
        ops = [name for name in defined(body) if f"%{name} = " in "\n".join(body)]
        fresh = [f"value_{n}" for n in range(len(ops))]
        rng.shuffle(fresh)
        mapping = dict(zip(ops, fresh))
        change = lambda text: NAME.sub(lambda m: m.group(1) + mapping.get(m.group(2), m.group(2)), text)
        renamed.append((head, [change(line) for line in body], change(output)))
        maps.append(mapping)
    return renamed, maps


IN_PLACE = re.compile(r" = (?:\S*_inplace\S*|\w+\.\w+_)(?:\.\w+)?\(")


def shuffle_lines(lines, names, rng):
    """Another order in which every value still comes before its uses."""
    own = {defined([line])[0] for line in lines}
    waits = {line: used(line, names) & own for line in lines}
    order, done, left = [], set(), list(lines)
    while left:
        pick = rng.choice([line for line in left if waits[line] <= done])
        order.append(pick)
        left.remove(pick)
        done.add(defined([pick])[0])
    return order


def shuffle(blocks, rng):
    """Inputs keep their place (parts are called by position), and nothing passes an in-place op: there the order has a meaning."""
    result = []
    for head, body, output in blocks:
        names = set(defined(body))
        inputs = [line for line in body if DEFINITION.match(line).group(2) == ":"]
        order, segment = list(inputs), []
        for line in body[len(inputs):]:
            if IN_PLACE.search(line):
                order += shuffle_lines(segment, names, rng) + [line]
                segment = []
            else:
                segment.append(line)
        result.append((head, order + shuffle_lines(segment, names, rng), output))
    return result


def add_identities(blocks, rng):
    """After some ops an alias of the result that all later lines use instead."""
    result = []
    for head, body, output in blocks:
        lines, mapping = [], {}
        for line in body:
            match = DEFINITION.match(line)
            name, rest = match.group(1), line[match.end():]
            lines.append(line[:match.end()] + NAME.sub(lambda m: m.group(1) + mapping.get(m.group(2), m.group(2)), rest))
            kind = re.search(r"\) : ([^:]+) : (torch\.\w+)$", line)
            if match.group(2) == "=" and kind and rng.random() < 0.15 and "_inplace" not in line and "NoneType" not in line:
                mapping[name] = f"identity_{len(mapping)}"
                lines.append(f"%{mapping[name]} = aten.alias.default(%{name} : {kind.group(1)} : {kind.group(2)}) : {kind.group(1)} : {kind.group(2)}")
        change = lambda text: NAME.sub(lambda m: m.group(1) + mapping.get(m.group(2), m.group(2)), text)
        result.append((head, lines, change(output)))
    return result


class Members:
    def __init__(self, adpipe):
        self.adpipe = adpipe

    def of(self, text):
        """[{node: layer}] by module, in the order of the text"""
        with tempfile.TemporaryDirectory() as folder:
            dump = Path(folder) / "001_export_export_to_gm.txt"
            dump.write_text(text)
            run = subprocess.run([self.adpipe, "members", dump, "--module", "all", "--format", "tsv", "--with", "names=ignore"],
                                 capture_output=True, text=True)
        if run.returncode:
            raise SystemExit(f"adpipe failed on a changed dump: {run.stderr}")
        modules = {}
        for row in csv.DictReader(run.stdout.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE):
            modules.setdefault(row["module"], {})[row["node"]] = row["layer"]
        return list(modules.values())


def passed_on(body):
    """Names that only stand for a value made elsewhere: inputs of parts, results of calls of parts."""
    return {DEFINITION.match(line).group(1) for line in body if DEFINITION.match(line).group(2) == ":" or "getitem>(%submod_" in line}


def differences(before, after, mappings, blocks, identities):
    """Nodes whose layer changed. With identities added, a name that is passed on stands for another value, and is left out."""
    found = []
    for old, new, mapping, (_, body, _) in zip(before, after, mappings, blocks):
        aside = passed_on(body) if identities else set()
        for node, layer in old.items():
            if node in aside:
                continue
            other = new.get(mapping.get(node, node))
            if other != layer:
                found.append(f"{node}: {layer} became {other}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adpipe", required=True)
    parser.add_argument("dumps", nargs="*", type=Path)
    arguments = parser.parse_args()
    dumps = arguments.dumps or sorted((HERE.parent / "data" / "dumps").glob("*/*.txt"))
    if not dumps:
        print("no dumps: skipped")
        return 77
    members = Members(arguments.adpipe)
    passed = failed = 0
    for dump in dumps:
        rng = random.Random(dump.name)
        blocks, tail = read_blocks(dump.read_text())
        before = members.of(write_blocks(blocks, tail))
        renamed, maps = rename(blocks, rng)
        none = [{} for _ in blocks]
        for what, changed, mappings in (("new names", renamed, maps), ("another order", shuffle(blocks, rng), none),
                                        ("identity ops", add_identities(blocks, rng), none)):
            found = differences(before, members.of(write_blocks(changed, tail)), mappings, blocks, what == "identity ops")
            passed, failed = passed + (not found), failed + bool(found)
            for line in found[:5]:
                print(f"{dump.parent.name}/{dump.name}, {what}: {line}")
            if len(found) > 5:
                print(f"… and {len(found) - 5} more")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
