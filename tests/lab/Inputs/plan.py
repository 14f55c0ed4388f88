"""How long sweeps and tunings take, beside what they say that they will. plan.py FOLDER"""

import os
import re
import subprocess
import sys
import time

# What the word "about" leaves to a machine that is slower than those whose times the plan knows, or busier.
kAbout = 1.5
folder = sys.argv[1]
shape = ["--operation-kind=matmul", "--dtypes=f32", "--threads=1"]


def sizes(m, n, k):
    return [f"--problem-m={m}", f"--problem-n={n}", f"--problem-k={k}"]


def run(*arguments, codes=(0,)):
    begun = time.monotonic()
    done = subprocess.run(["kiln-dispatch", *arguments, f"--generated-dir={folder}"], capture_output=True, text=True)
    assert done.returncode in codes, done.stdout + done.stderr
    return done.stdout, time.monotonic() - begun


def seconds(text):
    number, unit = re.fullmatch(r"([0-9.]+) (s|minutes?)", text).groups()
    return float(number) * (1 if unit == "s" else 60)


def plan(name, *arguments):
    said, took = run("sweep", *shape, *arguments, codes=(0, 1))  # time may be up before there is a time of each
    line = re.search(r"^about (.*)$", said, re.M).group(1)
    least, _, most = line.partition(" to ")
    fits = seconds(least) <= took + 1 and took <= kAbout * seconds(most or least)
    print(f"{name}: {'as it was said' if fits else f'said {line}, took {took:.1f} s'}")


plan("short rounds", *sizes(30, 48, 40), "--minutes=2s")
worker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "slow_worker.py")
command = f"{sys.executable} {worker}"
plan("slow starts", *sizes("5,6", 7, 8), "--minutes=1s", "--configurations=2", f"--provider-command=a={command}",
     f"--provider-command=b={command}", "--cache=warm")

# What is under way is brought to its end, and then there is a report.
for budget in (10, 14):
    said, took = run("tune", *shape, *sizes(24, budget, 64), f"--budget-minutes={budget}s")
    assert f"at most about {budget} s\n" in said, said
    print("tuning:", "in its time" if took <= 1.15 * budget + 4 else f"took {took:.1f} s of {budget} s\n{said}")
