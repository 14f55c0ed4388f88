#!/usr/bin/env python3
"""An external provider for the lab: matrix products by NumPy. The example to start from:

    kiln-dispatch sweep ... --provider-command=numpy="python3 python/kiln_worker_numpy.py"

The lab starts it, hands it tensors in shared memory, verifies its results and times its calls like everybody else's. What
is particular to NumPy stands here; kiln_worker.py speaks the protocol."""

from kiln_worker import Unsupported, check, serve, touch

TYPES = {"f32": "float32", "f64": "float64"}


class NumPy:
    name, version = "numpy", ""

    def start(self, threads):
        # Threads are those of NumPy's BLAS, which reads OMP_NUM_THREADS and the like when it is loaded; the lab has set
        # them.
        try:
            import numpy
        except ImportError as error:
            raise Unsupported(f"{error}; pip install numpy") from None
        self.numpy, self.version = numpy, numpy.__version__

    def array(self, tensor):
        return self.numpy.frombuffer(tensor.memory, TYPES[tensor.type]).reshape(tensor.shape)

    def load(self, problem, module, function, sets):
        check(problem, ("matmul", "batch_matmul", "matmul_splitk"))
        operands = [problem["fields"][name] for name in ("lhs", "rhs", "result")]  # "f32t": the type and the layout
        if len({operand[:-1] for operand in operands}) != 1 or operands[0][:-1] not in TYPES:
            raise Unsupported(f"NumPy multiplies f32 and f64, not {' x '.join(operands)}")

        # A column-major matrix is, in memory, the row-major one of its transpose.
        def matrix(tensor, operand):
            return self.array(tensor).swapaxes(-1, -2) if operand[-1] == "n" else self.array(tensor)

        self.sets = [[matrix(tensor, operand) for tensor, operand in zip(inputs + outputs, operands)]
                     for inputs, outputs in sets]
        touch(sets)

    def run(self, index):
        lhs, rhs, result = self.sets[index]
        self.numpy.matmul(lhs, rhs, out=result)

    call = run


if __name__ == "__main__":
    serve(NumPy())
