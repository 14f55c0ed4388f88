#!/usr/bin/env python3
"""A worker that multiplies small f32 matrices, and says of each call what CPU counters might: 1000 cycles, 2500
instructions, 3 misses. The folder of kiln_worker.py is the argument."""

import sys

sys.path.insert(0, sys.argv[1])
import kiln_worker


class Counting:
    name, version = "counting", "1"

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


def counted(provider, request, count, time=kiln_worker._time):
    answer = time(provider, request, count)
    calls = len(answer["call"]) * answer["batch"]
    answer["counters"] = {"cycles": 1000 * calls, "instructions": 2500 * calls, "cache_misses": 3 * calls}
    return answer


kiln_worker._time = counted
kiln_worker.serve(Counting())
