"""Kills a sweep in its second problem, and gives the same command again: with the same program, with a script that has
changed, and with another script of the same provider. resume_programs.py FOLDER REPOSITORY"""

import os
import sqlite3
import subprocess
import sys

folder, repository = sys.argv[1:]
folders = [os.path.join(repository, "python"), os.path.join(repository, "tests", "lab", "Inputs")]
worker = f"""import sys
sys.path[:0] = {folders!r}
import kiln_worker
from small_matmul import SmallMatmul
kiln_worker.serve(SmallMatmul("x"))
"""


def write(name, comment):
    with open(f"{folder}/{name}", "w") as file:
        file.write(worker + comment)


def sweep(script):
    return ["kiln-dispatch", "sweep", f"--generated-dir={folder}", "--operation-kind=matmul", "--dtypes=f32",
            "--problem-m=4,8", "--problem-n=8", "--problem-k=8", "--providers=none",
            f"--provider-command=x=python3 {folder}/{script}", "--benchmark-repetitions=20", "--cache=warm"]


def ask(question):
    with sqlite3.connect(f"file:{folder}/generated/results.db?mode=ro", uri=True) as database:
        return database.execute(question).fetchall()


def kill_in(problem, what, script):
    """Ends the sweep as soon as it has begun the problem, and says which one it measured first."""
    process = subprocess.Popen(sweep(script), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    begun, notes = [], []
    for line in process.stdout:
        if "unfinished" in line:
            notes.append(line)
        if line.startswith("["):
            begun.append(line.split()[0])
        if line.startswith(problem):
            break
    process.kill()
    process.wait()
    runs = ask("SELECT count(*) FROM run")[0][0]
    if what:
        print(f"{what}: {runs} run{'s' if runs > 1 else ''}, {begun[0] if begun else 'nothing'} is measured")
    print("".join(notes), end="")


write("one.py", "")
write("two.py", "# another")
kill_in("[2/2]", "", "one.py")
kill_in("[2/2]", "the same script", "one.py")
write("one.py", "# changed")
kill_in("[2/2]", "a changed script", "one.py")
kill_in("[2/2]", "another command", "two.py")
last = subprocess.run(sweep("two.py"), capture_output=True, text=True)
told = [line for line in last.stdout.splitlines() if "measured before" in line]
print(f"to the end: exit code {last.returncode}, {''.join(told)}")
programs = ask("SELECT count(DISTINCT c.module_hash) FROM run u JOIN grp g ON g.run = u.key "
               "JOIN candidate c ON c.problem = g.problem JOIN round r ON r.grp = g.key AND r.candidate = c.key "
               "GROUP BY u.key")
print("programs of each run:", *(count for count, in programs))
