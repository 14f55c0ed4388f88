"""Checks that the function `two` of a module runs its dispatches at the same time, and `one` its single one alone. A busy
machine may take a processor away, so there are several attempts; without overlap none of them can succeed."""

import json
import subprocess
import sys


def processors(function):
    """Processor time over wall time of a call, with two workers."""
    tensor = "--input=1000000xf32=1"
    out = subprocess.run(["kiln-benchmark-module", f"--module={sys.argv[1]}", f"--function={function}", tensor, tensor,
                          "--device=local-task", "--task_topology_group_count=2", "--benchmark_min_time=0.2s",
                          "--benchmark_format=json"], check=True, capture_output=True, text=True).stdout
    (row,) = json.loads(out)["benchmarks"]
    return row["cpu_time"] / row["real_time"]


def main():
    seen = []
    for _ in range(10):
        seen.append((processors("one"), processors("two")))
        if seen[-1][0] < 1.1 and seen[-1][1] > 1.4:
            break
    else:
        sys.exit(f"processors in use by one and by two dispatches, in each attempt: {seen}")
    print(f"processors in use: {seen[-1][0]:.2f} by one dispatch, {seen[-1][1]:.2f} by two")


if __name__ == "__main__":
    main()
