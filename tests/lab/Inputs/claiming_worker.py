#!/usr/bin/env python3
"""A worker that multiplies small f32 matrices, and claims of its times what its second argument asks for. The first one
is the folder of kiln_worker.py."""

import sys

sys.path.insert(0, sys.argv[1])
import kiln_worker
import small_matmul


def claimed(provider, request, count, time=kiln_worker._time):
    if sys.argv[2] == "spoils":  # a result, after it was computed
        provider.call = lambda index: (provider.run(index), provider.sets[index][-1].__setitem__(3, 1e6))
    answer = time(provider, request, count)
    call = answer["host"]
    claims = {"honest": {}, "spoils": {},
              "wrap": {"host": [2**63 - 1] * len(call)},  # sums of two are -2, to who sums in 64 bits
              "less": {"host": [max(ns // 10, 1) for ns in call]},  # also beside others, waiting for whom is in its samples
              "uneven": {"device": {"clock": "mine", "started": call, "ended": call + [1]}},
              "negative": {"host": [-5] + call[1:]},
              "nan": {"host": [float("nan")] + call[1:]}}
    return {**answer, **claims[sys.argv[2]]}


kiln_worker._time = claimed
kiln_worker.serve(small_matmul.SmallMatmul(sys.argv[2], "says what it likes"))
