#!/usr/bin/env python3
"""The baseline for `adpipe members`: what one would write in an afternoon, with regular expressions, to get the same table.

    members_baseline.py DUMP

Reads the module monolithic.model (or the largest): of each line the name, the operator, the operands with shape and type, and the results. Takes
the layer of a weight from its name; every node gets the layer of the weights above and below it: the highest that it or its ancestors use, the
lowest that it or its descendants use; where they differ, the former. The group comes from the part of the layer that a weight belongs to, by its
name, and nodes without a weight get it from their neighbours. Prints the columns of `adpipe members --format tsv`. It is less exact than adpipe: it
takes no cut between two layers, compares no layer with its neighbours, and checks nothing.
"""
import re
import sys

MODULE = re.compile(r"^# GraphModule: (.*)$")
NODE = re.compile(r"^%(\w+) = (<[^>]*>|[\w.]+)\((.*)\) : (.*)$")
OUTPUT = re.compile(r"^output\((.*)\)$|^return ")
PLACEHOLDER = re.compile(r"^%(\w+) : ([^:]*) : (.*)$")
OPERAND = re.compile(r"%(\w+)(?: : ([^:%()]*?) : (\w[\w.]*|\?))?|(?<=[\[, (])([A-Za-z_]\w*)(?=[\], )])")
RESULT = re.compile(r"\(([^()]*)\)")
LAYER = re.compile(r"(?:^|_)(?:layers|blocks|block|h)_(\d+)_(\w+)")
GROUPS = [(re.compile(pattern), group, part) for pattern, group, part in (
    (r"shared_expert", "mlp", "shared_experts"), (r"(^|_)experts?_|_moe_fc", "moe", "moe_experts"), (r"mlp_gate_(weight|e_score)", "moe", "moe_router"),
    (r"self_attn_q_", "mla", "q_branch"), (r"self_attn_kv_", "mla", "kv_branch"), (r"self_attn|attention_", "mla", ""),
    (r"layernorm|_norm", "norm", ""), (r"mlp", "mlp", ""))]


class Node:
    __slots__ = ("name", "op", "operands", "results")

    def __init__(self, name, op, operands, results):
        self.name, self.op, self.operands, self.results = name, op, operands, results


def read_modules(path):
    """{module: [Node]}; an operand is (name, shape, type), a result (shape, type)."""
    modules, nodes = {}, []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if match := NODE.match(line):
                name, op, arguments, result = match.groups()
                operands = [(a or d, b, c) for a, b, c, d in OPERAND.findall(arguments)]
                parts = RESULT.findall(result)
                shapes, types = (parts if len(parts) == 2 else result.rsplit(" : ", 1)) if " : " in result else (result, "")
                nodes.append(Node(name, op, operands, list(zip(shapes.split(", "), types.split(", ")))))
            elif match := PLACEHOLDER.match(line):
                nodes.append(Node(match[1], "placeholder", [], [(match[2], match[3])]))
            elif match := MODULE.match(line):
                nodes = modules.setdefault(match[1], [])
            elif match := OUTPUT.match(line):
                nodes.append(Node("output", "output", [(a or d, b, c) for a, b, c, d in OPERAND.findall(line)], []))
    return modules


def weights_of(nodes):
    """{weight: (layer, group, part)} of every name that no line defines and that names a layer."""
    defined = {node.name for node in nodes}
    weights = {}
    for node in nodes:
        for name, _, _ in node.operands:
            if name in defined or name in weights:
                continue
            if match := LAYER.search(name):
                group = next(((g, part) for pattern, g, part in GROUPS if pattern.search(match[2])), ("other", ""))
                weights[name] = (int(match[1]), *group)
    return weights


def layers_of(nodes, weights):
    """{node: (layer, reason)}; -1 before the first, and a number after the last, as the weights there have no layer."""
    up, down, users, reason = {}, {}, {}, {}
    for node in nodes:
        above = -1
        for name, _, _ in node.operands:
            if name in weights:
                above = max(above, weights[name][0])
                reason.setdefault(node.name, "uses " + name)
            else:
                above = max(above, up.get(name, -1))
                users.setdefault(name, []).append(node.name)
        up[node.name] = above
    last = max((weight[0] for weight in weights.values()), default=-1) + 1
    for node in reversed(nodes):
        below = last
        for name, _, _ in node.operands:
            if name in weights:
                below = min(below, weights[name][0])
        for user in users.get(node.name, ()):
            below = min(below, down[user])
        down[node.name] = below
    found = {}
    for node in nodes:
        above, below = up[node.name], down[node.name]
        layer = "prologue" if above < 0 else "epilogue" if below >= last and above != last - 1 else above
        found[node.name] = (layer, reason.get(node.name, f"between layers {above} and {below}"))
    return found, users


def groups_of(nodes, weights, users):
    """{node: (group, part)}: the group of its weight, else of what it reads, else of what reads it."""
    groups = {}
    for node in nodes:
        for name, _, _ in node.operands:
            if name in weights:
                groups[node.name] = weights[name][1:]
                break
        else:
            groups[node.name] = next((groups[name] for name, _, _ in node.operands if groups.get(name, ("other",))[0] != "other"), ("other", ""))
    for node in reversed(nodes):
        if groups[node.name][0] == "other":
            groups[node.name] = next((groups[user] for user in users.get(node.name, ()) if groups[user][0] != "other"), ("other", ""))
    return groups


def main():
    modules = read_modules(sys.argv[1])
    module = "monolithic.model" if "monolithic.model" in modules else max(modules, key=lambda name: len(modules[name]))
    nodes = modules[module]
    weights = weights_of(nodes)
    layers, users = layers_of(nodes, weights)
    groups = groups_of(nodes, weights, users)
    sys.stdout.write("module\tstack\tnode\tlayer\tgroup\tsub_group\treason\n")
    for name, (layer, group, part) in weights.items():
        sys.stdout.write(f"{module}\t\t{name}\t{layer}\t{group}\t{part}\ta weight of layer {layer} by its name\n")
    for node in nodes:
        layer, reason = layers[node.name]
        group, part = groups[node.name]
        sys.stdout.write(f"{module}\t\t{node.name}\t{'input' if node.op == 'placeholder' else layer}\t{group}\t{part}\t{reason}\n")


if __name__ == "__main__":
    main()
