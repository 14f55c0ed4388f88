#!/usr/bin/env python3
"""Products of few rows whose weights are made wider, scaled, shifted or turned just before, drawn by a seed, on the CPU, on a device
with memory of its own and on a simulated GPU. All numbers are small integers, so that results are exact in any order. On the CPU such
a product is one dispatch.

    factors.py --folder FOLDER [--first N] [--count N] [--devices DEVICE,...]"""

import argparse
import os
import random
import re
import subprocess
import sys

import numpy as np

STORED = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i32": np.int32}


def tensor(shape, dtype):
    return "tensor<" + "".join(f"{size}x" for size in shape) + dtype + ">"


def encode(values, dtype):
    """The bytes of numbers from 0 to 7 and below 0, in a type that numpy does not have."""
    if dtype == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    # Of f8E4M3FN, the exponent's bias is 7.
    magnitudes = [0, 0x38, 0x40, 0x44, 0x48, 0x4A, 0x4C, 0x4E]
    return np.array([magnitudes[abs(int(v))] | (0x80 if v < 0 else 0) for v in values.flat], np.uint8).reshape(values.shape)


class Program:
    def __init__(self, seed):
        draw = random.Random(seed)
        self.name = f"p{seed}"
        self.rows = draw.choice([1, 1, 2, 3, 4, 7, 12, 16])
        self.batch = draw.choice([0, 0, 0, 3])
        self.n, self.k = draw.choice([1, 8, 33, 64, 100]), draw.choice([1, 7, 32, 72, 200])
        self.sum = draw.choice(["f32", "f32", "f32", "i32"])
        self.stored = draw.choice(["f16", "bf16", "i8", "f8E4M3FN", "f32"] if self.sum == "f32" else ["i8", "i32"])
        self.steps = draw.sample(["columns", "steps", "shift"], draw.randint(0 if self.stored != self.sum else 1, 2))
        self.is_turned = draw.random() < 0.3
        self.is_shared = draw.random() < 0.15
        self.is_dynamic = draw.random() < 0.3
        self.ends = draw.random() < 0.4
        self.is_left = not self.batch and draw.random() < 0.2  # the weights are the left operand

    def shapes(self):
        """Of the activations, of the weights as they are stored, and of the result."""
        lead = [self.batch] if self.batch else []
        if self.is_left:
            weights, others, result = [self.n, self.k], [self.k, self.rows], [self.n, self.rows]
        else:
            weights, others, result = lead + [self.k, self.n], lead + [self.rows, self.k], lead + [self.rows, self.n]
        if self.is_turned:
            weights = weights[:-2] + weights[:-3:-1]
        return others, weights, result

    def unknown(self, shape, axes):
        return ["?" if self.is_dynamic and axis in axes else size for axis, size in enumerate(shape)]

    def text(self):
        others, weights, result = self.shapes()
        rank = len(weights)
        last = {rank - 1, rank - 2}
        row_axis = rank - 1 if self.is_left else rank - 2  # of the operand that has the few rows, and of the result
        other_type = tensor(self.unknown(others, last - {row_axis}), self.sum)
        stored_type = tensor(self.unknown(weights, last), self.stored)
        plain = self.shapes()[1] if not self.is_turned else weights[:-2] + weights[:-3:-1]
        wide_type = tensor(self.unknown(plain, last), self.sum)
        result_type = tensor(self.unknown(result, last - {row_axis}), self.sum)
        column_type, step_type = tensor(["?" if self.is_dynamic else self.n], self.sum), tensor(["?" if self.is_dynamic else self.k], self.sum)
        kind = "i" if self.sum == "i32" else "f"
        loops = ", ".join(f"d{axis}" for axis in range(rank))
        column, step = ("d%d" % (rank - 2), "d%d" % (rank - 1)) if self.is_left else ("d%d" % (rank - 1), "d%d" % (rank - 2))
        turned = ", ".join([f"d{axis}" for axis in range(rank - 2)] + [f"d{rank - 1}", f"d{rank - 2}"])
        maps = [f"affine_map<({loops}) -> ({turned if self.is_turned else loops})>", f"affine_map<({loops}) -> ({column})>",
                f"affine_map<({loops}) -> ({step})>", f"affine_map<({loops}) -> ({loops})>"]
        parallels = ", ".join(['"parallel"'] * rank)
        body = "    %v0 = " + {("f32", "i8"): f"arith.sitofp %x : i8 to f32", ("i32", "i8"): "arith.extsi %x : i8 to i32"}.get(
            (self.sum, self.stored), f"arith.add{kind} %x, %nothing : {self.sum}" if self.sum == self.stored else f"arith.extf %x : {self.stored} to f32") + "\n"
        for i, each in enumerate(self.steps):
            what = {"columns": f"arith.mul{kind} %v{i}, %c", "steps": f"arith.mul{kind} %v{i}, %s", "shift": f"arith.sub{kind} %v{i}, %two"}[each]
            body += f"    %v{i + 1} = {what} : {self.sum}\n"
        nothing, two = ("0", "2") if kind == "i" else ("0.0", "2.0")
        # The axis of the stored weights along which each axis of the wide ones is.
        source = list(range(rank - 2)) + ([rank - 1, rank - 2] if self.is_turned else [rank - 2, rank - 1])
        text = (f"func.func @{self.name}(%a: {other_type}, %w: {stored_type}, %cs: {column_type}, %ss: {step_type}) -> ({result_type}"
                f"{', ' + wide_type if self.is_shared else ''}) {{\n"
                f"  %nothing = arith.constant {nothing} : {self.sum}\n  %two = arith.constant {two} : {self.sum}\n")
        if self.is_dynamic:
            for axis in sorted(last):
                text += f"  %i{axis} = arith.constant {source[axis]} : index\n  %e{axis} = tensor.dim %w, %i{axis} : {stored_type}\n"
        wide_sizes = ", ".join(f"%e{axis}" for axis in sorted(last)) if self.is_dynamic else ""
        long_axis = rank - 2 if self.is_left else rank - 1
        result_sizes = f"%e{long_axis}" if self.is_dynamic else ""
        text += (f"  %empty = tensor.empty({wide_sizes}) : {wide_type}\n"
                 f"  %wide = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{parallels}]}}"
                 f" ins(%w, %cs, %ss : {stored_type}, {column_type}, {step_type}) outs(%empty : {wide_type}) {{\n"
                 f"  ^bb0(%x: {self.stored}, %c: {self.sum}, %s: {self.sum}, %o: {self.sum}):\n{body}"
                 f"    linalg.yield %v{len(self.steps)} : {self.sum}\n  }} -> {wide_type}\n"
                 f"  %out = tensor.empty({result_sizes}) : {result_type}\n"
                 f"  %fill = linalg.fill ins(%nothing : {self.sum}) outs(%out : {result_type}) -> {result_type}\n")
        inputs = (f"%wide, %a : {wide_type}, {other_type}" if self.is_left else f"%a, %wide : {other_type}, {wide_type}")
        text += f"  %r = linalg.{'batch_' if self.batch else ''}matmul ins({inputs}) outs(%fill : {result_type}) -> {result_type}\n"
        last_value = "%r"
        if self.ends:
            identity = f"affine_map<({loops}) -> ({loops})>"
            text += (f"  %end = linalg.generic {{indexing_maps = [{identity}, affine_map<({loops}) -> (d{long_axis})>, {identity}],"
                     f" iterator_types = [{parallels}]}} ins(%r, %cs : {result_type}, {column_type}) outs(%out : {result_type}) {{\n"
                     f"  ^bb0(%x: {self.sum}, %c: {self.sum}, %o: {self.sum}):\n    %t = arith.add{kind} %x, %c : {self.sum}\n"
                     f"    %u = arith.{'maximumf' if kind == 'f' else 'maxsi'} %t, %nothing : {self.sum}\n    linalg.yield %u : {self.sum}\n  }} -> {result_type}\n")
            last_value = "%end"
        values, types = ([last_value, "%wide"], [result_type, wide_type]) if self.is_shared else ([last_value], [result_type])
        return text + f"  return {', '.join(values)} : {', '.join(types)}\n}}\n"

    def arrays(self):
        generator = np.random.default_rng(int(self.name[1:]))
        others, weights, _ = self.shapes()
        return [generator.integers(-3, 4, others), generator.integers(-7, 8, weights), generator.integers(-3, 4, [self.n]), generator.integers(-3, 4, [self.k])]

    def expected(self):
        a, w, columns, steps = self.arrays()
        if self.is_turned:
            w = np.swapaxes(w, -1, -2)
        for each in self.steps:
            if each == "shift":
                w = w - 2
            elif (each == "columns") != self.is_left:
                w = w * (columns if each == "columns" else steps)
            else:
                w = w * (columns if each == "columns" else steps)[..., None]
        r = w @ a if self.is_left else a @ w
        if self.ends:
            r = np.maximum(r + (columns[:, None] if self.is_left else columns), 0)
        return [r, w] if self.is_shared else [r]

    def inputs(self, folder):
        flags = []
        for i, array in enumerate(self.arrays()):
            dtype = self.stored if i == 1 else self.sum
            path = os.path.join(folder, f"{self.name}.in{i}")
            if dtype in STORED:
                np.save(path + ".npy", array.astype(STORED[dtype]))
                flags.append(f"--input=@{path}.npy")
            else:
                encode(array, dtype).tofile(path + ".bin")
                flags.append(f"--input={''.join(f'{size}x' for size in array.shape)}{dtype}=@{path}.bin")
        for i, array in enumerate(self.expected()):
            path = os.path.join(folder, f"{self.name}.out{i}.npy")
            np.save(path, array.astype(STORED[self.sum]))
            flags.append(f"--expected_output=@{path}")
        return flags


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--devices", default="local-sync,local-task,discrete,cuda-sim")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    programs = [Program(seed) for seed in range(options.first, options.first + options.count)]
    source = os.path.join(options.folder, "factors.mlir")
    with open(source, "w", encoding="utf-8") as file:
        file.write("".join(program.text() for program in programs))
    wrong = 0
    asked = options.devices.split(",")
    for target in ("llvm-cpu", "cuda"):
        devices = [device for device in asked if device.startswith("cuda") == (target == "cuda")]
        if not devices:
            continue
        module = os.path.join(options.folder, f"{target}.vmfb")
        code, said = run("kiln-compile", f"--iree-hal-target-backends={target}", source, "-o", module)
        if code:
            sys.exit(f"kiln-compile exited with {code} for {target}: {said[:2000]}")
        if target == "llvm-cpu":
            _, flow = run("kiln-compile", f"--iree-hal-target-backends={target}", "--compile-to=flow", source, "-o", "-")
            for program in programs:
                body = re.search(rf"func [^\n]*@{program.name}\(.*?\n  }}", flow, re.S).group()
                count = len(re.findall(r"flow\.dispatch @", body))
                if count != 1 + program.is_shared:
                    print(f"{program.name} has {count} dispatches, not {1 + program.is_shared}")
                    wrong += 1
        for device in devices:
            for program in programs:
                code, said = run("kiln-run-module", f"--module={module}", f"--device={device}", f"--function={program.name}", *program.inputs(options.folder))
                if code:
                    print(f"{program.name} on {device}: {said[:600]}")
                    wrong += 1
    print(f"{len(programs)} products, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
