#!/usr/bin/env python3
"""Compiles random programs, runs them, and compares what they give with numpy. Programs that fail stay in the folder.

    run.py [--first N] [--count N | --minutes M] [--targets host,generic,O0,cuda,cuda-sim] [--devices local-task,...]
           [--steps compile,run] --folder FOLDER

With one of the steps alone, modules stay in the folder, or are taken from there: for a machine that has no compiler."""

import argparse
import os
import shlex
import subprocess
import sys
import time

import numpy as np

from builder import random_module
from narrow import from_bytes, is_narrow, to_bytes
from program import TOLERANCE

CPU = "--iree-hal-target-backends=llvm-cpu"
TARGETS = {"host": [CPU], "generic": [CPU, "--iree-llvmcpu-target-cpu=generic"], "O0": [CPU, "--iree-opt-level=O0"],
           "cuda": ["--iree-hal-target-backends=cuda"], "cuda-sim": ["--iree-hal-target-backends=cuda"]}
DEVICES = {"local-sync": [], "local-task": ["--task_topology_group_count=3"],
           # Without a cache a buffer ends where its pages end, so that what a kernel writes behind it is found.
           "discrete": ["--device_allocator=direct"], "cuda": [], "cuda-sim": []}


def devices_of(target):
    return [target] if target in DEVICES else ["local-sync", "local-task", "discrete"]


def write(path, value, array):
    """The --input flag for an argument."""
    if value.is_scalar:
        return f"--input={int(array)}"
    if not is_raw(value.dtype):
        np.save(path + ".npy", array)
        return f"--input=@{path}.npy"
    raw = to_bytes(value.dtype, array) if is_narrow(value.dtype) else (
        np.ascontiguousarray(array).view(np.uint32) >> 16).astype(np.uint16)
    raw.tofile(path + ".bin")
    return "--input=" + "".join(f"{size}x" for size in array.shape) + f"{value.dtype}=@{path}.bin"


def is_raw(dtype):
    """Whether numpy has no such type."""
    return dtype == "bf16" or is_narrow(dtype)


def read(path, value):
    if not is_raw(value.dtype):
        return np.load(path)
    if is_narrow(value.dtype):
        count = int(np.prod(value.shape, dtype=np.int64))
        return from_bytes(value.dtype, np.fromfile(path, np.uint8), count).reshape(value.shape)
    bits = np.fromfile(path, np.uint16).astype(np.uint32) << 16
    return bits.view(np.float32).reshape(value.shape)


def spread_of(main):
    """How far each result of a call moves when all steps round otherwise: what cancels leaves nothing but that."""
    results, most = [main.env[value.name].astype(np.float64) for value in main.results], [0.0] * len(main.results)
    for seed in range(4):
        others = main.call([main.env[arg.name] for arg in main.args], np.random.default_rng(seed))
        for i, (result, other) in enumerate(zip(results, others)):
            most[i] = max(most[i], float(np.max(np.abs(other.astype(np.float64) - result), initial=0)))
    return most


def difference(value, got, expected, tolerance, spread=0):
    """What is wrong with a result, or None."""
    if got.shape != expected.shape:
        return f"has the shape {got.shape}, not {expected.shape}"
    wrong = got != expected
    if value.dtype in TOLERANCE:
        wide, reference = got.astype(np.float64), expected.astype(np.float64)
        largest = float(np.max(np.abs(reference), initial=0))
        wrong = ~(np.abs(wide - reference) <= max(tolerance * max(1e-3, largest), 4 * spread))
    if not wrong.any():
        return None
    place = tuple(int(index) for index in np.argwhere(wrong)[0])
    return f"has {got[place]} at {place}, not {expected[place]}; {wrong.sum()} of {wrong.size} elements are wrong"


def tool(command):
    """What a tool said, if it failed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300)
    except subprocess.TimeoutExpired:
        return f"{command[0]} took more than 5 minutes"
    return f"{command[0]} exited with {done.returncode}: {done.stderr.strip()[:800]}" if done.returncode else None


def call(module, main, device, folder):
    inputs = [write(f"{folder}/{main.name}.in{i}", arg, main.env[arg.name]) for i, arg in enumerate(main.args)]
    outputs = [f"{folder}/{main.name}.out{i}" + (".bin" if is_raw(value.dtype) else ".npy")
               for i, value in enumerate(main.results)]
    failure = tool(["kiln-run-module", f"--module={module}", f"--function={main.name}", f"--device={device}",
                    *DEVICES[device], *inputs, *(f"--output=@{path}" for path in outputs)])
    if failure:
        return failure
    # Errors of narrow types go on into wide ones.
    tolerance = max((TOLERANCE[value.dtype] for value in main.pool if value.dtype in TOLERANCE), default=0)
    for i, (value, path) in enumerate(zip(main.results, outputs)):
        got, expected = read(path, value), main.env[value.name]
        found = difference(value, got, expected, tolerance)
        if found and difference(value, got, expected, tolerance, spread_of(main)[i]):
            return f"result {i} of type {value.type} {found}"
    return None


def check(number, targets, devices, steps, folder):
    """The failures of one program."""
    text, mains = random_module(number)
    path = f"{folder}/{number}.mlir"
    with open(path, "w") as file:
        file.write(text)
    failures = []
    for target in targets:
        module = f"{folder}/module.vmfb" if len(steps) == 2 else f"{folder}/{number}.{target}.vmfb"
        failure = tool(["kiln-compile", "--kiln-verify-each", *TARGETS[target], path, "-o", module]) if "compile" in steps else None
        if failure:
            failures.append(f"{path} for {target}: {failure}")
            continue
        for device in (devices or devices_of(target)) if "run" in steps else []:
            for main in mains:
                failure = call(module, main, device, folder)
                if failure:
                    failures.append(f"{path} for {target} on {device}, {main.name}: {failure}")
    if not failures:
        os.remove(path)
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--minutes", type=float, help="as many programs as this takes, in place of a count")
    parser.add_argument("--targets", default="host")
    parser.add_argument("--devices", help="all on which a target's programs run")
    parser.add_argument("--steps", default="compile,run")
    parser.add_argument("--folder", required=True)
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    targets, steps = options.targets.split(","), options.steps.split(",")
    devices = options.devices.split(",") if options.devices else None
    end = time.monotonic() + 60 * options.minutes if options.minutes else None
    count, wrong = 0, 0
    while time.monotonic() < end if end else count < options.count:
        failures = check(options.first + count, targets, devices, steps, options.folder)
        count += 1
        wrong += bool(failures)
        for failure in failures:
            print(failure, flush=True)
        if failures:
            number = str(options.first + count - 1)
            print("again:", shlex.join([sys.executable, *sys.argv, "--first", number, "--count", "1"]), flush=True)
    print(f"{count - wrong} of {count} programs are right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
