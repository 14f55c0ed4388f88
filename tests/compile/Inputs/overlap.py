"""Runs a command under gdb and holds each thread that begins a kernel at its first instruction, while the others run on.
Succeeds when two threads are held at the same time. overlap.py KERNEL COMMAND..."""

import re
import signal
import subprocess
import sys

signal.alarm(60)  # where the second kernel waits for the first, nothing ever happens
gdb = subprocess.Popen(["gdb", "--nx", "--quiet", "--interpreter=mi3", "--args", *sys.argv[2:]], text=True,
                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for command in ("-gdb-set mi-async on", "-gdb-set non-stop on", "-gdb-set breakpoint pending on",
                f"-break-insert -f {sys.argv[1]}", "-exec-run"):
    print(command, file=gdb.stdin, flush=True)
held = set()
for line in gdb.stdout:
    if line.startswith("*stopped") and 'reason="breakpoint-hit"' in line:
        held.add(re.search(r'thread-id="(\d+)"', line)[1])
    if line.startswith("^error") or 'reason="exited' in line:
        print(line, end="")
        break
    if len(held) == 2:
        print("two threads have begun", sys.argv[1], "and neither has gone on")
        break
print("-gdb-exit", file=gdb.stdin, flush=True)
gdb.wait()
sys.exit(0 if len(held) == 2 else f"{len(held)} threads were in the kernel at a time")
