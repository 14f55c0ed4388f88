"""The lab's own tests on this machine: what bench/trust prints and what bench/run holds against bars."""

import csv
import json
import os
import re
import statistics
import sys

import measure

sys.path.insert(0, os.path.join(measure.REPO, "python"))
import kiln_results

SHAPE = {"m": 256, "n": 512, "k": 128}
RUN_SIZES = (128, 256)  # rows of the products whose runs are compared


class Lab:
    """Sweeps in a folder of their own. What is compiled once is there for all of them."""

    def __init__(self, build, folder, threads=1):
        self.build, self.folder, self.threads = build, folder, threads

    def table(self, *flags):
        """Runs a sweep; returns its rows and what it said."""
        path = os.path.join(self.folder, "table.csv")
        said = self.build.run("kiln-dispatch", "sweep", f"--generated-dir={self.folder}", "--operation-kind=matmul",
                              "--dtypes=f32", f"--threads={self.threads}", "--no-default-config", "--fresh", f"--output={path}",
                              *flags)
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        if any(row["outcome"] != "ok" for row in rows):
            raise measure.Failed(f"a candidate of the sweep is not ok: {rows}")
        return rows, said

    def pair(self, variant, flags, seed):
        """Ranks the plain code and the variant; returns their rows."""
        rows, _ = self.table(*[f"--problem-{name}={size}" for name, size in SHAPE.items()], "--configurations=1",
                             "--providers=kiln", f"--compiler-variant={variant}={flags}", f"--seed={seed}")
        by_name = {row["variant"]: row for row in rows}
        return by_name[""], by_name[variant]

    def same_code(self, seed):
        """Whether the same code ties with itself, and by what part of its time the two differ."""
        plain, again = self.pair("again", "", seed)
        return plain["rank"].rstrip("=~") == again["rank"].rstrip("=~"), float(again["call_median_ns"]) / float(plain["call_median_ns"]) - 1

    def slowed(self, iterations, seed):
        """Whether code with so many iterations of delay is ranked behind, and by what part it is slower."""
        plain, slow = self.pair("slow", f"{self.build.program('kiln-lying-compile')} --kiln-debug-plant-delay={iterations}", seed)
        behind = int(slow["rank"].rstrip("=~")) > int(plain["rank"].rstrip("=~"))
        return behind, float(slow["call_median_ns"]) / float(plain["call_median_ns"]) - 1

    def stored_run(self, delay):
        """Measures the plain code, with so many iterations of delay, beside all libraries; returns the run's name. The flag
        stands also where there is no delay: without it, the module would be known for the same and serve as a control."""
        flags = ([f"--compiler={self.build.program('kiln-lying-compile')}", f"--Xcompiler=--kiln-debug-plant-delay={delay}"]
                 if delay is not None else [])
        _, said = self.table(f"--problem-m={','.join(map(str, RUN_SIZES))}", "--problem-n=256", "--problem-k=128",
                             "--configurations=1", "--benchmark-repetitions=20", *flags)
        found = re.search(r"as\s+run\s+([0-9a-f]{8})", said)
        if not found:
            raise measure.Failed(f"the sweep does not say which run it is: {said}")
        return found.group(1)

    def run_delay_for(self, wanted):
        """Iterations of delay that make the dispatches of stored_run slower by that part, from one run with many."""
        iterations = 20000
        seen = self.between([self.stored_run(None)], [self.stored_run(iterations)])
        ratios = [row["ratio"] - 1 for row in seen["dispatches"] if row["provider"] == "kiln"]
        return max(1, round(iterations * wanted / max(statistics.mean(ratios), wanted / 20)))

    def between(self, before, after):
        """What compare says of lists of runs, each with a regression wherever there is any: its JSON."""
        said = self.build.run("kiln-dispatch", "compare", f"--generated-dir={self.folder}", ",".join(before), ",".join(after),
                              "--threshold=0", "--format=json", allowed=(0, 1))
        return json.loads(said)["comparisons"][0]

    def delay_for(self, wanted):
        """Iterations of delay that make the code slower by that part: in the middle of ever more sweeps, since one sweep
        alone is wrong by up to half a percent."""
        iterations = 10000
        for sweeps in (1, 3, 9):
            seen = statistics.median(self.slowed(iterations, 1000 + 10 * sweeps + seed)[1] for seed in range(sweeps))
            iterations = max(1, round(iterations * wanted / max(seen, wanted / 20)))
        return iterations

    def watching_costs(self, n):
        """By how many percent calls of a product take longer when the times of their device are told."""
        self.table(*[f"--problem-{name}={n}" for name in "mnk"], "--configurations=1", "--providers=kiln")
        store = os.path.join(self.folder, "generated", "results.db")
        row = kiln_results.rows(store, f"SELECT * FROM dispatch WHERE provider = 'kiln' AND problem LIKE 'matmul_{n}x{n}x{n}_%'")[-1]
        plain, seen = [], []
        for one in kiln_results.rounds(store, row["grp"], row["candidate"]):
            plain += [ns / one["batch"] for ns in one["samples"]["call"]]
            seen += one["samples"].get("watched", {}).get("call", [])
        if not seen:
            raise measure.Failed("no calls were watched")
        return 100 * (statistics.median(seen) / statistics.median(plain) - 1)

    def checking_costs(self, m, n, k, runs):
        """By how many percent the rounds of a product by OpenBLAS, or by plain loops, take longer with timed calls
        checked."""
        worker = self.build.program("kiln-lab-worker")
        listed = self.build.run("kiln-lab-worker", "--list_providers").splitlines()
        installed = any(line.split()[:1] == ["openblas"] and "not available" not in line for line in listed)
        pairs = self.build.run("check_cost", worker, "openblas" if installed else "reference",
                               f"matmul_{m}x{n}x{k}_f32t_f32t_f32t", str(runs)).splitlines()
        return [100 * (checked / plain - 1) for checked, plain in (map(float, pair.split()) for pair in pairs)]

    def product_seconds(self, n):
        """The fastest NxNxN product in f32 on two threads, of Kiln and all libraries that are installed."""
        rows, _ = Lab(self.build, self.folder, threads=2).table(
            *[f"--problem-{name}={n}" for name in "mnk"], "--configurations=1", "--cache=warm",
            "--benchmark-repetitions=3")
        return min(float(row["call_median_ns"]) for row in rows) / 1e9

    def verdict_seconds(self, n, runs):
        """What verifying such a product takes, on two threads: all passes, with inputs and prefilled outputs."""
        return float(self.build.run("verdict_cost", str(n), str(runs)).split()[3])

    def agreement(self, *flags):
        """Of two runs of the same sweep, the rows in which each median lies in the other's interval or within 2 %; and all."""
        first, second = ({(row["Provider"], row["variant"], row["Operation"], row["Tile config"]): row
                          for row in self.table(*flags)[0]} for _ in range(2))

        def agree(a, b):
            x, y = float(a["call_median_ns"]), float(b["call_median_ns"])
            inside = (float(b["call_low_ns"]) <= x <= float(b["call_high_ns"]) and
                      float(a["call_low_ns"]) <= y <= float(a["call_high_ns"]))
            return inside or abs(x / y - 1) <= 0.02

        if first.keys() != second.keys():
            raise measure.Failed("two runs of one sweep have different rows")
        return sum(agree(first[key], second[key]) for key in first), len(first)


def busy_share(said):
    """The percentage of a sweep's time in which it compiled or timed, as it says of itself."""
    found = re.search(r"s: (\d+) % compiling, (\d+) % timed", said)
    if not found:
        raise measure.Failed(f"the sweep does not say how its time was spent: {said}")
    return sum(map(float, found.groups()))
