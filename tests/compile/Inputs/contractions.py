#!/usr/bin/env python3
"""Products of small integers on a simulated GPU, or on a device, compared with numpy's: exact in every type and in any order of the sums.
Each case is a product of given layouts, types, shape and configuration, with what follows it in the same dispatch.

    contractions.py --folder FOLDER [--first N] [--count N] [--device cuda] [--only cluster]"""

import argparse
import os
import random
import shlex
import subprocess
import sys

import numpy as np

GROUPED, SYNC, WMMA, SCALAR = "tensorcore_wgmma", "tensorcore_mmasync", "tensorcore_wmma", "simt_ffma"
NUMPY = {"f16": np.float16, "bf16": np.float32, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i32": np.int32}
# Element type, type of the result, configurations; None is the compiler's choice.
KINDS = [
    ("f16", "f16", [None, f"64x64_64x3_{GROUPED}", f"128x64_64x3_{GROUPED}", f"64x128_64x2_{GROUPED}", f"128x256_64x4_{GROUPED}",
                    f"128x64_64x3_{GROUPED}_cluster2x1", f"64x64_64x2_{GROUPED}_cluster1x2", f"64x128_64x3_{GROUPED}_cluster2x2",
                    f"64x64_64x3_{GROUPED}_cluster4x1", f"64x64_64x2_{GROUPED}_cluster2x4",
                    f"192x160_64x3_{GROUPED}", f"64x96_64x3_{GROUPED}", f"192x64_64x2_{GROUPED}", f"128x192_64x3_{GROUPED}",
                    f"128x128_64x4_{GROUPED}_128x128", f"128x96_64x3_{GROUPED}_128x96", f"128x128_64x2_{GROUPED}_128x128",
                    f"64x64_64x3_{GROUPED}_cluster1x1x2", f"128x64_64x2_{GROUPED}_cluster1x1x3", f"64x128_64x3_{GROUPED}_cluster1x1x4",
                    f"64x160_64x2_{GROUPED}_cluster1x1x8",
                    f"64x64_64x3_{GROUPED}_streamk2", f"64x128_64x2_{GROUPED}_streamk4", f"80x64_64x3_{GROUPED}_streamk3", f"128x64_64x2_{GROUPED}_streamk2",
                    f"112x64_64x3_{GROUPED}", f"16x128_64x3_{GROUPED}", f"96x192_64x2_{GROUPED}_96x64", f"48x256_64x2_{GROUPED}", f"80x64_64x2_{GROUPED}_cluster1x1x2",
                    f"64x128_64x3_{GROUPED}_64x64", f"32x128_64x2_{GROUPED}_cluster2x1", f"128x128_64x2_{GROUPED}_128x64_cluster1x2",
                    f"64x64_64x3_{SYNC}", f"128x64_32x4_{SYNC}", f"32x32_32x2_{SYNC}", f"64x16_32x3_{SYNC}", f"16x64_64x2_{SYNC}",
                    f"64x64_64x3_{WMMA}", f"128x64_32x4_{WMMA}", f"32x32_32x2_{WMMA}_16x16", f"16x256_32x2_{WMMA}_16x256",
                    f"64x64_16x2_{SCALAR}",
                    f"32x32_64x3_{SYNC}_cluster1x1x4", f"64x32_32x2_{SYNC}_16x16_cluster1x1x3", f"32x32_16x2_{SCALAR}_cluster1x1x2"]),
    ("f16", "f32", [None, f"64x64_64x3_{GROUPED}", f"256x128_64x3_{GROUPED}", f"64x256_64x2_{GROUPED}_cluster2x1", f"192x192_64x2_{GROUPED}", f"192x96_64x3_{GROUPED}_192x96", f"48x192_64x2_{GROUPED}", f"160x64_64x3_{GROUPED}", f"128x64_64x2_{GROUPED}_cluster1x1x5", f"64x64_64x2_{GROUPED}_streamk8", f"64x128_64x3_{SYNC}", f"64x128_64x3_{WMMA}"]),
    ("bf16", "f32", [None, f"64x64_64x3_{GROUPED}", f"128x96_64x3_{GROUPED}", f"64x64_64x2_{GROUPED}_cluster1x1x3", f"64x64_64x2_{GROUPED}_streamk3", f"80x128_64x2_{GROUPED}", f"64x64_64x3_{SYNC}", f"64x64_64x3_{WMMA}", f"64x32_32x2_{WMMA}_32x32"]),
    ("f32", "f32", [None, f"64x64_32x3_{GROUPED}", f"128x128_32x2_{GROUPED}", f"64x64_32x3_{GROUPED}_cluster2x2", f"64x64_32x3_{GROUPED}_cluster1x1x2", f"128x64_32x2_{GROUPED}_cluster1x1x4", f"64x64_32x3_{GROUPED}_streamk2", f"128x64_32x2_{GROUPED}_streamk4", f"192x64_32x2_{GROUPED}", f"112x64_32x2_{GROUPED}", f"64x64_32x3_{SYNC}", f"64x64_32x3_{WMMA}", f"32x64_16x4_{WMMA}", f"64x64_16x3_{SCALAR}_8x4", f"128x128_8x2_{SCALAR}", f"112x128_16x3_{SCALAR}", f"96x64_8x2_{SCALAR}_6x8", f"56x32_16x2_{SCALAR}_7x4_cluster1x1x2",
                    f"32x64_16x3_{SCALAR}_4x4_cluster1x1x5", f"64x64_32x3_{SYNC}_cluster1x1x2"]),
    ("f64", "f64", [None, f"32x32_16x2_{SCALAR}", f"48x32_16x2_{SCALAR}_3x4", f"32x32_16x2_{SCALAR}_cluster1x1x2"]),
    ("i8", "i32", [None, f"64x64_128x3_{GROUPED}", f"64x64_128x3_{GROUPED}_cluster2x1", f"64x96_128x3_{GROUPED}", f"128x64_128x2_{GROUPED}_cluster1x1x2", f"64x64_128x3_{GROUPED}_streamk2", f"112x64_128x3_{GROUPED}", f"64x64_64x3_{SYNC}", f"64x64_64x3_{WMMA}", f"32x128_128x2_{WMMA}", f"32x32_16x2_{SCALAR}_4x4", f"64x64_64x3_{SYNC}_cluster1x1x8"]),
]
# What is computed of the product: of itself, a value for each column, one for each row, and one for each element.
EPILOGUES = {
    "none": ([], "{x}"),
    "bias_relu": (["column"], "max({x} + {column}, 0)"),
    "residual": (["each", "row"], "{x} + {each} - {row}"),
}


class Case:
    def __init__(self, rng, only):
        self.type, self.result, configurations = rng.choice(KINDS)
        self.configuration = rng.choice([each for each in configurations if only in (each or "")] or configurations)
        self.turned = [rng.random() < 0.5, rng.random() < 0.5]
        shares = f"{GROUPED}_cluster" in (self.configuration or "") and "cluster1x1x" not in self.configuration
        if self.type == "f32" and (shares or f"192x64_32x2_{GROUPED}" == self.configuration):
            self.turned = [False, True]  # K is innermost: two groups hold what goes through registers, and share it with no block
        if self.type == "f32" and f"112x64_32x2_{GROUPED}" == self.configuration:
            self.turned[0] = False  # what goes through registers has whole groups of 64
        self.batch = rng.choice([0, 0, 0, 3])
        self.dynamic = self.configuration is None and not self.batch and rng.random() < 0.3
        # Whole tiles, rows that are multiples of 16 bytes, and anything.
        step = rng.choice([64, 8, 8, 1])
        self.m, self.n, self.k = (max(step, rng.randrange(8, 300) // step * step) for _ in range(3))
        self.epilogue = "none" if self.dynamic else rng.choice(list(EPILOGUES))
        self.accumulates = not self.dynamic and rng.random() < 0.25
        # (x + 1) * (y + 1): what is added up is not zero beyond K.
        self.isShifted = (self.configuration is None or SCALAR in self.configuration) and rng.random() < 0.25

    def name(self):
        layouts = "".join("n" if turned else "t" for turned in self.turned)
        return (f"{self.batch}x{self.m}x{self.n}x{self.k} {self.type} {self.result} {layouts} {self.configuration} "
                f"{self.epilogue}{' accumulates' * self.accumulates}{' shifted' * self.isShifted}{' dynamic' * self.dynamic}")

    def shapes(self):
        batch = (self.batch,) if self.batch else ()
        lhs = (self.k, self.m) if self.turned[0] else (self.m, self.k)
        rhs = (self.n, self.k) if self.turned[1] else (self.k, self.n)
        shapes = [(batch + lhs, self.type), (batch + rhs, self.type)]
        if self.accumulates:
            shapes.append((batch + (self.m, self.n), self.result))
        extra = {"column": (self.n,), "row": (self.m,), "each": batch + (self.m, self.n)}
        return shapes + [(extra[name], self.result) for name in EPILOGUES[self.epilogue][0]]

    def tensor(self, shape, element):
        return f"tensor<{'x'.join('?' if self.dynamic else str(size) for size in shape)}x{element}>"

    def program(self):
        isFloat = self.type != "i8"
        inputs = [f"%in{i}: {self.tensor(shape, element)}" for i, (shape, element) in enumerate(self.shapes())]
        batch = "b, " if self.batch else ""
        loops = f"({batch}m, n, k)"
        maps = [f"({batch}{'k, m' if self.turned[0] else 'm, k'})", f"({batch}{'n, k' if self.turned[1] else 'k, n'})", f"({batch}m, n)"]
        shape = ((self.batch,) if self.batch else ()) + (self.m, self.n)
        result = self.tensor(shape, self.result)
        lines = [f"func.func @product({', '.join(inputs)}) -> {result} {{", f"  %zero = arith.constant {'0.0' if isFloat else '0'} : {self.result}"]
        sizes = ""
        if self.dynamic:
            for name, place in (("m", 1 if self.turned[0] else 0), ("n", 0 if self.turned[1] else 1)):
                lines.append(f"  %c_{name} = arith.constant {place} : index")
                lines.append(f"  %{name} = tensor.dim %in{0 if name == 'm' else 1}, %c_{name} : {self.tensor(self.shapes()[0][0], self.type)}")
            sizes = "%m, %n"
        lines.append(f"  %empty = tensor.empty({sizes}) : {result}")
        start = "%in2"
        if not self.accumulates:
            lines.append(f"  %start = linalg.fill ins(%zero : {self.result}) outs(%empty : {result}) -> {result}")
            start = "%start"
        attribute = f', kiln.configuration = "tile_config_{self.configuration}"' if self.configuration else ""
        kinds = ", ".join(['"parallel"'] * len(shape) + ['"reduction"'])
        lhs, rhs = (self.tensor(shape_, element) for shape_, element in self.shapes()[:2])
        lines.append(f"  %product = linalg.generic {{indexing_maps = [{', '.join(f'affine_map<{loops} -> {map}>' for map in maps)}], iterator_types = [{kinds}]}}"
                     f" ins(%in0, %in1 : {lhs}, {rhs}) outs({start} : {result}) attrs = {{tag = 1{attribute}}} {{")
        lines.append(f"  ^bb0(%x: {self.type}, %y: {self.type}, %s: {self.result}):")
        wide = ""
        if self.type != self.result:
            wide = "w"
            for name in "xy":
                lines.append(f"    %{name}w = arith.{'extf' if isFloat else 'extsi'} %{name} : {self.type} to {self.result}")
        suffix = "f" if isFloat else "i"
        factors = [f"%{name}{wide}" for name in "xy"]
        if self.isShifted:
            lines.append(f"    %one = arith.constant {'1.0' if isFloat else '1'} : {self.result}")
            lines += [f"    %{name}1 = arith.add{suffix} %{name}{wide}, %one : {self.result}" for name in "xy"]
            factors = ["%x1", "%y1"]
        lines += [f"    %p = arith.mul{suffix} {factors[0]}, {factors[1]} : {self.result}", f"    %q = arith.add{suffix} %s, %p : {self.result}",
                  f"    linalg.yield %q : {self.result}", f"  }} -> {result}"]
        value = "%product"
        extras, _ = EPILOGUES[self.epilogue]
        if extras:
            first = 3 if self.accumulates else 2
            loops = f"({batch}m, n)"
            places = {"column": "(n)", "row": "(m)", "each": loops}
            epilogueMaps = [loops] + [places[name] for name in extras] + [loops]
            operands = ", ".join(["%product"] + [f"%in{first + i}" for i in range(len(extras))])
            types = ", ".join([result] + [self.tensor(*self.shapes()[first + i]) for i in range(len(extras))])
            parallel = ", ".join(['"parallel"'] * len(shape))
            lines.append(f"  %out = linalg.generic {{indexing_maps = [{', '.join(f'affine_map<{loops} -> {map}>' for map in epilogueMaps)}], "
                         f"iterator_types = [{parallel}]}} ins({operands} : {types}) outs(%empty : {result}) {{")
            arguments = ", ".join(f"%{name}: {self.result}" for name in ["x"] + extras + ["old"])
            lines.append(f"  ^bb0({arguments}):")
            if self.epilogue == "bias_relu":
                lines += [f"    %s = arith.add{suffix} %x, %column : {self.result}",
                          f"    %r = arith.{'maximumf' if isFloat else 'maxsi'} %s, %zero : {self.result}"]
            else:
                lines += [f"    %s = arith.add{suffix} %x, %each : {self.result}", f"    %r = arith.sub{suffix} %s, %row : {self.result}"]
            lines += [f"    linalg.yield %r : {self.result}", f"  }} -> {result}"]
            value = "%out"
        return "\n".join(lines + [f"  return {value} : {result}", "}", ""])

    def expected(self, inputs):
        wide = np.int64 if self.type == "i8" else np.float64
        lhs, rhs, *rest = (value.astype(wide) for value in inputs)
        lhs, rhs = lhs + self.isShifted, rhs + self.isShifted
        x = (lhs.swapaxes(-1, -2) if self.turned[0] else lhs) @ (rhs.swapaxes(-1, -2) if self.turned[1] else rhs)
        if self.accumulates:
            x = x + rest.pop(0)
        if self.epilogue == "bias_relu":
            x = np.maximum(x + rest[0], 0)
        elif self.epilogue == "residual":
            x = x + rest[0] - rest[1][:, None]
        return x

    def run(self, folder, seed, device):
        rng = np.random.default_rng(seed)
        # Sums of f16 stay below 2048, up to where all integers are there.
        most = 1 if self.result == "f16" else 4
        inputs = [rng.integers(-most, most + 1, shape).astype(NUMPY[element]) for shape, element in self.shapes()]
        arguments = []
        for i, (value, (shape, element)) in enumerate(zip(inputs, self.shapes())):
            path = os.path.join(folder, f"in{i}.{'bin' if element == 'bf16' else 'npy'}")
            if element == "bf16":  # which numpy lacks: the upper half of an f32
                (value.view(np.uint32) >> 16).astype(np.uint16).tofile(path)
                arguments.append(f"--input={'x'.join(map(str, shape))}xbf16=@{path}")
            else:
                np.save(path, value)
                arguments.append(f"--input=@{path}")
        program = os.path.join(folder, "product.mlir")
        with open(program, "w", encoding="utf-8") as file:
            file.write(self.program())
        architecture = "sm_90a" if self.configuration and (GROUPED in self.configuration or "cluster" in self.configuration) or seed % 2 else "sm_80"
        commands = [["kiln-compile", "--iree-hal-target-backends=cuda", f"--iree-hal-cuda-llvm-target-arch={architecture}", program,
                     "-o", os.path.join(folder, "product.vmfb")],
                    ["kiln-run-module", f"--device={device or f'cuda-sim://{seed}'}", f"--module={folder}/product.vmfb", "--function=product",
                     f"--output=@{folder}/out.npy"] + arguments]
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            if done.returncode:
                return (done.stdout + done.stderr)[:2000]
        found, wanted = np.load(os.path.join(folder, "out.npy")), self.expected(inputs)
        wrong = np.argwhere(found.astype(wanted.dtype) != wanted)
        return f"{len(wrong)} of {wanted.size} elements are wrong, first {wrong[:3].tolist()}" if len(wrong) else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first product, and the next one's is one more")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--device", default="", help="in place of the simulated GPU; one of sm_90 runs all cases")
    parser.add_argument("--only", default="", help="a part of the names of the configurations to take, where a type has such")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    failures = 0
    for seed in range(options.first, options.first + options.count):
        case = Case(random.Random(seed), options.only)
        if problem := case.run(options.folder, seed, options.device):
            failures += 1
            print(f"seed {seed}: {case.name()}: {problem}")
            print("again:", shlex.join([sys.executable, *sys.argv, "--first", str(seed), "--count", "1"]), flush=True)
    print(f"{options.count} products, {failures} wrong")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
