"""Plants a lie in the compiled code of each candidate, runs the lab on it, and checks that the candidate is rejected under
the right name. lies.py FOLDER LIE=CAUSE..."""

import csv
import os
import subprocess
import sys

SHAPE = {"m": 33, "n": 64, "k": 64}  # an odd side, and a square right-hand side that hides a swapped layout


def outcome(folder, lie):
    table = os.path.join(folder, f"{lie}.csv")
    command = ["kiln-dispatch", "sweep", f"--generated-dir={folder}", "--operation-kind=matmul", "--dtypes=f32",
               *[f"--problem-{name}={size}" for name, size in SHAPE.items()], "--configurations=1", "--providers=kiln",
               "--profiling-enabled=false", "--fresh", f"--output={table}"]
    if lie != "none":
        command.append(f"--Xcompiler=--kiln-debug-plant-lie={lie}")
    done = subprocess.run(command, stdout=subprocess.DEVNULL)
    if done.returncode != (0 if lie == "none" else 1):
        sys.exit(f"{lie}: exit code {done.returncode}")
    with open(table, newline="") as file:
        (row,) = csv.DictReader(file)
    return row


def main():
    folder, wrong = sys.argv[1], 0
    for expectation in sys.argv[2:]:
        lie, cause = expectation.split("=")
        row = outcome(folder, lie)
        right = row["outcome"] == ("not profiled" if cause == "none" else "incorrect") and row["cause"] == cause
        wrong += not right
        print(f"{'ok  ' if right else 'BAD '} {lie}: {row['outcome']}, {row['cause']}: {row['explanation'] or row['error']}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
