"""Kills a sweep in its second problem, and gives the same command again: the first problem is not repeated, the second is,
and no worker outlives the first attempt. A copy of the store of that moment is merged before, and the store afterwards: both
are one store then. resume.py FOLDER"""

import os
import shutil
import subprocess
import sys
import time

folder = sys.argv[1]
command = ["kiln-dispatch", "sweep", f"--generated-dir={folder}", "--operation-kind=matmul", "--dtypes=f32", "--problem-m=64,96",
           "--problem-n=64", "--problem-k=64", "--configurations=2", "--no-default-config", "--providers=kiln",
           "--benchmark-repetitions=40"]
first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
for line in first.stdout:
    if line.startswith("[2/2]"):
        break
time.sleep(0.5)
# Between two turns there is none.
workers = []
while not workers and first.poll() is None:
    workers = subprocess.run(["pgrep", "-P", str(first.pid)], capture_output=True, text=True).stdout.split()
first.kill()
first.wait()
deadline = time.monotonic() + 10
while any(os.path.exists(f"/proc/{worker}") for worker in workers) and time.monotonic() < deadline:
    time.sleep(0.05)
left = [worker for worker in workers if os.path.exists(f"/proc/{worker}")]
print(f"{len(workers)} workers when it was killed, {len(left)} after")



def merge(store):
    done = subprocess.run(["kiln-dispatch", "merge", f"--db={folder}/all.db", store], capture_output=True, text=True)
    print(done.stdout, done.stderr, sep="", end="")


def facts(store):
    counts = "SELECT " + ", ".join(f"(SELECT count(*) FROM {table})" for table in ("run", "grp", "result", "round"))
    return subprocess.run(["kiln-dispatch", "query", f"--db={store}", counts], capture_output=True, text=True).stdout


for end in ("", "-wal"):
    if os.path.exists(f"{folder}/generated/results.db{end}"):
        shutil.copy(f"{folder}/generated/results.db{end}", f"{folder}/copy.db{end}")
merge(f"{folder}/copy.db")
second = subprocess.run(command, capture_output=True, text=True)
print(second.stdout, end="")
print(second.stderr, end="", file=sys.stderr)
merge(f"{folder}/generated/results.db")
print("the same facts:", facts(f"{folder}/all.db") == facts(f"{folder}/generated/results.db"))
sys.exit(second.returncode or len(left))
