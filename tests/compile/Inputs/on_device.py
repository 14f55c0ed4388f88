#!/usr/bin/env python3
"""Runs what tests say of programs on another device: the RUN lines that compile a program for the CPU, run it and check what
it prints, with that device in place of the CPU's. For the simulated GPU, cuda-sim, programs are compiled for the target cuda.

    on_device.py [--device cuda-sim|discrete] [--seed N] --folder FOLDER [--most-elements N] TEST..."""

import argparse
import math
import os
import re
import subprocess
import sys


def run_lines(path):
    """The commands of a test, with continued lines joined."""
    with open(path, encoding="utf-8") as file:
        text = "".join(match.group(1) + "\n" for match in re.finditer(r"^\s*(?://|#)\s*RUN:(.*)$", file.read(), re.M))
    return [line.strip() for line in re.sub(r"\\\n", " ", text).splitlines() if line.strip()]


def for_device(line, device, seed):
    uri = f"cuda-sim://{seed}"
    if device == "discrete":
        uri = f"discrete://seed={seed}"
    else:
        line = re.sub(r"--(iree|kiln)-hal-target-backends=llvm-cpu", "--iree-hal-target-backends=cuda", line)
    line = re.sub(r"--device=local-\w+", "", line)
    return re.sub(r"\bkiln-(run|check)-module\b", rf"\g<0> --device={uri}", line)


def concerns(line, device):
    """Whether it compiles a program for the CPU as it stands, or runs one and looks at what it gives."""
    if re.search(r"\bnot |cmp |--task_|--print_statistics|\bgrep\b", line):
        return False
    if device == "cuda-sim" and re.search(r"iree-llvmcpu|--iree-opt", line):
        return False
    if "kiln-compile" in line:
        return re.search(r"--(iree|kiln)-hal-target-backends=llvm-cpu", line) is not None and "FileCheck" not in line
    return re.search(r"kiln-check-module|kiln-run-module.*(FileCheck|--expected_output)", line) is not None


def elements_of(line):
    """Of all its inputs: the simulator is for small ones."""
    shapes = re.findall(r"--input=[\"']?((?:\d+x)+)[a-z]", line)
    return sum(math.prod(int(size) for size in shape[:-1].split("x")) for shape in shapes)


def failures_of(path, options):
    """What goes wrong in a test, and how many calls were checked."""
    base = os.path.join(options.folder, os.path.basename(path))
    found, calls, modules = [], 0, set()
    for line in run_lines(path):
        if not concerns(line, options.device):
            continue
        compiles = "kiln-compile" in line
        places = set(re.findall(r"%t[\w./-]*", line))
        if not compiles and (not places & modules or elements_of(line) > options.most_elements):
            continue
        command = for_device(line, options.device, options.seed)
        command = command.replace("%s", path).replace("%S", os.path.dirname(path)).replace("%t", base)
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, timeout=300)
        modules |= places if compiles and not done.returncode else set()
        calls += not compiles
        if done.returncode:
            found.append(f"{path}: {command}\n{(done.stdout + done.stderr)[:2000]}")
    return found, calls


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cuda-sim", "discrete"), default="cuda-sim")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--most-elements", type=int, default=100000)
    parser.add_argument("tests", nargs="+")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    calls, wrong = 0, 0
    for path in options.tests:
        failures, checked = failures_of(path, options)
        calls += checked
        wrong += bool(failures)
        for failure in failures:
            print(failure, flush=True)
    print(f"{len(options.tests) - wrong} of {len(options.tests)} tests are right on {options.device}, of {calls} calls")
    return 1 if wrong or not calls else 0


if __name__ == "__main__":
    sys.exit(main())
