#!/usr/bin/env python3
"""Exponentials of all numbers of f16 and bf16, and quotients of f16 with all special ones among them, on a simulated GPU: quotients
are the nearest f16, exponentials within 0.51 ULP.

    narrow_functions.py --folder FOLDER"""

import argparse
import subprocess

import numpy as np

PROGRAM = """
func.func @exp_f16(%x: tensor<65536xf16>) -> tensor<65536xf16> {
  %y = math.exp %x : tensor<65536xf16>
  return %y : tensor<65536xf16>
}
func.func @exp_bf16(%x: tensor<65536xbf16>) -> tensor<65536xbf16> {
  %y = math.exp %x : tensor<65536xbf16>
  return %y : tensor<65536xbf16>
}
func.func @div(%x: tensor<131072xf16>, %y: tensor<131072xf16>) -> tensor<131072xf16> {
  %z = arith.divf %x, %y : tensor<131072xf16>
  return %z : tensor<131072xf16>
}
"""


def run(*command):
    subprocess.run(command, check=True)


def call(folder, function, result, *inputs):
    run("kiln-run-module", "--device=cuda-sim", f"--module={folder}/module.vmfb", f"--function={function}",
        *[f"--input={each}" for each in inputs], f"--output=@{folder}/{result}")


def differ(name, got, expected, allowed):
    """Counts of f16 or of what is rounded to bf16: neither NaN nor a number further off than `allowed`."""
    wrong = ~((np.isnan(got) & np.isnan(expected)) | (got == expected) | (np.abs(got - expected) <= allowed))
    wrong |= (got == 0) & (expected == 0) & (np.signbit(got) != np.signbit(expected))
    for place in np.flatnonzero(wrong)[:5]:
        print(f"{name}: {got[place]} at {place}, not {expected[place]}")
    return int(wrong.sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", required=True)
    folder = parser.parse_args().folder
    run("mkdir", "-p", folder)
    with open(f"{folder}/program.mlir", "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    run("kiln-compile", "--iree-hal-target-backends=cuda", f"{folder}/program.mlir", "-o", f"{folder}/module.vmfb")
    bits = np.arange(65536, dtype=np.uint16)
    wrong = 0
    with np.errstate(all="ignore"):
        halves = bits.view(np.float16)
        np.save(f"{folder}/x.npy", halves)
        call(folder, "exp_f16", "y.npy", f"@{folder}/x.npy")
        got, exact = np.load(f"{folder}/y.npy"), np.exp(halves.astype(np.float64))
        unit = np.spacing(np.minimum(exact, 65504).astype(np.float16)).astype(np.float64)
        wrong += differ("exp of f16", got.astype(np.float64), np.where(exact >= 65520, np.inf, exact), 0.51 * unit)

        bits.tofile(f"{folder}/x.bin")
        call(folder, "exp_bf16", "y.bin", f"65536xbf16=@{folder}/x.bin")
        got = (np.fromfile(f"{folder}/y.bin", np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        exact = np.exp((bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64))
        unit = 2.0 ** (np.maximum(np.floor(np.log2(np.clip(exact, 1e-300, 1e300))), -126) - 7)
        largest = 2.0**128 - 2.0**119  # what is as large as this is rounded to infinity
        wrong += differ("exp of bf16", got, np.where(exact >= largest, np.inf, exact), 0.51 * unit)

        generator = np.random.default_rng(0)
        x, y = (generator.integers(0, 65536, 131072).astype(np.uint16).view(np.float16) for _ in range(2))
        special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 6e-8, 65504], np.float16)
        x[:81], y[:81] = np.repeat(special, 9), np.tile(special, 9)
        np.save(f"{folder}/x.npy", x)
        np.save(f"{folder}/y.npy", y)
        call(folder, "div", "z.npy", f"@{folder}/x.npy", f"@{folder}/y.npy")
        exact = (x.astype(np.float32) / y.astype(np.float32)).astype(np.float16)
        wrong += differ("quotients of f16", np.load(f"{folder}/z.npy").astype(np.float64), exact.astype(np.float64), 0)
    print(f"{wrong} numbers are wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
