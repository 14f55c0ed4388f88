"""An external provider that knows one program of a corpus: add.mlir, 4xf32."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, os.pardir, "python"))
from kiln_worker import Unsupported, serve  # noqa: E402


class Add:
    name, version = "mine", "1.0"

    def start(self, threads):
        pass

    def load(self, problem, module, function, sets):
        if problem["family"] != "corpus" or problem["fields"]["file"] != "add.mlir":
            raise Unsupported(f"{problem['name']} is not known")
        with open(module) as file:
            assert f"func.func @{function}(" in file.read(), module
        self.sets = [[memoryview(tensor.memory).cast("B").cast("f") for tensor in inputs + outputs]
                     for inputs, outputs in sets]

    def run(self, index):
        a, b, result = self.sets[index]
        for i in range(4):
            result[i] = a[i] + b[i]

    call = run


if __name__ == "__main__":
    serve(Add())
