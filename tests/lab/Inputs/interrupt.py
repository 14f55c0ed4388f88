"""Interrupts a sweep by Ctrl-C alone, in a call that takes minutes: it ends without it, says how to go on, leaves no worker
behind, and has kept the rounds that it measured before; and another one while it compiles.
interrupt.py FOLDER REPOSITORY"""

import os
import signal
import sqlite3
import subprocess
import sys
import time

folder, repository = sys.argv[1:]
# Minutes, once somebody wants them, which the worker says that it spends.
worker = f"""import os, sys, time
sys.path[:0] = {[os.path.join(repository, "python"), os.path.join(repository, "tests", "lab", "Inputs")]!r}
import kiln_worker
from small_matmul import SmallMatmul


class Slow(SmallMatmul):
    def call(self, index):
        if os.path.exists("{folder}/wanted"):
            open("{folder}/spent", "w").close()
            time.sleep(600)
        self.run(index)


kiln_worker.serve(Slow("slow"))
"""
with open(f"{folder}/slow.py", "w") as file:
    file.write(worker)

sweep = ["kiln-dispatch", "sweep", "--operation-kind=matmul", "--dtypes=f32", "--threads=1"]
# Whoever started this may ignore Ctrl-C, and so would the sweep.
signal.signal(signal.SIGINT, signal.default_int_handler)
first = subprocess.Popen([*sweep, f"--generated-dir={folder}", "--problem-m=8", "--problem-n=8", "--problem-k=8",
                          "--providers=kiln", "--configurations=2", "--benchmark-repetitions=100000", "--timeout=600",
                          f"--provider-command=slow={sys.executable} {folder}/slow.py"],
                         stdout=subprocess.PIPE, text=True, start_new_session=True)
store = f"{folder}/generated/results.db"


def rounds():
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as database:
            return database.execute("SELECT count(*) FROM round").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


while rounds() == 0 and first.poll() is None:
    time.sleep(0.1)
before = rounds()
open(f"{folder}/wanted", "w").close()
while not os.path.exists(f"{folder}/spent") and first.poll() is None:
    time.sleep(0.05)
workers = subprocess.run(["pgrep", "-s", str(first.pid)], capture_output=True, text=True).stdout.split()
first.send_signal(signal.SIGINT)
# It takes a second, and longer on a busy machine; the call would take ten minutes.
out, _ = first.communicate(timeout=60)
print(out, end="")
print("exit code", first.returncode)
print("rounds kept:", rounds() >= before > 0)
deadline = time.monotonic() + 60
while any(os.path.exists(f"/proc/{worker}") for worker in workers) and time.monotonic() < deadline:
    time.sleep(0.05)
print("left behind:", [worker for worker in workers if os.path.exists(f"/proc/{worker}")])

compiling = subprocess.Popen([*sweep, f"--generated-dir={folder}/other", "--problem-m=256", "--problem-n=256", "--problem-k=256",
                              "--providers=kiln", "--configurations=64", "--force-compile"],
                             stdout=subprocess.PIPE, text=True, start_new_session=True)
while not subprocess.run(["pgrep", "-s", str(compiling.pid), "kiln-compile"], capture_output=True).stdout:
    time.sleep(0.05)
compiling.send_signal(signal.SIGINT)
out, _ = compiling.communicate(timeout=60)
print("while it compiles:", out.splitlines()[-1], "exit code", compiling.returncode)
