#!/usr/bin/env python3
"""Compiles random programs, runs them, and compares what they give with numpy. Programs that fail stay in the folder.

    run.py [--graphs | --small-graphs] [--first N] [--count N | --minutes M] [--targets host,generic,O0,cuda,cuda-sim]
           [--devices local-task,...] [--steps compile,run] --folder FOLDER

Graphs are layers of models. They are compiled once more with each operation apart, and both have to agree with numpy. With one
of the steps alone, modules stay in the folder, or are taken from there: for a machine that has no compiler."""

import argparse
import json
import os
import shlex
import subprocess
import sys
import time

import numpy as np

from builder import random_module
from graphs import random_graphs
from narrow import from_bytes, is_narrow, to_bytes
from program import EPSILON, TOLERANCE, raw_bytes

CPU = "--iree-hal-target-backends=llvm-cpu"
TARGETS = {"host": [CPU], "generic": [CPU, "--iree-llvmcpu-target-cpu=generic"], "O0": [CPU, "--iree-opt-level=O0"],
           "cuda": ["--iree-hal-target-backends=cuda"], "cuda-sim": ["--iree-hal-target-backends=cuda"]}
APART = ["--kiln-opt-data-tiling=false", "--kiln-opt-const-eval=false", "--kiln-opt-channels-last=false"]
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
    with open(path + ".bin", "wb") as file:
        file.write(to_bytes(value.dtype, array).tobytes() if is_narrow(value.dtype) else raw_bytes(array, value.dtype))
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


def largest(array):
    return float(np.max(np.abs(array.astype(np.float64)), initial=0))


def root_mean_square(array):
    return float(np.sqrt(np.mean(np.square(array, dtype=np.float64)))) if array.size else 0.0


def spread_of(main, size=largest):
    """How far each result of a call moves when all steps round otherwise: what cancels leaves nothing but that."""
    results, most = [main.env[value.name].astype(np.float64) for value in main.results], [0.0] * len(main.results)
    for seed in range(4):
        others = main.call([main.env[arg.name] for arg in main.args], np.random.default_rng(seed))
        for i, (result, other) in enumerate(zip(results, others)):
            most[i] = max(most[i], size(other.astype(np.float64) - result))
    return most


def difference(value, got, expected, tolerance, spread=0):
    """What is wrong with a result, or None."""
    if got.shape != expected.shape:
        return f"has the shape {got.shape}, not {expected.shape}"
    wrong = got != expected
    if value.dtype in TOLERANCE or spread:
        wide, reference = got.astype(np.float64), expected.astype(np.float64)
        near = np.abs(wide - reference) <= max(tolerance * max(1e-3, largest(reference)), 4 * spread)
        wrong = ~(near | np.isnan(wide) & np.isnan(reference))
    if not wrong.any():
        return None
    place = tuple(int(index) for index in np.argwhere(wrong)[0])
    return f"has {got[place]} at {place}, not {expected[place]}; {wrong.sum()} of {wrong.size} elements are wrong"


def write_parameters(path, parameters):
    """A .safetensors file, and the flags that name it."""
    names = {"f64": "F64", "f32": "F32", "f16": "F16", "bf16": "BF16", "i8": "I8"}
    header, data = {}, b""
    for key, (dtype, array) in parameters.items():
        raw = raw_bytes(array, dtype)
        header[key] = {"dtype": names[dtype], "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data)
    return [f"--parameters=model={path}"] if parameters else []


def graph_difference(main, results):
    """What is wrong with the results of a graph, fused and with each operation apart: an element, or most of them by less."""
    spreads, means = spread_of(main), spread_of(main, root_mean_square)
    for i, (value, fused, apart) in enumerate(zip(main.results, *results)):
        expected = main.env[value.name]
        unit = EPSILON.get(value.dtype, 0)
        bound = 0 if value.exact else 4 * spreads[i] + 2 * unit * largest(expected)
        mean = 4 * means[i] + unit * root_mean_square(expected)
        for what, got, reference in (("fused", fused, expected), ("apart", apart, expected), ("fused, not apart,", fused, apart)):
            found = difference(value, got, reference, 0, bound / 4)
            if found:
                return f"result {i} of type {value.type}, {what} {found}, with a bound of {bound:.3g}"
            apart_by = root_mean_square(np.nan_to_num(got.astype(np.float64) - reference))
            if not value.exact and apart_by > mean:
                return f"result {i} of type {value.type}, {what} is off by {apart_by:.3g} in the mean, with a bound of {mean:.3g}"
    return None


def tool(command):
    """What a tool said, if it failed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300)
    except subprocess.TimeoutExpired:
        return f"{command[0]} took more than 5 minutes"
    return f"{command[0]} exited with {done.returncode}: {done.stderr.strip()[:800]}" if done.returncode else None


def call(module, main, device, folder):
    """What a call gives, or how it failed."""
    inputs = [write(f"{folder}/{main.name}.in{i}", arg, main.env[arg.name]) for i, arg in enumerate(main.args)]
    outputs = [f"{folder}/{main.name}.out{i}" + (".bin" if is_raw(value.dtype) else ".npy")
               for i, value in enumerate(main.results)]
    failure = tool(["kiln-run-module", f"--module={module}", f"--function={main.name}", f"--device={device}",
                    *DEVICES[device], *inputs, *write_parameters(f"{folder}/{main.name}.safetensors", main.parameters),
                    *(f"--output=@{path}" for path in outputs)])
    return failure, [] if failure else [read(path, value) for value, path in zip(main.results, outputs)]


def program_difference(main, results):
    """What is wrong with the results of a random program."""
    # Errors of narrow types go on into wide ones.
    tolerance = max((TOLERANCE[value.dtype] for value in main.pool if value.dtype in TOLERANCE), default=0)
    for i, (value, got) in enumerate(zip(main.results, results)):
        expected = main.env[value.name]
        found = difference(value, got, expected, tolerance)
        if found and difference(value, got, expected, tolerance, spread_of(main)[i]):
            return f"result {i} of type {value.type} {found}"
    return None


def check(number, kind, targets, devices, steps, folder):
    """The failures of one program."""
    if kind:
        mains = random_graphs(number, kind == "small")
        texts = {"": mains[0].text(), ".apart": mains[0].text(is_apart=True)}
    else:
        text, mains = random_module(number)
        texts = {"": text}
    failures, paths = [], {form: f"{folder}/{number}{form}.mlir" for form in texts}
    for form, path in paths.items():
        with open(path, "w") as file:
            file.write(texts[form])
    for target in targets:
        modules, failure = {}, None
        for form, path in paths.items():
            modules[form] = f"{folder}/module{form}.vmfb" if len(steps) == 2 else f"{folder}/{number}{form}.{target}.vmfb"
            if not failure and "compile" in steps:
                failure = tool(["kiln-compile", "--kiln-verify-each", *TARGETS[target], *(APART if form else []), path, "-o",
                                modules[form]])
                failures += [f"{path} for {target}: {failure}"] if failure else []
        if failure:
            continue
        for device in (devices or devices_of(target)) if "run" in steps else []:
            for main in mains:
                called = [(form, *call(module, main, device, folder)) for form, module in modules.items()]
                failure = next((f"{form} {failure}" for form, failure, _ in called if failure), None)
                if not failure:
                    results = [results for _, _, results in called]
                    failure = graph_difference(main, results) if kind else program_difference(main, results[0])
                if failure:
                    failures.append(f"{paths['']} for {target} on {device}, {main.name}: {failure}")
    if not failures:
        for path in paths.values():
            os.remove(path)
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", dest="kind", action="store_const", const="large")
    parser.add_argument("--small-graphs", dest="kind", action="store_const", const="small", help="for what is slow")
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
        failures = check(options.first + count, options.kind, targets, devices, steps, options.folder)
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
