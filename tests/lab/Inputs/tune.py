"""Kills a tuning after its second batch, and gives the same command again: no finished batch is repeated. Then compiles a
program in which the tuned product has a neighbour before and behind it, with what the tuning knows it by.
tune.py FOLDER"""

import glob
import json
import os
import subprocess
import sys

folder = sys.argv[1]
command = ["kiln-dispatch", "tune", f"--generated-dir={folder}", f"--tuning-db={folder}/tuned.json", "--operation-kind=matmul",
           "--dtypes=f32", "--problem-m=5", "--problem-n=96", "--problem-k=64", "--threads=1", "--batch=3", "--exhaustive=3",
           "--trials=9", "--finalists=1", "--benchmark-repetitions=3"]
first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
for line in first.stdout:
    if line.startswith("  batch 2:"):
        break
first.kill()
first.wait()

second = subprocess.run(command, capture_output=True, text=True)
print(second.stdout, end="")
print(second.stderr, end="", file=sys.stderr)
if second.returncode:
    sys.exit(second.returncode)
with open(f"{folder}/tuned.json") as file:
    print(f"{len(file.readlines())} lines in the database; files beside it:",
          *[name for name in os.listdir(folder) if name.startswith("tuned.json.")])

# What the lab asked the compiler for names the dispatch of any program.
keys = []
for path in glob.glob(f"{folder}/generated/linalg/matmul/*/tune/keys/*.json"):
    with open(path) as file:
        keys.append(json.load(file))
assert len({key["operation"] for key in keys}) == 1 and len(keys) == 2, keys
entry = {"kiln_tuning": 1, "operation": keys[0]["operation"], "target": keys[0]["target"], "threads": 1,
         "configuration": "tile_config_5x48_32x1_fma_5x16",
         "measured": {"problem": "matmul", "median_ns": 1.0, "to_default": 0.5, "date": "2026-01-01T00:00:00Z", "kiln": "0",
                      "run": "00"}}
with open(f"{folder}/made.json", "w") as file:
    file.write(json.dumps(entry) + "\n")
program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "layer.mlir")
subprocess.run(["kiln-compile", "--iree-hal-target-backends=llvm-cpu", f"--tuning-db={folder}/made.json",
                f"--dump-tuning-keys-to={folder}/keys", program, "-o", f"{folder}/layer.vmfb"], check=True)
for path in sorted(glob.glob(f"{folder}/keys/*.json")):
    with open(path) as file:
        key = json.load(file)
    print(key["function"], key["configuration"], "from", key["source"])

# The content of the database is part of a module's key.
shape = [f"--generated-dir={folder}/key", "--operation-kind=matmul"]
subprocess.run(["kiln-dispatch", "generate", *shape, "--dtypes=f32", "--problem-m=5", "--problem-n=96", "--problem-k=64",
                "--configurations=1", "--default-config"], check=True, stdout=subprocess.DEVNULL)
for configuration in (entry["configuration"], entry["configuration"], "tile_config_5x32_32x1_fma_5x16"):
    with open(f"{folder}/made.json", "w") as file:
        file.write(json.dumps({**entry, "configuration": configuration}) + "\n")
    done = subprocess.run(["kiln-dispatch", "compile", *shape, f"--Xcompiler=--tuning-db={folder}/made.json"], check=True,
                          capture_output=True, text=True)
    print(*[line for line in done.stdout.splitlines() if line.startswith("compiled")])
