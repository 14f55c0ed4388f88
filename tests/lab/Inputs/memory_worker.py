"""An external provider that computes the program two_layers.mlir when it is verified, and when it is timed gives what it
gave first."""
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, os.pardir, "python"))
from kiln_worker import serve  # noqa: E402


def product(a, b, m, n, k):
    return [sum(a[i * k + l] * b[l * n + j] for l in range(k)) for i in range(m) for j in range(n)]


class Memory:
    name, version, kept = "memory", "1.0", None

    def start(self, threads):
        pass

    def load(self, problem, module, function, sets):
        assert problem["family"] == "corpus" and os.path.exists(module), problem
        self.sets = [[memoryview(tensor.memory).cast("B").cast("f") for tensor in inputs + outputs]
                     for inputs, outputs in sets]

    def run(self, index):
        x, v, w, result = self.sets[index]
        hidden = [math.tanh(value) for value in product(x, v, 33, 48, 64)]
        for i, value in enumerate(product(hidden, w, 33, 16, 48)):
            result[i] = value

    def call(self, index):
        result = self.sets[index][-1]
        if self.kept is None:
            self.run(index)
            self.kept = bytes(result.cast("B"))
        result.cast("B")[:] = self.kept


if __name__ == "__main__":
    serve(Memory())
