"""Writes expected results beside corpus.test's programs, right and wrong ones, and looks at what was made of them."""
import csv
import os
import re
import struct
import sys


def save(path, numbers):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(numbers)},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(numbers)}f", *numbers))


def check(folder):
    with open(os.path.join(folder, "table.csv"), newline="") as file:
        rows = {row["Operation"]: row for row in csv.DictReader(file)}
    given, own = rows["corpus_add_4xf32_4xf32_4xf32"], rows["corpus_blocks_two_twice_7xi32_7xi32"]
    assert (given["Verification"], own["Verification"]) == ("SUCCESS", "self-consistent"), (given, own)
    golden, same = "golden: within 0.00024 of max(|x|, rms)", "self-consistent: the same numbers as an unoptimized build"
    # All passes, and not only the last: those of the operation come first.
    assert given["verification_method"] == (
        "exact: each element computed again in f64 and rounded once; passes: values + special; "
        + golden + "; passes: golden + golden, in other memory"), given
    assert own["verification_method"] == same + "; passes: random data + small integers", own
    assert float(given["flops"]) == 4 and given["GFLOPs"] != "", given
    for row in rows.values():
        known = row["Operation"].startswith(("corpus_add", "corpus_blocks_two_matmul"))
        assert known or (row["flops"] == "" and row["GFLOPs"] == "" and row["peak_percent"] == ""), row
        assert "verified" not in row["verification_method"], row
    with open(os.path.join(folder, "table.html")) as file:
        page = file.read()
    assert "self-consistent" in page and not re.search(r'"self-consistent[^"]*verified', page)


folder, what = sys.argv[1:]
if what == "check":
    check(folder)
elif what == "make":
    save(os.path.join(folder, "corpus", "add.in0.npy"), [1, 2, 3, 4])
    save(os.path.join(folder, "corpus", "add.in1.npy"), [0.5, 1, 1.5, 2])
    save(os.path.join(folder, "corpus", "add.out0.npy"), [1.5, 3, 4.5, 6])
else:
    save(os.path.join(folder, "one", "add.out0.npy"), [1.5, 3, 4.5, 7] if what == "wrong" else [1.5, 3, 4.5, 6, 0])
