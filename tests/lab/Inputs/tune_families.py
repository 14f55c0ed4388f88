"""Tunes a small problem of each family that multiplies, and has the compiler take another configuration from a database: what a
tuning knows the problem by is what the compiler knows it by. tune_families.py FOLDER SEED draws two families;
and "all" in its place takes all."""

import glob
import json
import os
import random
import subprocess
import sys

FAMILIES = ["batch_matmul", "matmul_bias", "matmul_bias_gelu", "matmul_bias_relu", "matmul_splitk", "qmatmul"]
VARIANTS = {"matmul_splitk": "_parallel_2"}
TYPES = {"qmatmul": "i8t_i8t_i8t_za3_zbm5_zc7_percolumn"}  # others: f32
SIZES = ["--problem-m=12", "--problem-n=40", "--problem-k=32"]
OTHER = "tile_config_6x20_16x1_fma_6x16"


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def keys_in(pattern):
    keys = []
    for path in sorted(glob.glob(pattern)):
        with open(path) as file:
            keys.append(json.load(file))
    return keys


drawn = random.Random(sys.argv[2]).sample(FAMILIES, 2)
for family in FAMILIES if sys.argv[2] == "all" else drawn:
    what = VARIANTS.get(family, "")
    folder = os.path.join(sys.argv[1], family)
    problem = [f"--operation-kind={family}", f"--dtypes={TYPES.get(family, 'f32')}", *SIZES]
    said = run("kiln-dispatch", "tune", f"--generated-dir={folder}", f"--tuning-db={folder}/tuned.json", *problem,
               f"--dispatches={family}{what}_", "--threads=1", "--batch=3", "--exhaustive=1", "--trials=3", "--finalists=1",
               "--benchmark-repetitions=3").splitlines()
    size = int(next(line for line in said if " of which at most " in line).split(": ")[1].split()[0])
    rows = next(line for line in said if " rows, " in line)
    print(f"{family} has many: {rows}" if size >= 24 else f"{family} has {size} configurations")

    key = keys_in(f"{folder}/generated/linalg/*/*/tune/keys/*.json")[0]
    entry = {"kiln_tuning": 1, "operation": key["operation"], "target": key["target"], "threads": 1, "configuration": OTHER,
             "measured": {"problem": family, "median_ns": 1.0, "to_default": 0.5, "date": "2026-01-01T00:00:00Z", "kiln": "0",
                          "run": "00"}}
    with open(f"{folder}/made.json", "w") as file:
        file.write(json.dumps(entry) + "\n")
    run("kiln-dispatch", "generate", f"--generated-dir={folder}/plain", *problem, "--default-config",
        f"--dispatches={family}{what}_.*_tile_config_default")
    source, = glob.glob(f"{folder}/plain/generated/linalg/*/*/*.mlir")
    run("kiln-compile", "--iree-hal-target-backends=llvm-cpu", f"--tuning-db={folder}/made.json",
        f"--dump-tuning-keys-to={folder}/keys", source, "-o", f"{folder}/plain.vmfb")
    taken = [key["configuration"] for key in keys_in(f"{folder}/keys/*.json") if key["source"] == "tuning-db"]
    print(family, "is found in the database" if taken == [OTHER] else f"is not found in the database: {taken}")
