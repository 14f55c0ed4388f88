#!/usr/bin/env python3
"""Functions that the cuda backend computes in f64: prints a program of them, or holds its results against numpy.

    wide_functions.py program COUNT
    wide_functions.py check COUNT FOLDER [FLAG...]      with module.vmfb; flags of kiln-run-module"""

import math
import subprocess
import sys

import numpy as np

# Function -> how many operands, and how many units in the last place it may be off.
F32 = {**{name: (1, 0.51) for name in ("sin", "cos", "tan", "atan", "asin", "acos", "sinh", "cosh", "asinh", "acosh",
                                       "atanh", "cbrt")}, "atan2": (2, 0.51), "powf": (2, 0.51)}
F64 = {"exp": (1, 1), "exp2": (1, 1), "expm1": (1, 4), "log": (1, 4), "log2": (1, 4), "log10": (1, 4), "log1p": (1, 4),
       "tanh": (1, 4), **{name: (1, 4) for name in ("tan", "atan", "asin", "acos", "sinh", "cosh", "asinh", "acosh", "atanh")},
       "sin": (1, 1), "cos": (1, 1), "cbrt": (1, 0.51), "erf": (1, 1), "atan2": (2, 4), "powf": (2, 1)}


def erf(x):
    """The error function in longdouble, within 0.01 ULP of f64: a Taylor series below 2, and 1 - erfc(x) beyond."""
    small = np.where(np.abs(x) < 2, x, 0)
    sum_, power = np.zeros_like(x), 2 / np.sqrt(np.arccos(np.longdouble(-1))) * small
    for n in range(45):
        sum_ += power / (2 * n + 1)
        power *= -small * small / (n + 1)
    large = 1 - np.array([math.erfc(abs(value)) for value in x]).astype(x.dtype)
    return np.where(np.isnan(x) | (np.abs(x) >= 2), np.copysign(large, x), np.copysign(sum_, x))


REFERENCES = {"atan": np.arctan, "asin": np.arcsin, "acos": np.arccos, "asinh": np.arcsinh, "acosh": np.arccosh,
              "atanh": np.arctanh, "atan2": np.arctan2, "erf": erf, "powf": np.power}
SPECIAL = [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 0.5, -0.5, 2, -2, 3, -3, 8, 1e-40, -1e-40, 3.4e38, 1e30, 16777216,
           16777218, 8388608, 1.5707964, 3.1415927, 3141592.6, 709.7, -744.9, 710, 1023.5, -1075, 1e-17,
           5e-324, 6381956970095103.0 * 2.0 ** 797]  # The last is nearer to a multiple of pi / 2 than any other f64.


def program(count):
    for element, functions in (("f32", F32), ("f64", F64)):
        tensor = f"tensor<{count}x{element}>"
        for name, (operands, _) in functions.items():
            arguments = ", ".join(f"%x{i}: {tensor}" for i in range(operands))
            values = ", ".join(f"%x{i}" for i in range(operands))
            print(f"func.func @{name}_{element}({arguments}) -> {tensor} {{\n"
                  f"  %r = math.{name} {values} : {tensor}\n  return %r : {tensor}\n}}")


def inputs(element, count):
    """Ordinary numbers of several sizes, any bits, and each special value with each other."""
    generator = np.random.default_rng(5)
    dtype, bits = (np.float32, np.uint32) if element == "f32" else (np.float64, np.uint64)
    x = generator.integers(0, np.iinfo(bits).max, count, dtype=bits, endpoint=True).view(dtype).copy()
    half = count // 2
    x[:half] = generator.standard_normal(half) * generator.choice([1e-8, 0.01, 1, 10, 300], half)
    y = np.roll(x, count // 5)
    y[half:half + count // 7] = generator.integers(-9, 10, count // 7)
    grid = np.array(np.meshgrid(SPECIAL, SPECIAL)).reshape(2, -1)
    x[:grid.shape[1]], y[:grid.shape[1]] = grid
    return x, y


def check(elements, folder, flags):
    """Prints what is wrong, and says whether anything is."""
    wrong = False
    for element, functions, wide in (("f32", F32, np.float64), ("f64", F64, np.longdouble)):
        operands = inputs(element, elements)
        for i, values in enumerate(operands):
            np.save(f"{folder}/{element}{i}.npy", values)
        for name, (count, bound) in functions.items():
            arguments = [f"--input=@{folder}/{element}{i}.npy" for i in range(count)]
            subprocess.run(["kiln-run-module", f"--module={folder}/module.vmfb", f"--function={name}_{element}", *flags,
                            *arguments, f"--output=@{folder}/out.npy"], check=True)
            got = np.load(f"{folder}/out.npy")
            function = REFERENCES.get(name) or getattr(np, name)
            exact = function(*(values.astype(wide) for values in operands[:count]))
            rounded = exact.astype(got.dtype)
            usual = np.isfinite(rounded) & np.isfinite(got) & (rounded != 0)
            same = (np.isnan(rounded) & np.isnan(got)) | ((rounded == got) & (np.signbit(rounded) == np.signbit(got)))
            for place in np.argwhere(~usual & ~same)[:3, 0]:
                print(f"{name} of {[values[place] for values in operands[:count]]} is {got[place]}, not {rounded[place]}")
                wrong = True
            distance = np.abs(got[usual].astype(wide) - exact[usual]) / np.spacing(np.abs(rounded[usual])).astype(wide)
            worst = int(np.argmax(distance))
            print(f"{name}_{element}: {float(distance[worst]):.3f} ULP, at {operands[0][usual][worst]!r}")
            if distance[worst] > bound:
                print(f"{name}_{element} is further off than {bound} ULP")
                wrong = True
    return wrong


if __name__ == "__main__":
    np.seterr(all="ignore")
    count = int(sys.argv[2])
    sys.exit(program(count) if sys.argv[1] == "program" else int(check(count, sys.argv[3], sys.argv[4:])))
