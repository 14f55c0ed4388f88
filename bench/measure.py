"""Measuring with a build's own tools: what bench/run and bench/demo share."""

import array
import json
import math
import os
import random
import subprocess

REPO = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


class Failed(Exception):
    """A command that should have worked did not; the message holds the command and what it said."""


class Build:
    """The programs of one build folder."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)

    def program(self, name):
        for folder in ("bin", "bench", "test"):
            path = os.path.join(self.folder, folder, name)
            if os.access(path, os.X_OK):
                return path
        raise Failed(f"{name} is not in {self.folder}: run 'make build' first")

    def run(self, name, *arguments, allowed=(0,)):
        """Runs a program that ends with one of the allowed exit codes; returns its standard output."""
        command = [self.program(name), *arguments]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        if done.returncode not in allowed:
            said = (done.stderr + done.stdout).strip().splitlines()[-12:]
            raise Failed("\n".join([f"exit code {done.returncode} of: {' '.join(command)}", *said]))
        return done.stdout

    def compile(self, source, module, *flags):
        self.run("kiln-compile", "--iree-hal-target-backends=llvm-cpu", *flags, source, "-o", module)

    def launch(self, runs, name, *arguments):
        """Wall seconds and peak bytes of each of `runs` runs of a program."""
        lines = self.run("launch", str(runs), self.program(name), *arguments).splitlines()
        samples = [line.split() for line in lines]
        return [int(wall) / 1e9 for wall, _ in samples], [int(kib) * 1024 for _, kib in samples]

    def benchmark(self, module, function, inputs, device, repetitions, min_time):
        """Seconds per call, one sample for each repetition. A device is its flags, as LOCAL_SYNC or local_task(2)."""
        text = self.run("kiln-benchmark-module", f"--module={module}", f"--function={function}", *device,
                        *[f"--input={value}" for value in inputs], "--benchmark_format=json",
                        f"--benchmark_repetitions={repetitions}", f"--benchmark_min_time={min_time}")
        rows = [row for row in json.loads(text)["benchmarks"] if row["run_type"] == "iteration"]
        if not rows or any(row.get("error_occurred") for row in rows):
            raise Failed(f"kiln-benchmark-module measured nothing for {function}: {text}")
        return [row["real_time"] * NANOSECONDS[row["time_unit"]] / 1e9 for row in rows]

    def fma_peak(self, threads, seconds):
        """The machine's f32 FMA rate in FLOP/s, and the instruction set that reached it."""
        name, _, gflops = self.run("fma_peak", str(threads), str(seconds)).split()
        return float(gflops) * 1e9, name


LOCAL_SYNC = ["--device=local-sync"]


def local_task(workers):
    return ["--device=local-task", f"--task_topology_group_count={workers}"]


def cpus():
    return len(os.sched_getaffinity(0))


def products(count):
    """The text of a program that is a chain of so many products, no two of the same shape: each pair of extents is an edge
    of a random walk that uses no edge twice."""
    generator = random.Random(1)
    extents = max(32, math.isqrt(count - 1) + 1)
    left, stack, walk = [generator.sample(range(extents), extents) for _ in range(extents)], [0], []
    while stack:
        if left[stack[-1]]:
            stack.append(left[stack[-1]].pop())
        else:
            walk.append(8 + stack.pop())
    walk = walk[:count + 1]
    sides = [f"%b{i}: tensor<{k}x{n}xf32>" for i, (k, n) in enumerate(zip(walk, walk[1:]))]
    lines = [f"func.func @products(%x0: tensor<8x{walk[0]}xf32>, {', '.join(sides)}) -> tensor<8x{walk[-1]}xf32> {{",
             "  %zero = arith.constant 0.0 : f32"]
    for i, (k, n) in enumerate(zip(walk, walk[1:])):
        lines += [f"  %e{i} = tensor.empty() : tensor<8x{n}xf32>",
                  f"  %z{i} = linalg.fill ins(%zero : f32) outs(%e{i} : tensor<8x{n}xf32>) -> tensor<8x{n}xf32>",
                  f"  %x{i + 1} = linalg.matmul ins(%x{i}, %b{i} : tensor<8x{k}xf32>, tensor<{k}x{n}xf32>) "
                  f"outs(%z{i} : tensor<8x{n}xf32>) -> tensor<8x{n}xf32>"]
    return "\n".join([*lines, f"  return %x{count} : tensor<8x{walk[-1]}xf32>", "}", ""])


def whole_numbers(count, seed):
    """Random whole numbers from -8 to 8: products and sums of a few thousand of them are exact in f32."""
    generator = random.Random(seed)
    return [generator.randint(-8, 8) for _ in range(count)]


def write_f32(path, values):
    with open(path, "wb") as file:
        array.array("f", values).tofile(file)


def read_f32(path, count):
    values = array.array("f")
    with open(path, "rb") as file:
        values.frombytes(file.read())
    if len(values) != count:
        raise Failed(f"{path} holds {len(values)} numbers; {count} were expected")
    return values


def is_product(a, b, c, n):
    """Whether c = a b for n x n matrices of whole numbers, by Freivalds' check: c x = a (b x) for two random vectors x.
    A wrong c passes with a probability of about one in 10^18."""

    def times(matrix, vector):
        return [sum(map(int.__mul__, matrix[i * n:(i + 1) * n], vector)) for i in range(n)]

    if any(value != int(value) for value in c):
        return False
    c = [int(value) for value in c]
    generator = random.SystemRandom()
    vectors = [[generator.randint(0, 10**9) for _ in range(n)] for _ in range(2)]
    return all(times(c, x) == times(a, times(b, x)) for x in vectors)
