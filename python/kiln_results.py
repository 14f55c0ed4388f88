"""Reads a store of Kiln's lab (generated/results.db) with nothing but Python: rows(), rounds(), decode_samples().

    import kiln_results
    for row in kiln_results.rows("generated/results.db"):
        print(row["problem"], row["provider"], row["rank"], row["ms"])

docs/store.md has the tables and the format of samples. The file is opened read-only, also while it is written."""

import sqlite3
import urllib.parse


def connect(path):
    """A read-only connection whose rows can be asked by the names of their columns."""
    connection = sqlite3.connect(f"file:{urllib.parse.quote(path)}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    return connection


def rows(path, sql="SELECT * FROM dispatch ORDER BY problem, rank = 0, rank"):
    """The results of all finished groups as dictionaries: problem, provider, configuration, outcome, rank, ms, ..."""
    return [dict(row) for row in connect(path).execute(sql)]


def decode_samples(blob):
    """{"call": [ns, ...], "device": [...], "launch": [...]} of one round; each sums a batch of calls. "watched" is there
    where calls were watched: {"clock": name, "per_second": n, "call": [...], "submitted": [...], "started": [...],
    "ended": [...]}, a value for each of them."""
    if not blob or blob[0] not in (1, 2):
        raise ValueError("samples of an unknown format")
    numbers, value, shift = [], 0, 0
    for byte in blob[1:]:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(value)
            value = shift = 0
    numbers = iter(numbers)

    def times():
        previous, values = 0, []
        for _ in range(next(numbers)):
            zigzag = next(numbers)
            previous += (zigzag >> 1) ^ -(zigzag & 1)
            values.append(previous)
        return values

    samples = {part: times() for part in ("call", "device", "launch")}
    if blob[0] == 2:
        clock = "".join(chr(next(numbers)) for _ in range(next(numbers)))  # ASCII: a byte is a number
        samples["watched"] = {"clock": clock, "per_second": next(numbers),
                              **{part: times() for part in ("call", "submitted", "started", "ended")}}
    return samples


def rounds(path, grp, candidate):
    """Rounds of one row of `rows`, by its "grp" and "candidate", with their samples decoded."""
    sql = "SELECT * FROM round WHERE grp = ? AND candidate = ? ORDER BY idx"
    found = [dict(row) for row in connect(path).execute(sql, (grp, candidate))]
    return [{**row, "samples": decode_samples(row["samples"])} for row in found]
