"""What the tables of gpu-configurations.test and gpu-classes.test say."""
import csv
import sys


def rows(name):
    with open(name + ".csv") as file:
        return list(csv.DictReader(file))


def check_steps():
    (row,) = rows("steps")
    assert row["Tile config"] == "32x32_64x8" and row["Core class"] == "tensorcore", row
    assert row["Instruction class"] == "mmasync" and row["Verification"] == "SUCCESS" and row["Runtime(ms)"], row
    assert not row["arithmetic"], row


def check_classes():
    found = rows("classes")
    assert {row["instruction_class"] for row in found} == {"simt_ffma", "tensorcore_mmasync", "tensorcore_wgmma", "tensorcore_wmma"}, found
    assert all(row["outcome"] == "ok" and not row["arithmetic"] for row in found), found


def check_tf32():
    groups = {}  # each has ranks of its own
    for row in rows("tf32"):
        assert row["outcome"] == "ok" and row["Operation"] == "matmul_32x32x32_f32t_f32t_f32t", row
        assert (row["arithmetic"] == "tf32") == row["instruction_class"].startswith("tensorcore"), row
        assert ("products in tf32" in row["verification_method"]) == (row["arithmetic"] == "tf32"), row
        groups.setdefault(row["arithmetic"], []).append(row["rank"])
    assert sorted(groups) == ["", "tf32"], groups
    assert all(len(ranks) == 2 and ranks[0].startswith("1") for ranks in groups.values()), groups


for name in sys.argv[1:]:
    globals()[f"check_{name}"]()
