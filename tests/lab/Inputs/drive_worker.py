#!/usr/bin/env python3
"""Talks to a worker as the lab does, about a matrix product of f32, and says what came back.

    drive_worker.py [--module FILE] [--sets N] [--size MxNxK] [--layouts ttt] -- COMMAND..."""

import argparse
import array
import json
import os
import random
import subprocess
import sys
import tempfile


def tensor(path, shape, sets):
    size = 4 * shape[0] * shape[1]
    stride = (size + 63) // 64 * 64
    with open(path, "wb") as file:
        file.truncate(stride * sets)
    return {"type": "f32", "shape": shape, "path": path, "offset": 0, "stride": stride, "bytes": size}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--module", default="")
    parser.add_argument("--sets", type=int, default=3)
    parser.add_argument("--size", default="5x7x6")
    parser.add_argument("--layouts", default="ttt")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    m, n, k = map(int, options.size.split("x"))
    folder = tempfile.TemporaryDirectory()
    shapes = [[m, k], [k, n], [m, n]]
    shapes = [shape[::-1] if layout == "n" else shape for shape, layout in zip(shapes, options.layouts)]
    lhs, rhs, result = (tensor(os.path.join(folder.name, name), shape, options.sets)
                        for name, shape in zip(("lhs", "rhs", "result"), shapes))

    def write(spec, index, values):
        with open(spec["path"], "r+b") as file:
            file.seek(index * spec["stride"])
            file.write(array.array("f", values).tobytes())

    def read(spec, index):
        with open(spec["path"], "rb") as file:
            file.seek(index * spec["stride"])
            values = array.array("f")
            values.frombytes(file.read(spec["bytes"]))
            return values

    worker = subprocess.Popen(options.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(**request):
        worker.stdin.write(json.dumps(request) + "\n")
        worker.stdin.flush()
        line = worker.stdout.readline()
        if not line:
            sys.exit(f"{request['op']}: the worker ended with {worker.wait()}")
        answer = json.loads(line)
        if not answer["ok"]:
            print(f"{request['op']}: {'unsupported' if answer.get('unsupported') else 'error'}: {answer['error']}")
            sys.exit(1)
        return answer

    hello = ask(op="hello", protocol=2, threads=options.threads)
    print(f"hello: {hello['provider']}")
    operands = ["f32" + layout for layout in options.layouts]
    ask(op="load", module=options.module, function="", sets=options.sets, inputs=[lhs, rhs], outputs=[result],
        problem={"family": "matmul", "name": f"matmul_{m}x{n}x{k}_" + "_".join("f32" + layout for layout in options.layouts), "fields": {
            "batch_count": 1, "m": m, "n": n, "k": k, "lhs": operands[0], "rhs": operands[1], "result": operands[2]}})

    # Other inputs each time: nothing may be kept from the time before. What was in the output must not show.
    for attempt in range(3):
        a = [random.randint(-3, 3) for _ in range(m * k)]
        b = [random.randint(-3, 3) for _ in range(k * n)]
        write(lhs, 0, a)
        write(rhs, 0, b)
        write(result, 0, [float("nan") if attempt == 0 else 5.0] * (m * n))
        ask(op="run", set=0)
        at = lambda values, layout, rows, columns, i, j: values[i * columns + j if layout == "t" else j * rows + i]
        got, wrong = read(result, 0), 0
        for i in range(m):
            for j in range(n):
                expected = sum(at(a, options.layouts[0], m, k, i, l) * at(b, options.layouts[1], k, n, l, j)
                               for l in range(k))
                wrong += at(got, options.layouts[2], m, n, i, j) != expected
        print(f"run {attempt}: {wrong} of {m * n} elements are wrong")

    answer = ask(op="time", calls=40, start=min(1, options.sets - 1), batch=4)
    good = answer["batch"] == 4 and answer["host"] and all(isinstance(x, int) and x > 0 for x in answer["host"])
    print("time: good" if good else f"time: {answer}")
    if "device times" in hello.get("promises", []):
        times = ask(op="time", calls=5, start=min(1, options.sets - 1), batch=1, watch=True)["device"]
        order = [times["submitted"], times["started"], times["ended"]]
        good = all(len(part) == 5 for part in order) and all(sorted(call) == list(call) for call in zip(*order))
        print("device times: good" if good else f"device times: {times}")
    worker.stdin.write('{"op":"quit"}\n')
    worker.stdin.close()
    print(f"quit: {worker.stdout.read()!r}, exit code {worker.wait()}")


main()
