"""The lab's own tests on this machine: what bench/trust prints and what bench/run holds against bars."""

import csv
import os
import re
import statistics

import measure

SHAPE = {"m": 256, "n": 512, "k": 128}


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
        plain, slow = self.pair("slow", f"--kiln-debug-plant-delay={iterations}", seed)
        behind = int(slow["rank"].rstrip("=~")) > int(plain["rank"].rstrip("=~"))
        return behind, float(slow["call_median_ns"]) / float(plain["call_median_ns"]) - 1

    def delay_for(self, wanted):
        """Iterations of delay that make the code slower by that part: in the middle of ever more sweeps, since one sweep
        alone is wrong by up to half a percent."""
        iterations = 10000
        for sweeps in (1, 3, 9):
            seen = statistics.median(self.slowed(iterations, 1000 + 10 * sweeps + seed)[1] for seed in range(sweeps))
            iterations = max(1, round(iterations * wanted / max(seen, wanted / 20)))
        return iterations

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
