#!/usr/bin/env python3
"""A worker that multiplies small f32 matrices, and writes the inputs of set 1 as it finds them when it loads for the first
time to the folder that is its second argument. The first one is the folder of kiln_worker.py."""

import os
import sys

sys.path.insert(0, sys.argv[1])
import kiln_worker
import small_matmul


class Recording(small_matmul.SmallMatmul):
    def load(self, problem, module, function, sets):
        super().load(problem, module, function, sets)
        for i, tensor in enumerate(sets[1][0]):
            path = os.path.join(sys.argv[2], f"timed_{i}.bin")
            if not os.path.exists(path):
                with open(path, "wb") as file:
                    file.write(tensor.memory)


kiln_worker.serve(Recording("recording"))
