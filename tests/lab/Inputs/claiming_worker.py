#!/usr/bin/env python3
"""A worker that multiplies small f32 matrices, and claims of its times what its second argument asks for. The first one
is the folder of kiln_worker.py."""

import sys

sys.path.insert(0, sys.argv[1])
import kiln_worker
import small_matmul


def claimed(provider, request, count, time=kiln_worker._time):
    answer = time(provider, request, count)
    call = answer["call"]
    claims = {"honest": {"device": [ns - ns // 8 for ns in call], "launch": [ns // 8 for ns in call]},
              "wrap": {"call": [2**63 - 1, 2**63 - 1] + [1000] * 5},  # -2, to who sums in 64 bits
              "less": {"call": [max(ns // 2, 1) for ns in call]},
              "parts": {"device": [ns * 1000 for ns in call], "launch": [7] * len(call)},
              "uneven": {"device": call + [1]},
              "negative": {"call": [-5] + call},
              "nan": {"call": [float("nan")] + call}}
    return {**answer, **claims[sys.argv[2]]}


kiln_worker._time = claimed
kiln_worker.serve(small_matmul.SmallMatmul(sys.argv[2], "says what it likes"))
