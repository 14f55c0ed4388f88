#!/usr/bin/env python3
"""Elementwise operations, transposes, reductions, softmax, normalization and products with a vector on a simulated GPU, in
shapes that take each of the ways in which threads share them, against numpy.

    memory_bound.py --folder FOLDER [--seeds 0,7] [--only PART]"""

import argparse
import os
import subprocess
import sys

import numpy as np

DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i32": np.int32, "i64": np.int64}
TOLERANCE = {"f16": 4e-3, "f32": 2e-5, "f64": 1e-12}
LOOPS = "ijklm"


def tensor(shape, dtype):
    return "tensor<" + "".join(f"{size}x" for size in shape) + dtype + ">"


def affine(rank, dims):
    return f"affine_map<({', '.join(LOOPS[:rank])}) -> ({', '.join(LOOPS[d] for d in dims)})>"


def neutral(dtype, kind):
    if dtype[0] == "f":
        return "0.0" if kind == "add" else "0xFC00" if dtype == "f16" else "0xFF800000" if dtype == "f32" else "0xFFF0000000000000"
    return "0" if kind == "add" else str(np.iinfo(DTYPES[dtype]).min)


class Case:
    """A function with its inputs and what it gives."""

    def __init__(self, name, inputs, body, expected, dtype):
        self.name, self.inputs, self.expected, self.dtype = name, inputs, np.asarray(expected), dtype
        self.function = name
        arguments = ", ".join(f"%in{i}: {tensor(array.shape, kind)}" for i, (array, kind) in enumerate(inputs))
        result = tensor(self.expected.shape, dtype)
        self.text = f"func.func @{name}({arguments}) -> {result} {{\n{body}\n  return %out : {result}\n}}\n"


class DynamicCase:
    """A function of memory-bound-dynamic.mlir, called with some shape."""

    def __init__(self, function, shape, compute):
        self.name, self.function = f"{function}_{'x'.join(map(str, shape))}", function
        x = random(shape, "f32")
        self.inputs, self.expected, self.dtype = [(x, "f32")], compute(wide(x)), "f32"


def random(shape, dtype, number=0):
    generator = np.random.default_rng(sum(shape) + number)
    if dtype[0] == "i":
        return generator.integers(-50, 50, shape).astype(DTYPES[dtype])
    return generator.standard_normal(shape).astype(DTYPES[dtype])


def wide(array):
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def fused(shape, dtype):
    """x * y + exp(z)."""
    arrays = [random(shape, dtype, i) for i in range(3)]
    kind = tensor(shape, dtype)
    body = f"  %e = math.exp %in2 : {kind}\n  %p = arith.mulf %in0, %in1 : {kind}\n  %out = arith.addf %p, %e : {kind}"
    return Case(f"fused_{'x'.join(map(str, shape))}_{dtype}", [(array, dtype) for array in arrays], body,
                wide(arrays[0]) * wide(arrays[1]) + np.exp(wide(arrays[2])), dtype)


def mapped(name, shape, operands, dtype, expected):
    """The sum of operands that are (array, dims): each has these dimensions of the result, in this order."""
    rank = len(shape)
    maps = [affine(rank, dims) for _, dims in operands] + [affine(rank, range(rank))]
    add = "arith.addf" if dtype[0] == "f" else "arith.addi"
    lines = [f"  %empty = tensor.empty() : {tensor(shape, dtype)}"]
    names = [f"%in{i}" for i in range(len(operands))]
    types = ", ".join(tensor(array.shape, dtype) for array, _ in operands)
    loops = ", ".join(['"parallel"'] * rank)
    lines.append(f"  %out = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{loops}]}}"
                 f" ins({', '.join(names)} : {types}) outs(%empty : {tensor(shape, dtype)}) {{")
    lines.append("  ^bb0(" + ", ".join(f"%a{i}: {dtype}" for i in range(len(operands))) + f", %o: {dtype}):")
    lines.append(f"    %s0 = {add} %a0, %a0 : {dtype}")
    lines += [f"    %s{i} = {add} %s{i - 1}, %a{i} : {dtype}" for i in range(1, len(operands))]
    lines.append(f"    linalg.yield %s{len(operands) - 1} : {dtype}\n  }} -> {tensor(shape, dtype)}")
    return Case(name, [(array, dtype) for array, _ in operands], "\n".join(lines), expected, dtype)


def broadcast(shape, dtype):
    x, row, column = random(shape, dtype), random(shape[-1:], dtype, 1), random(shape[:1], dtype, 2)
    return mapped(f"broadcast_{'x'.join(map(str, shape))}_{dtype}", shape, [(x, (0, 1)), (row, (1,)), (column, (0,))], dtype,
                  2 * wide(x) + wide(row) + wide(column)[:, None])


def transposed(shape, order, dtype):
    """Twice x in another order, and something that stays in its own."""
    x = random(shape, dtype)
    target = tuple(shape[axis] for axis in order)
    other = random(target, dtype, 1)
    dims = tuple(order.index(axis) for axis in range(len(shape)))
    return mapped(f"transposed_{'x'.join(map(str, shape))}_{''.join(map(str, order))}_{dtype}", target,
                  [(x, dims), (other, tuple(range(len(shape))))], dtype, 2 * wide(x).transpose(order) + wide(other))


def reduced(shape, dims, dtype, kind="add"):
    x = random(shape, dtype)
    left = tuple(size for axis, size in enumerate(shape) if axis not in dims)
    op = {"add": "arith.addf" if dtype[0] == "f" else "arith.addi", "max": "arith.maximumf" if dtype[0] == "f" else "arith.maxsi"}[kind]
    body = (f"  %start = arith.constant {neutral(dtype, kind)} : {dtype}\n  %empty = tensor.empty() : {tensor(left, dtype)}\n"
            f"  %fill = linalg.fill ins(%start : {dtype}) outs(%empty : {tensor(left, dtype)}) -> {tensor(left, dtype)}\n"
            f"  %out = linalg.reduce {{ {op} }} ins(%in0 : {tensor(shape, dtype)}) outs(%fill : {tensor(left, dtype)})"
            f" dimensions = {list(dims)}")
    expected = wide(x).sum(axis=dims) if kind == "add" else wide(x).max(axis=dims)
    return Case(f"{kind}_{'x'.join(map(str, shape))}_{''.join(map(str, dims))}_{dtype}", [(x, dtype)], body, expected, dtype)


def accumulated(rows, length):
    """x less the sums of its rows, which are added to given ones."""
    x, start = random((rows, length), "f32"), random((rows,), "f32", 1)
    whole, row = tensor((rows, length), "f32"), tensor((rows,), "f32")
    body = (f"  %twice = arith.addf %in1, %in1 : {row}\n"
            f"  %sums = linalg.reduce {{ arith.addf }} ins(%in0 : {whole}) outs(%twice : {row}) dimensions = [1]\n"
            f"  %empty = tensor.empty() : {whole}\n"
            f"  %out = linalg.generic {{indexing_maps = [{affine(2, (0, 1))}, {affine(2, (0,))}, {affine(2, (0, 1))}],"
            f" iterator_types = [\"parallel\", \"parallel\"]}} ins(%in0, %sums : {whole}, {row}) outs(%empty : {whole}) {{\n"
            f"  ^bb0(%a: f32, %s: f32, %o: f32):\n    %d = arith.subf %a, %s : f32\n    linalg.yield %d : f32\n  }} -> {whole}")
    expected = wide(x) - (2 * wide(start) + wide(x).sum(axis=1))[:, None]
    return Case(f"accumulated_{rows}x{length}", [(x, "f32"), (start, "f32")], body, expected, "f32")


def softmax_of(x):
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def softmax(shape, dtype):
    x = random(shape, dtype)
    kind = tensor(shape, dtype)
    body = (f"  %empty = tensor.empty() : {kind}\n"
            f"  %out = linalg.softmax dimension({len(shape) - 1}) ins(%in0 : {kind}) outs(%empty : {kind}) -> {kind}")
    return Case(f"softmax_{'x'.join(map(str, shape))}_{dtype}", [(x, dtype)], body, softmax_of(wide(x)), dtype)


def norm(rows, length, dtype):
    """(x - mean) / deviation * scale."""
    x, scale = random((rows, length), dtype), random((length,), dtype, 1)
    whole, row, column = tensor((rows, length), dtype), tensor((rows,), "f32"), tensor((length,), dtype)
    maps = [affine(2, (0, 1)), affine(2, (0,)), affine(2, (0,)), affine(2, (1,)), affine(2, (0, 1))]
    widen = f"%x = arith.extf %a : {dtype} to f32" if dtype == "f16" else "%nought = arith.constant 0.0 : f32\n    %x = arith.addf %a, %nought : f32"
    narrow = f"%r = arith.truncf %scaled : f32 to {dtype}" if dtype == "f16" else "%r = arith.addf %scaled, %nought : f32"
    scalar = f"%g = arith.extf %s : {dtype} to f32" if dtype == "f16" else "%g = arith.addf %s, %nought : f32"
    mean = f"%n = arith.constant {length}.0 : f32\n    %mean = arith.divf %sum, %n : f32\n    %d = arith.subf %x, %mean : f32"
    body = f"""  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : {row}
  %fill = linalg.fill ins(%zero : f32) outs(%empty : {row}) -> {row}
  %sums = linalg.generic {{indexing_maps = [{maps[0]}, {maps[1]}], iterator_types = ["parallel", "reduction"]}}
      ins(%in0 : {whole}) outs(%fill : {row}) {{
  ^bb0(%a: {dtype}, %before: f32):
    {widen}
    %next = arith.addf %x, %before : f32
    linalg.yield %next : f32
  }} -> {row}
  %squares = linalg.generic {{indexing_maps = [{', '.join(maps[:3])}], iterator_types = ["parallel", "reduction"]}}
      ins(%in0, %sums : {whole}, {row}) outs(%fill : {row}) {{
  ^bb0(%a: {dtype}, %sum: f32, %before: f32):
    {widen}
    {mean}
    %square = arith.mulf %d, %d : f32
    %next = arith.addf %square, %before : f32
    linalg.yield %next : f32
  }} -> {row}
  %target = tensor.empty() : {whole}
  %out = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = ["parallel", "parallel"]}}
      ins(%in0, %sums, %squares, %in1 : {whole}, {row}, {row}, {column}) outs(%target : {whole}) {{
  ^bb0(%a: {dtype}, %sum: f32, %q: f32, %s: {dtype}, %o: {dtype}):
    {widen}
    {mean}
    %variance = arith.divf %q, %n : f32
    %root = math.rsqrt %variance : f32
    {scalar}
    %normal = arith.mulf %d, %root : f32
    %scaled = arith.mulf %normal, %g : f32
    {narrow}
    linalg.yield %r : {dtype}
  }} -> {whole}"""
    centred = wide(x) - wide(x).mean(axis=1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True)) * wide(scale)
    return Case(f"norm_{rows}x{length}_{dtype}", [(x, dtype), (scale, dtype)], body, expected, dtype)


def product(op, shapes, dtype, expected):
    """A named operation on two inputs, summed up in f32."""
    arrays = [random(shape, dtype, i) for i, shape in enumerate(shapes)]
    result = wide(expected(*[wide(array) for array in arrays]))
    total = tensor(result.shape, "f32")
    kinds = ", ".join(tensor(shape, dtype) for shape in shapes)
    body = (f"  %zero = arith.constant 0.0 : f32\n  %empty = tensor.empty() : {total}\n"
            f"  %fill = linalg.fill ins(%zero : f32) outs(%empty : {total}) -> {total}\n"
            f"  %out = linalg.{op} ins(%in0, %in1 : {kinds}) outs(%fill : {total}) -> {total}")
    name = "_".join([op, *("x".join(map(str, shape)) for shape in shapes), dtype])
    return Case(name, [(array, dtype) for array in arrays], body, result, "f32")


def cases():
    for shape in ((5000,), (4099,), (3,), (2, 3, 1000)):
        yield fused(shape, "f32")
    yield fused((8192,), "f16")
    yield fused((1030,), "f64")
    for dtype in ("f32", "f16", "i8"):
        yield broadcast((37, 300), dtype)
    yield broadcast((9, 5000), "f32")
    for shape in ((64, 64), (128, 192), (70, 130), (100, 3)):
        yield transposed(shape, (1, 0), "f32")
    for dtype in ("f16", "i8", "i64"):
        yield transposed((128, 64), (1, 0), dtype)
    yield transposed((2, 6, 20, 16), (0, 2, 3, 1), "f32")
    yield transposed((6, 20, 16), (2, 1, 0), "f32")
    for shape in ((5, 7), (3, 33), (40, 128), (4, 1000), (3, 4096), (2, 40000), (1, 3000)):
        yield reduced(shape, (1,), "f32")
    yield reduced((6, 2048), (1,), "f16")
    yield reduced((3, 130), (1,), "f64")
    yield reduced((7, 2000), (1,), "i64", "max")
    yield reduced((9, 100), (1,), "i8", "max")
    yield reduced((2, 3, 4, 50), (2, 3), "f32")
    yield reduced((5000,), (0,), "f32")
    for shape in ((300, 64), (64, 7), (1, 64), (2000, 32), (100, 200)):
        yield reduced(shape, (0,), "f32")
    yield reduced((1000, 40), (0,), "f16")
    # These are done in parts.
    yield reduced((49152,), (0,), "f32")
    yield reduced((4096, 16), (0,), "f32")
    yield reduced((3, 65536), (1,), "i32", "max")
    yield reduced((50, 300), (0,), "i32", "max")
    yield reduced((33, 4, 16), (1,), "f32")
    yield reduced((6, 16, 5, 32), (1, 2), "f32")
    for shape in ((7, 1000), (3, 33), (2, 5, 8), (2, 20000)):
        yield softmax(shape, "f32")
    yield softmax((5, 4096), "f16")
    yield accumulated(9, 200)
    yield accumulated(4, 3000)
    yield norm(9, 1024, "f16")
    yield norm(3, 3000, "f32")
    # Rows that are longer than what threads keep.
    yield softmax((3, 40000), "f16")
    yield norm(2, 20000, "f32")
    yield accumulated(2, 17001)
    yield product("matmul", [(1, 256), (256, 128)], "f16", np.matmul)
    yield product("matmul", [(1, 100), (100, 33)], "f32", np.matmul)
    yield product("matmul", [(40, 256), (256, 1)], "f16", np.matmul)
    yield product("matvec", [(64, 300), (300,)], "f32", np.matmul)
    yield product("vecmat", [(300,), (300, 64)], "f16", np.matmul)
    yield product("batch_matvec", [(3, 20, 96), (3, 96)], "f16", lambda a, b: np.einsum("bmk,bk->bm", a, b))
    yield product("batch_vecmat", [(3, 96), (3, 96, 64)], "f16", lambda a, b: np.einsum("bk,bkn->bn", a, b))


def dynamic_cases():
    yield DynamicCase("dynamic_softmax", (5, 1000), softmax_of)
    for rows in (13, 0):
        yield DynamicCase("dynamic_rows", (rows, 100), lambda x: x.sum(axis=1))
    for length in (1000, 77, 0):
        yield DynamicCase("dynamic_column_length", (length, 64), lambda x: x.sum(axis=0))
    for columns in (100, 64):
        yield DynamicCase("dynamic_columns", (64, columns), lambda x: x.sum(axis=0))
    for length in (5000, 2048, 3, 0):
        yield DynamicCase("dynamic_flat", (length,), np.exp)
    for shape in ((64, 128), (70, 130)):
        yield DynamicCase("dynamic_transpose", shape, np.transpose)


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300)
    return "" if done.returncode == 0 else f"exit code {done.returncode}: {done.stderr.strip()[:1500]}"


def difference(case, path):
    got = np.load(path)
    if got.shape != case.expected.shape:
        return f"has the shape {got.shape}, not {case.expected.shape}"
    tolerance = max(TOLERANCE.get(kind, 0) for kind in [case.dtype] + [kind for _, kind in case.inputs])
    error = np.abs(wide(got) - case.expected.astype(wide(got).dtype))
    most = tolerance * max(1, float(np.max(np.abs(case.expected), initial=0)))
    if np.all(error <= most):
        return ""
    place = tuple(int(index) for index in np.argwhere(~(error <= most))[0])
    return f"has {got[place]} at {place}, not {case.expected[place]}; {np.sum(~(error <= most))} of {got.size} elements are wrong"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    chosen = [case for case in cases() if options.only in case.name]
    dynamic = [case for case in dynamic_cases() if options.only in case.name]
    source, module = f"{options.folder}/all.mlir", f"{options.folder}/all.vmfb"
    with open(source, "w", encoding="utf-8") as file, open(f"{os.path.dirname(__file__)}/memory-bound-dynamic.mlir") as more:
        file.write("".join(case.text for case in chosen) + more.read())
    chosen += dynamic
    if failure := run(["kiln-compile", "--iree-hal-target-backends=cuda", source, "-o", module]):
        sys.exit(failure)
    wrong = 0
    for case in chosen:
        inputs = []
        for i, (array, _) in enumerate(case.inputs):
            np.save(f"{options.folder}/{case.name}.{i}.npy", array)
            inputs.append(f"--input=@{options.folder}/{case.name}.{i}.npy")
        output = f"{options.folder}/{case.name}.npy"
        for seed in options.seeds.split(","):
            failure = run(["kiln-run-module", f"--device=cuda-sim://{seed}", f"--module={module}", f"--function={case.function}", *inputs,
                           f"--output=@{output}"]) or difference(case, output)
            if failure:
                print(f"{case.name} with seed {seed}: {failure}", flush=True)
                wrong += 1
                break
    print(f"{len(chosen) - wrong} of {len(chosen)} programs are right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
