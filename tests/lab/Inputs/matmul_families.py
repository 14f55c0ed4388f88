"""Sweeps a few odd problems of each family of matrix products, and checks that every row is verified, that the sums in f16
are in f16, and that configurations with threads run with so many.
matmul_families.py FOLDER epilogues|slices|quantized|threads"""

import csv
import os
import subprocess
import sys

FOLDER = sys.argv[1]
wrong = 0


def check(what, right):
    global wrong
    wrong += not right
    print(f"{'ok  ' if right else 'BAD '} {what}", flush=True)


def dispatch(name, verb, *flags, exit_code=0):
    """Runs kiln-dispatch in a folder of its own; the rows of its table."""
    folder = os.path.join(FOLDER, name)
    os.makedirs(folder, exist_ok=True)
    table = os.path.join(folder, "table.csv")
    command = ["kiln-dispatch", verb, f"--generated-dir={folder}", *flags]
    if verb != "generate":
        command += ["--providers=kiln", "--profiling-enabled=false", "--fresh", f"--output={table}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != exit_code:
        print(done.stdout[-4000:], done.stderr[-4000:])
        check(f"{name}: exit code {done.returncode} instead of {exit_code}", False)
        return []
    if verb == "generate":
        return []
    with open(table, newline="") as file:
        return list(csv.DictReader(file))


def sweep(family, types, shape, *flags):
    sizes = [f"--problem-{dim}={size}" for dim, size in zip("mnk", shape)]
    rows = dispatch(f"{family}-{'x'.join(map(str, shape))}", "sweep", f"--operation-kind={family}", f"--dtypes={types}",
                    *sizes, "--configurations=2", "--default-config", *flags)
    bad = [f"{row['dispatch']}: {row['outcome']} {row['cause']} {row['explanation']} {row['error']}" for row in rows
           if row["Verification"] != "SUCCESS"]
    check(f"{family}: {len(rows)} rows verified" if not bad else "\n".join(bad), bool(rows) and not bad)
    return rows


def epilogues():
    layouts = "f32t_f32t_f32t,f32n_f32t_f32t,f32t_f32n_f32t,f32n_f32n_f32t"
    sweep("matmul_bias", layouts + ",f16,bf16", (17, 33, 65))
    sweep("matmul_bias_relu", "f32,f16t_f16n_f16t,bf16t_bf16t_f32t,f16t_f16t_f16t_accf16", (33, 65, 47))
    sweep("matmul_bias_gelu", "f32t_f32n_f32t,f16,bf16n_bf16t_bf16t", (33, 47, 65))
    sweep("matmul_bias_gelu", "f32", (1, 1, 1))
    sweep("matmul_bias_gelu_tanh", "f32t_f32n_f32t,f16,bf16", (33, 47, 65))
    sweep("matmul", "f16t_f16t_f16t_accf16,f16n_f16n_f16t_accf16,f16,bf16", (9, 35, 1031))

    # What sums in f16 is not what sums in f32 is promised to be: the same code under the other name is rejected.
    name, other = "matmul_8x32x2000_f16t_f16t_f16t_accf16", "matmul_8x32x2000_f16t_f16t_f16t"
    flags = ["--operation-kind=matmul", "--problem-m=8", "--problem-n=32", "--problem-k=2000", "--configurations=1"]
    dispatch("f16", "generate", *flags, f"--dtypes={name.split('_', 2)[2]}")
    source = os.path.join(FOLDER, "f16", "generated", "linalg", "matmul")
    with open(os.path.join(source, name, name + ".mlir")) as file:
        text = file.read()
    dispatch("lie", "generate", *flags, f"--dtypes={other.split('_', 2)[2]}")
    with open(os.path.join(FOLDER, "lie", "generated", "linalg", "matmul", other, other + ".mlir"), "w") as file:
        file.write(text.replace("_accf16", ""))
    rows = dispatch("lie", "profile", exit_code=1)
    check("sums in f16 are found where f32 is promised", [row["cause"] for row in rows] == ["accumulator too narrow"])


def slices():
    rows = sweep("matmul_splitk", "f32,f32n_f32n_f32t,f16t_f16t_f16t_partf16,f16t_f16n_f32t_partf16,bf16,i8",
                 (17, 33, 131), "--split-k-slices=1,4")
    check("split-k tells its columns", {(row["split_k_mode"], row["split_k_slices"]) for row in rows} ==
          {(mode, count) for mode in ("serial", "parallel") for count in ("1", "4")})
    sweep("matmul_splitk", "f32", (128, 128, 1228), "--problem-slices=18")


def quantized():
    sweep("qmatmul", "i8,ui8,i8n_i8n_i32t_zam128_zb127,i8t_i8n_i32t_za3_zbm5,ui8t_i8n_i32t_za128_zb2", (17, 33, 65))
    sweep("qmatmul", "i8t_i8n_i8t_za3_zbm5_zc7_percolumn,i8n_i8t_i8t_za0_zb0_zc0_pertensor,"
          "ui8n_i8n_ui8t_za131_zb2_zc255_pertensor", (33, 65, 47))
    sweep("qmatmul", "i8,ui8", (1, 1, 1))

    # A program that forgets a zero point is rejected.
    problem = "qmatmul_8x32x64_i8t_i8t_i32t_za3_zbm5"
    flags = ["--operation-kind=qmatmul", "--problem-m=8", "--problem-n=32", "--problem-k=64", "--configurations=1"]
    folder = os.path.join(FOLDER, "forgotten")
    dispatch("forgotten", "generate", *flags, f"--dtypes={problem.split('_', 2)[2]}")
    path = os.path.join(folder, "generated", "linalg", "qmatmul", problem, problem + ".mlir")
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(text.replace("%zb = arith.constant -5", "%zb = arith.constant 0"))
    rows = dispatch("forgotten", "profile", exit_code=1)
    check("a zero point that is forgotten is named", {row["cause"] for row in rows} == {"wrong zero point"} and
          all("rhs without its zero point" in row["explanation"] for row in rows))


# More threads than there are processors are a row that did not start.
def threads():
    name = "matmul_33x47x65_f32t_f32t_f32t"
    dispatch("threads", "generate", "--operation-kind=matmul", "--dtypes=f32", "--problem-m=33", "--problem-n=47",
             "--problem-k=65", "--configurations=1")
    path = os.path.join(FOLDER, "threads", "generated", "linalg", "matmul", name, name + ".mlir")
    with open(path) as file:
        text = file.read()
    plain = text[text.index("tile_config_"):text.index("(")]
    with open(path, "w") as file:
        body = text[text.index("func.func"):text.rindex("}")]
        file.write("module {\n" + "".join(body.replace(plain, plain + suffix) for suffix in ("", "_t1", "_t4000")) +
                   "}\n")
    rows = dispatch("threads", "profile", exit_code=1)
    found = {row["dispatch"].rpartition("_")[2]: row for row in rows}
    check("a configuration with threads is verified", found["t1"]["Verification"] == "SUCCESS")
    check("and runs with so many", (found["t1"]["threads"], found["t1"]["config_threads"]) == ("1", "1"))
    check("more threads than processors do not start", "it asks for 4000 threads" in found["t4000"]["error"])


{"epilogues": epilogues, "slices": slices, "quantized": quantized, "threads": threads}[sys.argv[2]]()
sys.exit(1 if wrong else 0)
