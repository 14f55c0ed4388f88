#!/usr/bin/env python3
"""Elementwise operations that several reductions use, on random inputs against numpy, on the CPU and a simulated GPU. Each
program has as many dispatches as it is to have.

    merged_reductions.py --folder FOLDER"""

import argparse
import os
import re
import subprocess
import sys

import numpy as np

LOOPS = "ijk"
DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i32": np.int32}


def tensor(shape, dtype):
    return "tensor<" + "".join(f"{size}x" for size in shape) + dtype + ">"


def affine(rank, dims):
    return f"affine_map<({', '.join(LOOPS[:rank])}) -> ({', '.join(LOOPS[d] for d in dims)})>"


class Program:
    """d = x - y, whose sum, smallest value and sum of squares over `dims` are wanted. `dispatches`: how many different ones, on the CPU."""

    def __init__(self, name, shape, dims, dtype="f32", dispatches=1, form="generic", dynamic=False):
        self.name, self.shape, self.dims, self.dtype, self.dispatches = name, shape, dims, dtype, dispatches
        self.form, self.dynamic = form, dynamic

    def reduction(self, result, start, body):
        rank, kept = len(self.shape), [axis for axis in range(len(self.shape)) if axis not in self.dims]
        if self.form == "reduce":
            return (f"  {result} = linalg.reduce ins(%d : {self.whole}) outs({start} : {self.part}) dimensions = {list(self.dims)}\n"
                    f"    (%a: {self.dtype}, %o: {self.dtype}) {{\n{body}    linalg.yield %t : {self.dtype}\n  }}\n")
        kinds = ", ".join('"reduction"' if axis in self.dims else '"parallel"' for axis in range(rank))
        return (f"  {result} = linalg.generic {{indexing_maps = [{affine(rank, range(rank))}, {affine(rank, kept)}],"
                f" iterator_types = [{kinds}]}} ins(%d : {self.whole}) outs({start} : {self.part}) {{\n"
                f"  ^bb0(%a: {self.dtype}, %o: {self.dtype}):\n{body}    linalg.yield %t : {self.dtype}\n  }} -> {self.part}\n")

    def text(self):
        left = [size for axis, size in enumerate(self.shape) if axis not in self.dims]
        sizes = ["?"] * len(self.shape) if self.dynamic else self.shape
        self.whole = tensor(sizes, self.dtype)
        self.part = tensor(["?"] * len(left) if self.dynamic else left, self.dtype)
        suffix, kind = ("i", self.dtype) if self.dtype[0] == "i" else ("f", self.dtype)
        lowest = "minsi" if suffix == "i" else "minimumf"
        largest = {"f16": "0x7C00", "f32": "0x7F800000", "f64": "0x7FF0000000000000", "i32": "2147483647"}[kind]
        zero = "0" if suffix == "i" else "0.0"
        extents = "".join(f"  %c{axis} = arith.constant {axis} : index\n  %n{axis} = tensor.dim %x, %c{axis} : {self.whole}\n"
                          for axis in range(len(self.shape))) if self.dynamic else ""
        kept = ", ".join(f"%n{axis}" for axis in range(len(self.shape)) if axis not in self.dims) if self.dynamic else ""
        rank = len(self.shape)
        identity = affine(rank, range(rank))
        loops = ", ".join(['"parallel"'] * rank)
        every = ", ".join(f"%n{axis}" for axis in range(rank)) if self.dynamic else ""
        text = (f"func.func @{self.name}(%x: {self.whole}, %y: {self.whole}) -> ({self.part}, {self.part}, {self.part}) {{\n{extents}"
                f"  %zero = arith.constant {zero} : {kind}\n  %large = arith.constant {largest} : {kind}\n"
                f"  %e = tensor.empty({kept}) : {self.part}\n  %w = tensor.empty({every}) : {self.whole}\n"
                f"  %z = linalg.fill ins(%zero : {kind}) outs(%e : {self.part}) -> {self.part}\n"
                f"  %d = linalg.generic {{indexing_maps = [{identity}, {identity}, {identity}], iterator_types = [{loops}]}}"
                f" ins(%x, %y : {self.whole}, {self.whole}) outs(%w : {self.whole}) {{\n"
                f"  ^bb0(%a: {kind}, %b: {kind}, %o: {kind}):\n    %t = arith.sub{suffix} %a, %b : {kind}\n"
                f"    linalg.yield %t : {kind}\n  }} -> {self.whole}\n")
        text += self.reduction("%s", "%z", f"    %t = arith.add{suffix} %a, %o : {kind}\n")
        # What the second one starts from stands behind the first one.
        text += f"  %l = linalg.fill ins(%large : {kind}) outs(%e : {self.part}) -> {self.part}\n"
        text += self.reduction("%m", "%l", f"    %t = arith.{lowest} %a, %o : {kind}\n")
        text += self.reduction("%q", "%z", f"    %p = arith.mul{suffix} %a, %a : {kind}\n    %t = arith.add{suffix} %p, %o : {kind}\n")
        return text + f"  return %s, %m, %q : {self.part}, {self.part}, {self.part}\n}}\n"

    def arrays(self):
        generator = np.random.default_rng(len(self.name))
        if self.dtype == "i32":
            return [generator.integers(-1000, 1000, self.shape).astype(np.int32) for _ in range(2)]
        return [generator.standard_normal(self.shape).astype(DTYPES[self.dtype]) for _ in range(2)]

    def expected(self):
        x, y = self.arrays()
        d = x - y
        wide = d.astype(np.float64) if d.dtype.kind == "f" else d.astype(np.int64)
        return wide.sum(axis=self.dims), wide.min(axis=self.dims), (wide * wide).sum(axis=self.dims)


PROGRAMS = [
    Program("rows", (8, 16, 4096), (2,)),
    Program("odd_rows", (7, 33), (1,)),
    Program("long_rows", (9, 70000), (1,)),
    Program("columns", (300, 130), (0,)),
    Program("middle", (5, 77, 12), (1,)),
    Program("inner_two", (6, 10, 31), (1, 2)),
    Program("doubles", (40, 50), (1,), "f64"),
    Program("halves", (40, 50), (1,), "f16"),
    Program("long_halves", (3, 20000), (1,), "f16"),
    Program("columns_of_halves", (300, 130), (0,), "f16"),
    Program("integers", (40, 50), (1,), "i32"),
    Program("named", (40, 50), (1,), form="reduce"),
    Program("dynamic", (11, 45), (1,), dynamic=True),
    # Each of few results is reduced in parts first. The two sums go on with the same code.
    Program("split", (2, 1 << 20), (1,), dispatches=3),
    Program("split_all", (512, 1024), (0, 1), dispatches=3),
]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr.strip()[:1500]}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", required=True)
    folder = parser.parse_args().folder
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/all.mlir", "w", encoding="utf-8") as file:
        file.write("".join(program.text() for program in PROGRAMS))
    wrong = 0
    for backend, device in (("llvm-cpu", "local-task"), ("cuda", "cuda-sim")):
        module = f"{folder}/{backend}.vmfb"
        run(["kiln-compile", f"--iree-hal-target-backends={backend}", f"{folder}/all.mlir", "-o", module])
        listed = run(["kiln-dump-module", module])
        for program in PROGRAMS:
            dispatches = len(set(re.findall(rf"\b{program.name}_dispatch_\d+_", listed)))
            if backend == "llvm-cpu" and dispatches != program.dispatches:
                print(f"{program.name}: {dispatches} dispatches, not {program.dispatches}")
                wrong += 1
            outputs = [f"{folder}/{program.name}.{i}.npy" for i in range(3)]
            inputs = []
            for i, array in enumerate(program.arrays()):
                np.save(f"{folder}/input{i}.npy", array)
                inputs.append(f"--input=@{folder}/input{i}.npy")
            run(["kiln-run-module", f"--device={device}", f"--module={module}", f"--function={program.name}", *inputs,
                 *(f"--output=@{output}" for output in outputs)])
            for output, expected in zip(outputs, program.expected()):
                # Sums of f16 are computed in f32, and rounded once.
                most = 2**-10 if program.dtype == "f16" else {"f32": 1e-5, "f64": 1e-12, "i32": 0}[program.dtype] * np.prod(program.shape) ** 0.5
                if not np.all(np.abs(np.load(output) - expected) <= most * (1 + np.abs(expected))):
                    print(f"{program.name} on {device}: {output} is {np.load(output)}, not {expected}")
                    wrong += 1
    print(f"{wrong} differences in {len(PROGRAMS)} programs")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
