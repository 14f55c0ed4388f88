"""Sweeps two problems on a device that fails one candidate of the first: kills the sweep in the second problem, and gives the
same command again.

    lost_device.py FOLDER SETTINGS      SETTINGS of a discrete device, such as lose-at=50"""
import csv
import os
import shutil
import stat
import subprocess
import sys
import time

folder, settings = sys.argv[1:]
victim = "matmul_16x24x40_f32t_f32t_f32t_tile_config_default"
tools = os.path.join(folder, "tools")
os.makedirs(tools)
# The lab starts the worker that lies beside it.
for name in ("kiln-dispatch", "kiln-compile"):
    path = os.path.realpath(shutil.which(name))
    shutil.copy(path, tools) if name == "kiln-dispatch" else os.symlink(path, os.path.join(tools, name))
worker = os.path.join(tools, "kiln-lab-worker")
with open(worker, "w", encoding="utf-8") as file:
    here, real = os.path.dirname(os.path.abspath(__file__)), os.path.realpath(shutil.which("kiln-lab-worker"))
    file.write(f'#!/bin/sh\nexec {sys.executable} {here}/losing_worker.py {settings} {victim} {real} "$@"\n')
os.chmod(worker, stat.S_IRWXU)

command = [os.path.join(tools, "kiln-dispatch"), "sweep", "--device=discrete://delay-us=0", "--operation-kind=matmul", "--dtypes=f32",
           "--problem-m=16,32", "--problem-n=24", "--problem-k=40", "--configurations=1", "--benchmark-repetitions=5",
           f"--generated-dir={folder}", f"--output={folder}/rows.csv"]
first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
for line in first.stdout:
    print("first:", line, end="")
    if line.startswith("[2/2]"):
        break
time.sleep(0.2)
first.kill()
first.wait()
second = subprocess.run(command, capture_output=True, text=True)
print(second.stdout, second.stderr, f"exit code {second.returncode}", sep="")
with open(f"{folder}/rows.csv", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
assert len(rows) == 4, rows
for row in rows:
    is_victim = row["dispatch"] == victim
    # Times on a busy machine may accuse a worker, but it has run.
    assert (row["outcome"] == "failed") == is_victim and (is_victim or row["outcome"] in ("ok", "unsupported")), row
