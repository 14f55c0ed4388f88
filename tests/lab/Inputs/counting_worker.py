#!/usr/bin/env python3
"""A worker that multiplies small f32 matrices, and says of each call what CPU counters might: 1000 cycles, 2500
instructions, 3 misses. The folder of kiln_worker.py is the argument."""

import sys

sys.path.insert(0, sys.argv[1])
import kiln_worker
import small_matmul


def counted(provider, request, count, time=kiln_worker._time):
    answer = time(provider, request, count)
    calls = len(answer["host"]) * answer["batch"]
    answer["counters"] = {"cycles": 1000 * calls, "instructions": 2500 * calls, "cache_misses": 3 * calls}
    return answer


kiln_worker._time = counted
kiln_worker.serve(small_matmul.SmallMatmul("counting"))
