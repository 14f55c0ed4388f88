#!/usr/bin/env python3
"""Integers become the nearest narrow float: folded, on the host, on the CPU and on a simulated GPU. They are drawn
close to the middles of two floats, where a second rounding shows.

    narrow_integers.py --folder FOLDER [--seed SEED]"""

import argparse
import random
import subprocess

import numpy as np

FOLDED, SCALARS, COMPUTED = 64, 16, 4096


def nearest_bf16(x):
    magnitude, shift = abs(x), max(0, abs(x).bit_length() - 8)
    kept, rest, half = magnitude >> shift, magnitude & ((1 << shift) - 1), (1 << shift) // 2
    kept += shift > 0 and (rest > half or (rest == half and kept & 1))
    return int(np.float32(-(kept << shift) if x < 0 else kept << shift).view(np.uint32)) >> 16


def nearest_e8m0(x):
    if x == 0:
        return 0
    exponent = abs(x).bit_length() - 1
    return exponent + 127 + (2 * abs(x) >= 3 << exponent)


NEAREST = {"bf16": (nearest_bf16, np.uint16, 8), "f8E8M0FNU": (nearest_e8m0, np.uint8, 1)}


def draw(generator, bits, signed, mantissa, count):
    lowest, highest = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    numbers = [lowest, highest, 0, 1, (1 << 53) + 1, (1 << 54) - 1, 282037926664077313, 1679842661009195009]
    while len(numbers) < count:
        shift = generator.randrange(1, bits - mantissa)
        odd = 2 * generator.randrange(1 << mantissa - 1, 1 << mantissa) + 1
        near = (odd << shift - 1) + generator.choice((-1, 0, 1)) * generator.choice((0, 1, 1 << generator.randrange(shift)))
        numbers.append(-near if signed and generator.random() < 0.5 else near)
    return [x if lowest <= x <= highest else 0 for x in numbers[:count]]


def functions(name, to, bits, convert, numbers):
    folded = ", ".join(str(x) for x in numbers[:FOLDED])
    arguments = ", ".join(f"%a{i}: i{bits}" for i in range(SCALARS))
    scalars = "".join(f"  %b{i} = arith.{convert} %a{i} : i{bits} to {to}\n" for i in range(SCALARS))
    results = ", ".join(f"%b{i}" for i in range(SCALARS))
    return f"""
func.func @{name}_folded() -> tensor<{FOLDED}x{to}> {{
  %x = arith.constant dense<[{folded}]> : tensor<{FOLDED}xi{bits}>
  %y = arith.{convert} %x : tensor<{FOLDED}xi{bits}> to tensor<{FOLDED}x{to}>
  return %y : tensor<{FOLDED}x{to}>
}}
func.func @{name}_computed(%x: tensor<{COMPUTED}xi{bits}>) -> tensor<{COMPUTED}x{to}> {{
  %y = arith.{convert} %x : tensor<{COMPUTED}xi{bits}> to tensor<{COMPUTED}x{to}>
  return %y : tensor<{COMPUTED}x{to}>
}}
func.func @{name}_scalars({arguments}) -> tensor<{SCALARS}x{to}> {{
{scalars}  %y = tensor.from_elements {results} : tensor<{SCALARS}x{to}>
  return %y : tensor<{SCALARS}x{to}>
}}
"""


def call(module, folder, function, device, inputs, kind):
    subprocess.run(["kiln-run-module", f"--device={device}", f"--module={module}", f"--function={function}",
                    *[f"--input={each}" for each in inputs], f"--output=@{folder}/result.bin"], check=True)
    return np.fromfile(f"{folder}/result.bin", kind)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    subprocess.run(["mkdir", "-p", options.folder], check=True)
    generator = random.Random(options.seed)
    cases = []
    for to, (_, _, mantissa) in NEAREST.items():
        for bits in (32, 64):
            for convert in ("sitofp", "uitofp"):
                numbers = draw(generator, bits, convert == "sitofp", mantissa, COMPUTED)
                cases.append((f"{convert}_{to.lower()}_i{bits}", to, bits, convert, numbers))
    with open(f"{options.folder}/program.mlir", "w", encoding="utf-8") as file:
        file.write("".join(functions(*case) for case in cases))
    wrong = 0
    for target, device in (("llvm-cpu", "local-sync"), ("cuda", "cuda-sim")):
        module = f"{options.folder}/{target}.vmfb"
        subprocess.run(["kiln-compile", f"--iree-hal-target-backends={target}", f"{options.folder}/program.mlir", "-o",
                        module], check=True)
        for name, to, bits, convert, numbers in cases:
            nearest, kind, _ = NEAREST[to]
            np.array([x % (1 << bits) for x in numbers], f"uint{bits}").tofile(f"{options.folder}/x.bin")
            signed = [x - (1 << bits) if x >> bits - 1 > 0 else x for x in numbers]
            inputs = {"folded": [], "computed": [f"{COMPUTED}xi{bits}=@{options.folder}/x.bin"],
                      "scalars": [str(x) for x in signed[:SCALARS]]}
            for way, given in inputs.items():
                got = call(module, options.folder, f"{name}_{way}", device, given, kind)
                failed = [(x, hex(g), hex(nearest(x))) for x, g in zip(numbers, got.tolist()) if g != nearest(x)]
                wrong += len(failed)
                for x, result, expected in failed[:3]:
                    print(f"{target}, {name}, {way}: {x} is {result}, and should be {expected}")
    print(f"{wrong} numbers are wrong, drawn with --seed {options.seed}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
