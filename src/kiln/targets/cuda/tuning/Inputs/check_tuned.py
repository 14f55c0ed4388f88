#!/usr/bin/env python3
"""Compiles a product for each entry of the tuning databases FILE..., and wants the entry's configuration to be chosen for it, by what
the target brings along.

    check_tuned.py FOLDER FILE..."""

import json
import os
import re
import subprocess
import sys

OPERATION = re.compile(r"contraction ((?: ?[pr]\d+)+): (\w+)\((.*?)\) (\w+)\((.*?)\) -> (\w+)\((.*?)\) by arith.extf arith.extf arith.mulf arith.addf")


def program(text):
    """The MLIR of an operation by its text."""
    match = OPERATION.fullmatch(text)
    assert match, f"{text}: a form that this test does not write"
    loops = match[1].split()
    operands = [(match[i], match[i + 1]) for i in (2, 4, 6)]
    extents = {f"d{i}": loop[1:] for i, loop in enumerate(loops)}
    lhs, rhs, out = (f"tensor<{''.join(extents[each] + 'x' for each in place.split(', '))}{element}>" for element, place in operands)
    names = ", ".join(extents)
    maps = ", ".join(f"affine_map<({names}) -> ({place})>" for _, place in operands)
    kinds = ", ".join('"parallel"' if loop[0] == "p" else '"reduction"' for loop in loops)
    (a, _), (b, _), (c, _) = operands
    return f"""func.func @product(%lhs: {lhs}, %rhs: {rhs}, %out: {out}) -> {out} {{
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins(%lhs, %rhs : {lhs}, {rhs}) outs(%out : {out}) {{
  ^bb0(%x: {a}, %y: {b}, %sum: {c}):
    %xw = arith.extf %x : {a} to {c}
    %yw = arith.extf %y : {b} to {c}
    %p = arith.mulf %xw, %yw : {c}
    %next = arith.addf %sum, %p : {c}
    linalg.yield %next : {c}
  }} -> {out}
  return %r : {out}
}}"""


def main():
    folder, *files = sys.argv[1:]
    count = 0
    for path in files:
        with open(path, encoding="utf-8") as file:
            entries = [json.loads(line) for line in file if line.strip()]
        for entry in entries:
            keys, source = os.path.join(folder, f"keys{count}"), os.path.join(folder, f"{count}.mlir")
            with open(source, "w", encoding="utf-8") as file:
                file.write(program(entry["operation"]))
            architecture = entry["target"].split()[1]
            done = subprocess.run(["kiln-compile", "--kiln-hal-target-backends=cuda", f"--kiln-hal-cuda-llvm-target-arch={architecture}",
                                   f"--dump-tuning-keys-to={keys}", source, "-o", os.path.join(folder, "module.vmfb")], capture_output=True, text=True)
            assert done.returncode == 0 and not done.stderr, f"{entry['operation']}: {done.stderr}"
            (name,) = os.listdir(keys)
            with open(os.path.join(keys, name), encoding="utf-8") as file:
                key = json.load(file)
            assert key["operation"] == entry["operation"], key
            assert key["source"] == "built-in", key
            assert key["configuration"].startswith(entry["configuration"]), key
            count += 1
    assert count, "no entries"
    print(f"{count} entries are taken")


if __name__ == "__main__":
    main()
