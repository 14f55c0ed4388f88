"""Interrupts a sweep in its first problem, once by Ctrl-C alone: it ends within a second, says how to go on, leaves no
worker behind, and has kept the rounds that it measured; and another one while it compiles. interrupt.py FOLDER"""

import os
import signal
import sqlite3
import subprocess
import sys
import time

folder = sys.argv[1]
# One round takes seconds: it is not waited for.
command = ["kiln-dispatch", "sweep", "--operation-kind=matmul", "--dtypes=f32",
           "--problem-m=256", "--problem-n=256", "--problem-k=256", "--providers=kiln",
           "--benchmark-repetitions=1000"]
# Whoever started this may ignore Ctrl-C, and so would the sweep.
signal.signal(signal.SIGINT, signal.default_int_handler)
sweep = subprocess.Popen([*command, f"--generated-dir={folder}", "--configurations=12"], stdout=subprocess.PIPE, text=True, start_new_session=True)
store = f"{folder}/generated/results.db"


def rounds():
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as database:
            return database.execute("SELECT count(*) FROM round").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


while rounds() == 0 and sweep.poll() is None:
    time.sleep(0.1)
workers = subprocess.run(["pgrep", "-s", str(sweep.pid)], capture_output=True, text=True).stdout.split()
before = rounds()
began = time.monotonic()
sweep.send_signal(signal.SIGINT)
out, _ = sweep.communicate(timeout=60)
seconds = time.monotonic() - began
print(out, end="")
# What a busy machine adds is not counted against it.
print("exit code", sweep.returncode, "within a second:", seconds < 1.5)
print("rounds kept:", rounds() >= before > 0)
deadline = time.monotonic() + 10
while any(os.path.exists(f"/proc/{worker}") for worker in workers) and time.monotonic() < deadline:
    time.sleep(0.05)
print("left behind:", [worker for worker in workers if os.path.exists(f"/proc/{worker}")])

compiling = subprocess.Popen([*command, f"--generated-dir={folder}/other", "--configurations=64", "--force-compile"],
                             stdout=subprocess.PIPE, text=True, start_new_session=True)
while not subprocess.run(["pgrep", "-s", str(compiling.pid), "kiln-compile"], capture_output=True).stdout:
    time.sleep(0.05)
compiling.send_signal(signal.SIGINT)
out, _ = compiling.communicate(timeout=60)
print("while it compiles:", out.splitlines()[-1], "exit code", compiling.returncode)
