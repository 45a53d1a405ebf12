#!/usr/bin/env python3
"""The baseline for `adpipe members`: what one would write in an afternoon, with regular expressions.

    members_baseline.py DUMP

Reads the module monolithic.model (or the largest), takes the layer of each weight from its name, and gives every node the layer of the weights
above and below it: the highest that it or its ancestors use, the lowest that it or its descendants use; where they differ, the former.
Prints `node<TAB>layer`.
"""
import re
import sys

MODULE = re.compile(r"^# GraphModule: (.*)$")
NODE = re.compile(r"^%(\w+) = ")
PLACEHOLDER = re.compile(r"^%(\w+) : ")
NAME = re.compile(r"%(\w+)|(?<=[\[, ])([A-Za-z_]\w*)(?=[\], )])")
LAYER = re.compile(r"(?:^|_)(?:layers|blocks|block|h)_(\d+)_")


def read_modules(path):
    """{module: [(node, [names that its line mentions])]}, placeholders without any."""
    modules, nodes = {}, []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if match := MODULE.match(line):
                nodes = modules.setdefault(match[1], [])
            elif match := NODE.match(line):
                arguments = line[line.find("(", match.end()):]
                nodes.append((match[1], [a or b for a, b in NAME.findall(arguments)]))
            elif match := PLACEHOLDER.match(line):
                nodes.append((match[1], []))
    return modules


def layers_of(nodes):
    """{node: layer}; -1 before the first, and a number after the last, as the weights there have no layer."""
    defined = {name for name, _ in nodes}
    weight_layer = {}
    for _, names in nodes:
        for name in names:
            if name not in defined and (match := LAYER.search(name)):
                weight_layer[name] = int(match[1])
    up, down, users = {}, {}, {}
    for name, inputs in nodes:
        up[name] = max((weight_layer.get(i, up.get(i, -1)) for i in inputs), default=-1)
        for i in inputs:
            users.setdefault(i, []).append(name)
    last = max(weight_layer.values(), default=-1) + 1
    for name, inputs in reversed(nodes):
        own = min((weight_layer[i] for i in inputs if i in weight_layer), default=last)
        down[name] = min([own, *(down[user] for user in users.get(name, []))])
    return {name: up[name] if up[name] >= 0 and down[name] < last or up[name] == down[name] else (-1 if up[name] < 0 else last)
            for name, _ in nodes}


def main():
    modules = read_modules(sys.argv[1])
    nodes = modules.get("monolithic.model") or max(modules.values(), key=len)
    for name, layer in layers_of(nodes).items():
        sys.stdout.write(f"{name}\t{layer}\n")


if __name__ == "__main__":
    main()
