#!/usr/bin/env python3
"""Talks to a worker as the lab does, about small problems of every family, and says of each whether the result is
right. NumPy computes what is expected, in f64. On a device, the results of timed calls are looked at, too, and --spans prints
what its clock said of them.

    drive_families.py [--device cuda://0 [--spans]] [--threads N] [--only REGEX] [--one-worker] -- COMMAND..."""

import argparse
import itertools
import json
import math
import os
import re
import subprocess
import tempfile

import numpy

SETS = 3
random = numpy.random.default_rng(17)


def to_bf16(values):
    return (values.astype(numpy.float32).view(numpy.uint32) >> 16).astype(numpy.uint16)  # small integers lose nothing


def from_bf16(values):
    return (values.astype(numpy.uint32) << 16).view(numpy.float32)


TYPES = {"f64": "f8", "f32": "f4", "f16": "f2", "bf16": "u2", "i8": "i1", "ui8": "u1", "i32": "i4"}
TOLERANCE = {"f64": 1e-12, "f32": 2e-6, "f16": 1e-3, "bf16": 8e-3, "i8": 0, "ui8": 0, "i32": 0}
gelu = numpy.vectorize(lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))))
gelu_tanh = lambda x: 0.5 * x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


class Tensor:
    """All sets of one, in a file."""

    def __init__(self, folder, type, shape):
        self.type, self.shape, self.count = type, list(shape), math.prod(shape)
        size = numpy.dtype(TYPES[type]).itemsize * self.count
        stride = (size + 63) // 64 * 64
        path = os.path.join(folder, str(len(os.listdir(folder))))
        with open(path, "wb") as file:
            file.truncate(stride * SETS)
        self.spec = {"type": type, "shape": self.shape, "path": path, "offset": 0, "stride": stride, "bytes": size}
        self.memory = numpy.memmap(path, "u1", "r+")

    def fill(self, low=-3):
        """Small integers in all sets."""
        for index in range(SETS):
            values = random.integers(0 if self.type == "ui8" else low, 4, self.count)
            raw = to_bf16(values) if self.type == "bf16" else values.astype(TYPES[self.type])
            start = index * self.spec["stride"]
            self.memory[start:start + self.spec["bytes"]] = numpy.frombuffer(raw.tobytes(), "u1")

    def values(self, index=0):
        start = index * self.spec["stride"]
        raw = numpy.frombuffer(self.memory[start:start + self.spec["bytes"]].tobytes(), TYPES[self.type])
        return (from_bf16(raw) if self.type == "bf16" else raw).astype("f8").reshape(self.shape)


def matmul(family, lhs, rhs, result, layouts="ttt", b=None):
    m, n, k = 13, 37, 19
    shapes = [[m, k], [k, n], [m, n]]
    shapes = [([b] if b else []) + (shape[::-1] if layout == "n" else shape) for shape, layout in zip(shapes, layouts)]
    inputs = [(lhs, shapes[0]), (rhs, shapes[1])]
    fields = {"batch_count": b or 1, "m": m, "n": n, "k": k, "lhs": lhs + layouts[0], "rhs": rhs + layouts[1],
              "result": result + layouts[2], "accumulator": "i32" if result == "i32" else "f32"}
    if "bias" in family:
        inputs.append((result, [n]))
        fields["epilogue"] = family.removeprefix("matmul_")
    if family == "matmul_splitk":
        fields.update(split_k_mode="parallel", split_k_slices=2, partials="f32")

    def expected(lhs, rhs, *bias):
        lhs, rhs = (x.swapaxes(-1, -2) if layout == "n" else x for x, layout in zip((lhs, rhs), layouts))
        total = lhs @ rhs + (bias[0] if bias else 0)
        activation = {"bias_relu": lambda x: numpy.maximum(x, 0), "bias_gelu": gelu, "bias_gelu_tanh": gelu_tanh}.get(
            fields.get("epilogue"), lambda x: x)
        total = activation(total)
        return total.swapaxes(-1, -2) if layouts[2] == "n" else total
    return family, f"{lhs}{layouts[0]} {rhs}{layouts[1]} {result}{layouts[2]}", fields, inputs, result, expected


def qmatmul(lhs, result, layouts, zeros, scale=None):
    m, n, k = 13, 37, 19
    inputs = [(lhs, [k, m] if layouts[0] == "n" else [m, k]), ("i8", [n, k] if layouts[1] == "n" else [k, n])]
    fields = {"m": m, "n": n, "k": k, "lhs": lhs + layouts[0], "rhs": "i8" + layouts[1], "result": result + "t",
              "accumulator": "i32", "lhs_zero_point": str(zeros[0]), "rhs_zero_point": str(zeros[1])}
    if scale:
        inputs.append(("f32", [n] if scale == "column" else []))
        fields.update(result_zero_point=str(zeros[2]), scale=scale)

    def expected(lhs, rhs, *scales):
        lhs, rhs = (x.T if layout == "n" else x for x, layout in zip((lhs, rhs), layouts))
        total = (lhs - zeros[0]) @ (rhs - zeros[1])
        if not scale:
            return total
        low = 0 if result == "ui8" else -128
        return numpy.clip(numpy.rint(total * scales[0]) + zeros[2], low, low + 255)
    label = f"{lhs} {layouts} {result} {' '.join(map(str, zeros))} {scale or ''}".rstrip()
    return "qmatmul", label, fields, inputs, result, expected


def conv2d(layout, groups, type, result):
    n, h, w, c, r, s, f = 2, 9, 11, 6, 3, 2, 6 if groups == 6 else 10
    stride, dilation, pad = (2, 1), (1, 3), (1, 2)
    extent = lambda x, window, i: (x + 2 * pad[i] - (window - 1) * dilation[i] - 1) // stride[i] + 1
    oh, ow = extent(h, r, 0), extent(w, s, 1)
    last = layout == "nhwc_hwcf"
    shapes = [[n, h, w, c], [r, s, c // groups, f]] if last else [[n, c, h, w], [f, c // groups, r, s]]
    fields = {"layout": layout, "n": n, "h": h, "w": w, "c": c, "r": r, "s": s, "f": f, "stride_h": stride[0],
              "stride_w": stride[1], "dilation_h": dilation[0], "dilation_w": dilation[1], "pad_h": pad[0],
              "pad_w": pad[1], "groups": groups, "input_type": type, "filter_type": type, "result_type": result,
              "accumulator": "i32" if result == "i32" else "f32"}

    def expected(image, kernel):
        if not last:
            image, kernel = image.transpose(0, 2, 3, 1), kernel.transpose(2, 3, 1, 0)
        image = numpy.pad(image, ((0, 0), (pad[0], pad[0]), (pad[1], pad[1]), (0, 0)))
        out = numpy.zeros((n, oh, ow, f))
        for i, j, g in itertools.product(range(r), range(s), range(groups)):
            y, x = i * dilation[0], j * dilation[1]
            part = image[:, y:y + oh * stride[0]:stride[0], x:x + ow * stride[1]:stride[1]][:, :oh, :ow]
            of = slice(g * f // groups, (g + 1) * f // groups)
            out[..., of] += part[..., g * c // groups:(g + 1) * c // groups] @ kernel[i, j][:, of]
        return out if last else out.transpose(0, 3, 1, 2)
    label = f"{layout} {groups} groups {type} {result}"
    return "conv2d", label, fields, [(type, shape) for shape in shapes], result, expected


def elementwise(op, type):
    functions = {"add": numpy.add, "mul": numpy.multiply, "relu": lambda x: numpy.maximum(x, 0), "gelu": gelu,
                 "gelu_tanh": gelu_tanh, "exp": numpy.exp, "tanh": numpy.tanh, "sigmoid": lambda x: 1 / (1 + numpy.exp(-x)), "sqrt": numpy.sqrt}
    inputs = [(type, [5, 7, 11])] * (2 if op in ("add", "mul") else 1)
    return "elementwise", f"{op} {type}", {"op": op, "shape": "5x7x11", "type": type}, inputs, type, functions[op]


def reduction(op, type, result, inner=None):
    fields = {"op": op, "rows": 5, "columns": 37, "type": type, "result_type": result,
              "accumulator": "i32" if result == "i32" else "f32"} | ({"inner": inner} if inner else {})
    shape = [5, 37] + ([inner] if inner else [])
    return ("reduction", f"{op} {type} {result}" + (" inner" if inner else ""), fields, [(type, shape)], result,
            lambda x: getattr(numpy, op)(x, axis=1))


def norm(family, type):
    fields = {"rows": 5, "columns": 37, "type": type, "epsilon": "1e-05", "accumulator": "f32"}
    inputs = [(type, [5, 37])] + [(type, [37])] * (2 if family == "layer_norm" else 1)

    def expected(x, gamma, beta=0):
        x = x - x.mean(axis=1, keepdims=True) if family == "layer_norm" else x
        return x / numpy.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-5) * gamma + beta
    return family, type, fields, inputs, type, expected


def transpose(permutation, shape, type):
    fields = {"permutation": permutation, "shape": "x".join(map(str, shape)), "type": type}
    return ("transpose", f"{permutation} {type}", fields, [(type, shape)], type,
            lambda x: x.transpose([int(digit) for digit in permutation]))


def softmax(type):
    def expected(x):
        powers = numpy.exp(x - x.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)
    fields = {"rows": 5, "columns": 37, "type": type, "accumulator": "f32"}
    return "softmax", type, fields, [(type, [5, 37])], type, expected


def attention(mask, type):
    h, q, k, d, e = 3, 5, 7, 4, 6
    def expected(queries, keys, values):
        scores = queries @ keys.swapaxes(1, 2) / math.sqrt(d)
        if mask == "causal":
            scores = numpy.where(numpy.arange(k) <= numpy.arange(q)[:, None], scores, -numpy.inf)
        powers = numpy.exp(scores - scores.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ values
    fields = {"heads": h, "queries": q, "keys": k, "depth": d, "value_depth": e, "mask": mask, "type": type,
              "accumulator": "f32"}
    return "attention", f"{mask} {type}", fields, [(type, [h, q, d]), (type, [h, k, d]), (type, [h, k, e])], type, expected


def cases():
    for layouts in ("ttt", "tnt", "nnn"):
        yield matmul("matmul", "f32", "f32", "f32", layouts)
    for lhs, result in (("f16", "f16"), ("f16", "f32"), ("bf16", "bf16"), ("bf16", "f32"), ("i8", "i32"),
                        ("f64", "f64")):
        yield matmul("matmul", lhs, lhs, result)
    for layouts in ("ttt", "ntn"):
        yield matmul("batch_matmul", "f32", "f32", "f32", layouts, b=3)
    yield matmul("matmul_splitk", "f32", "f32", "f32")
    for family in ("matmul_bias", "matmul_bias_relu", "matmul_bias_gelu", "matmul_bias_gelu_tanh"):
        yield matmul(family, "f32", "f32", "f32")
        yield matmul(family, "f32", "f32", "f32", "tnn")
        yield matmul(family, "bf16", "bf16", "f32")
    yield matmul("matmul_bias_relu", "i8", "i8", "i32")
    for layouts in ("tt", "tn", "nt"):
        yield qmatmul("i8", "i32", layouts, (3, -5))
        yield qmatmul("ui8", "ui8", layouts, (128, 0, 121), "column")
    yield qmatmul("ui8", "i32", "tt", (128, 2))
    yield qmatmul("i8", "i8", "tt", (3, -5, -7), "tensor")
    for layout, groups in itertools.product(("nhwc_hwcf", "nchw_fchw"), (1, 2, 6)):
        yield conv2d(layout, groups, "f32", "f32")
    for type, result in (("bf16", "bf16"), ("f16", "f16"), ("i8", "i32")):
        yield conv2d("nhwc_hwcf", 1, type, result)
    for op in ("add", "mul", "relu", "gelu", "gelu_tanh", "exp", "tanh", "sigmoid", "sqrt"):
        yield elementwise(op, "f32")
        yield elementwise(op, "bf16")
    for op in ("sum", "max", "min", "mean"):
        yield reduction(op, "f32", "f32")
        yield reduction(op, "bf16", "bf16")
    yield reduction("sum", "i8", "i32")
    yield reduction("sum", "f32", "f32", inner=11)
    yield reduction("max", "f32", "f32", inner=11)
    for family, type in itertools.product(("layer_norm", "rms_norm"), ("f32", "bf16")):
        yield norm(family, type)
    yield transpose("10", [5, 37], "f32")
    yield transpose("0213", [2, 3, 5, 7], "bf16")
    yield softmax("f32")
    yield softmax("bf16")
    for mask, type in itertools.product(("none", "causal"), ("f32", "f16", "bf16")):
        yield attention(mask, type)


class Worker:
    def __init__(self, command, threads):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.threads = threads

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        answer = json.loads(line) if line else {"ok": False, "error": f"it ended with {self.process.wait()}"}
        if not answer["ok"]:
            raise RuntimeError(("unsupported: " if answer.get("unsupported") else "error: ") + answer["error"])
        return answer

    def quit(self):
        self.process.stdin.write('{"op":"quit"}\n')
        self.process.stdin.close()
        return self.process.wait()


def error_of(inputs, output, expected, index):
    """Of the result of a set, where that is too large; else 0."""
    wanted = expected(*(tensor.values(index) for tensor in inputs))
    error = numpy.abs(output.values(index) - wanted) / numpy.maximum(numpy.abs(wanted), 1)
    return 0 if error.max() <= TOLERANCE[output.type] else error.max()  # NaN is wrong, too


def drive(worker, case, folder, options):
    family, _, fields, inputs, result, expected = case
    inputs = [Tensor(folder, type, shape) for type, shape in inputs]
    fill = lambda: [tensor.fill(low=0 if fields.get("op") == "sqrt" else -3) for tensor in inputs]
    fill()
    output = Tensor(folder, result, expected(*(tensor.values() for tensor in inputs)).shape)
    try:
        worker.ask(op="load", module="", function="", sets=SETS, inputs=[tensor.spec for tensor in inputs],
                   outputs=[output.spec], problem={"family": family, "name": "test", "fields": fields})
        for _ in range(2):  # other inputs each time: nothing may be kept from the time before
            fill()
            output.memory[:] = 0xFF
            worker.ask(op="run", set=0)
            if error := error_of(inputs, output, expected, 0):
                return f"wrong by {error:.3g}"
        spans = drive_on_device(worker, inputs, output, expected, fill) if options.device else ""
        if spans.startswith("wrong"):
            return spans
        samples = worker.ask(op="time", calls=20, start=1, batch=2)["host"]
        right = "right" + spans if options.spans else "right"
        return right if samples and min(samples) > 0 else f"wrong samples: {samples}"
    except RuntimeError as error:
        return str(error)
    finally:
        try:
            worker.ask(op="unload")  # there may be nothing
        except RuntimeError:
            pass


def drive_on_device(worker, inputs, output, expected, fill):
    """Two batches, prepared with other inputs than they are timed with; weights stay, as they may be prepared."""
    calls = {"calls": 4, "batch": 2, "start": 2}  # sets 2, 1, 2, 1
    graph = worker.ask(op="prepare", **calls)["graph"]
    kept = [tensor.memory.copy() for tensor in inputs[1:]]
    fill()
    for tensor, memory in zip(inputs[1:], kept):
        tensor.memory[:] = memory
    output.memory[:] = 0xFF
    worker.ask(op="upload", sets={"first": 1, "count": 2})
    answer = worker.ask(op="time", clock="device", **calls)
    worker.ask(op="fetch", sets={"first": 1, "count": 2})
    for index in (1, 2):
        if error := error_of(inputs, output, expected, index):
            return f"wrong by {error:.3g} when timed"
    if len(answer["host"]) != 2 or min(answer["spans"]) <= 0:
        return f"wrong times: {answer}"
    return f", {'a graph' if graph else 'no graph'} of {answer['spans']} ns"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", help="to compute on; left out, it is the CPU")
    parser.add_argument("--spans", action="store_true")
    parser.add_argument("--only", default="", help="a regular expression of the lines that are to be printed")
    parser.add_argument("--one-worker", action="store_true", help="for all problems, where it can load more than one")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    worker = None
    for case in cases():
        if not re.search(options.only, f"{case[0]} {case[1]}"):
            continue
        if not worker:
            worker = Worker(options.command, options.threads)
            worker.ask(op="hello", protocol=2, threads=options.threads, **({"device": options.device} if options.device else {}))
        with tempfile.TemporaryDirectory() as folder:
            print(f"{case[0]} {case[1]}: {drive(worker, case, folder, options)}", flush=True)
        if not options.one_worker:
            print("", end="" if worker.quit() == 0 else "the worker ended badly\n")
            worker = None
    if worker:
        print(f"exit code {worker.quit()}")


main()
