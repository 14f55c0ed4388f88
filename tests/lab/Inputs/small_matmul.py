"""A provider that multiplies small f32 matrices, for workers that are about something else. The folder of
kiln_worker.py is on the path."""

import kiln_worker


class SmallMatmul:
    version = "1"

    def __init__(self, name, note=""):
        self.name, self.note = name, note

    def start(self, threads):
        pass

    def load(self, problem, module, function, sets):
        kiln_worker.check(problem, ["matmul"])
        self.m, self.n, self.k = (problem["fields"][name] for name in "mnk")
        self.sets = [[tensor.memory.cast("f") for tensor in inputs + outputs] for inputs, outputs in sets]

    def run(self, index):
        lhs, rhs, result = self.sets[index]
        for i in range(self.m):
            for j in range(self.n):
                result[i * self.n + j] = sum(lhs[i * self.k + l] * rhs[l * self.n + j] for l in range(self.k))

    call = run
