"""Plants each lie in the compiled code of a problem of each family, runs the lab on it, and checks that every candidate is
rejected under the right name, and that none is where nothing is planted. Where a lie cannot be told of a problem, the
compiler has to say why. lies.py FOLDER FAMILIES takes the sweeps whose flags hold one of FAMILIES, a regular expression."""

import collections
import csv
import os
import re
import subprocess
import sys

# What the verifier has to call it.
CAUSES = {
    "wrong-element": "wrong elements",
    "nan": "not a number",
    "transposed-tile": "transposed tile",
    "dropped-tail": "dropped tail",
    "not-zeroed": "output not zeroed",
    "bf16-inputs": "inputs narrowed",
    "tf32-inputs": "inputs narrowed",
    "f16-accumulator": "accumulator too narrow",
    "bf16-accumulator": "accumulator too narrow",
    "swapped-layout": "swapped layout",
    "nothing-written": "nothing written",
}

# Which problems cannot have which lies, and what the compiler says then. The first line that fits counts.
REFUSALS = [
    (r"^(elementwise|reduction|softmax|transpose|layer_norm|rms_norm)", "transposed-tile", "it has no product or convolution, and so no tiles"),
    (r"^(elementwise|reduction_max|transpose)", "f16-accumulator bf16-accumulator", "it has no sums"),
    (r"_i(8|32)", "nan", "its result is of integers, which are all numbers"),
    (r"_i(8|32)", "bf16-inputs tf32-inputs", "its inputs are integers"),
    (r"_i8", "f16-accumulator bf16-accumulator", "its sums are of integers"),
    (r"_f16", "tf32-inputs", "its inputs are of type f16, which has no more precision"),
    (r"_bf16", "bf16-inputs tf32-inputs", "its inputs are of type bf16, which has no more precision"),
]

# An odd side, and squares that hide a swapped layout. How many problems there are, the flags of the sweep, and which lies
# where it is not all: what other layouts and epilogues do not change is not compiled again.
INDICES = ["transposed-tile", "dropped-tail", "not-zeroed", "swapped-layout"]
MATMUL = "--problem-m=33 --problem-n=64 --problem-k=64"
CONV = "--operation-kind=conv2d --problem-h=9 --problem-w=11 --problem-c=16 --problem-f=16"
SWEEPS = [
    (4, f"--operation-kind=matmul {MATMUL} --dtypes=f32,f16,bf16,i8"),
    (3, f"--operation-kind=matmul {MATMUL} --dtypes=f32t_f32n_f32t,f32n_f32t_f32t,f32n_f32n_f32t", INDICES),
    (1, f"--operation-kind=batch_matmul {MATMUL} --problem-b=3 --dtypes=f32"),
    (2, f"--operation-kind=matmul_bias_relu {MATMUL} --dtypes=f32,f16"),
    (1, f"--operation-kind=matmul_bias_gelu {MATMUL} --dtypes=f32", INDICES),
    (2, f"--operation-kind=matmul_splitk {MATMUL} --problem-slices=4 --dtypes=f32"),
    (2, f"--operation-kind=qmatmul {MATMUL} --dtypes=i8"),
    (4, f"{CONV} --dtypes=f32,i8"),
    (2, f"{CONV} --problem-groups=4 --dtypes=f16"),
    (2, f"{CONV} --problem-groups=16 --problem-stride=1 --problem-pad=1 --dtypes=f32"),  # depthwise
    (3, "--operation-kind=elementwise --problem-shape=33x33 --dispatches=(add|exp)_ --dtypes=f32,i32"),
    (3, "--operation-kind=reduction --problem-rows=65 --problem-columns=65 --dispatches=(sum|max|mean)_ --dtypes=f32"),
    (2, "--operation-kind=reduction --problem-rows=3 --problem-columns=65 --problem-inner=65 --dispatches=(sum|max)_ --dtypes=f32"),
    (2, "--operation-kind=softmax --problem-rows=65 --problem-columns=65 --dtypes=f32,f16"),
    (2, "--operation-kind=layer_norm --problem-rows=65 --problem-columns=65 --dtypes=f32,f16"),
    (1, "--operation-kind=rms_norm --problem-rows=65 --problem-columns=65 --dtypes=f32"),
    (2, "--operation-kind=attention --problem-heads=3 --problem-queries=65 --problem-keys=65 --problem-depth=33 --problem-value-depth=65 --dtypes=f32"),
    (4, "--operation-kind=transpose --problem-shape=65x65 --dtypes=f32,f16,bf16,i8"),
    (1, "--operation-kind=transpose --problem-shape=3x17x17x5 --problem-permutation=0213 --dtypes=f32"),
]


def sweep(folder, flags, lies):
    """The sweep's rows by problem and lie; the lie of what the compiler made as it is is ''."""
    table = os.path.join(folder, "table.csv")
    command = ["kiln-dispatch", "sweep", f"--generated-dir={folder}", "--configurations=1", "--no-default-config",
               "--providers=kiln",
               "--profiling-enabled=false", "--fresh", "--seed=11", f"--output={table}", *flags.split(),
               *[f"--compiler-variant={lie}={os.environ['LYING_COMPILE']} --kiln-debug-plant-lie={lie}" for lie in lies]]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 1:
        sys.exit(f"{done.stdout}\n{flags}: exit code {done.returncode}, though rows are incorrect")
    rows = collections.defaultdict(dict)
    with open(table, newline="") as file:
        for row in csv.DictReader(file):
            rows[row["dispatch"].split("_tile_config")[0]][row["variant"]] = row
    return rows


def refusal(problem, lie):
    return next((why for name, lies, why in REFUSALS if re.search(name, problem) and lie in lies.split()), None)


def mistakes(problem, rows, lies):
    """What is not as it should be."""
    for lie in ["", *lies]:
        row = rows.get(lie, collections.defaultdict(str, outcome="missing"))
        why = refusal(problem, lie)
        if why:
            if row["outcome"] != "failed" or why not in row["error"]:
                yield f"{lie}: {row['outcome']}, {row['error']}; it should not be planted: {why}"
        elif (row["outcome"], row["cause"]) != (("incorrect", CAUSES[lie]) if lie else ("not profiled", "none")):
            yield f"{lie or 'nothing planted'}: {row['outcome']}, {row['cause']}: {row['explanation'] or row['error']}"


def main():
    wrong = 0
    chosen = [entry for entry in SWEEPS if re.search(sys.argv[2], entry[1])]
    for count, flags, *some in chosen:
        lies = some[0] if some else list(CAUSES)
        problems = sweep(sys.argv[1], flags, lies)
        if len(problems) != count:
            sys.exit(f"{flags}: {len(problems)} problems, not {count}: {', '.join(problems)}")
        for problem, rows in problems.items():
            found = list(mistakes(problem, rows, lies))
            refused = sum(refusal(problem, lie) is not None for lie in lies)
            wrong += len(found)
            print(f"{'BAD ' if found else 'ok  '} {problem}: {len(lies) - refused} lies named, {refused} refused")
            print("".join(f"     {line}\n" for line in found), end="")
    sys.exit(1 if wrong or not chosen else 0)


if __name__ == "__main__":
    main()
