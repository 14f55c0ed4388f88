"""What gpu-tune.test leaves: the entry is the best of the final run's rows, and the compiler takes it for its architecture alone."""
import csv
import glob
import json
import sys


def entries(name):
    with open(name) as file:
        return [json.loads(line) for line in file]


def taken(architecture):
    (path,) = glob.glob(f"keys_{architecture}/*.json")
    with open(path) as file:
        return json.load(file)


def check_best():
    (entry,) = entries("tuned.json")
    with open("final.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 and all(row["outcome"] == "ok" and row["Verification"] == "SUCCESS" for row in rows), rows
    assert {row["instruction_class"] for row in rows} >= {"simt_ffma", "tensorcore_mmasync", "tensorcore_wgmma"}, rows
    times = {row["configuration"]: float(row["call_median_ns"]) for row in rows}
    best = min(times, key=times.get)
    assert best != "tile_config_default" and entry["configuration"] == best, (best, entry)
    assert entry["target"] == "cuda sm_90a" and entry["threads"] == 1, entry
    assert entry["measured"]["device"].endswith("(cuda-sim://0)"), entry
    assert abs(entry["measured"]["to_default"] - times[best] / times["tile_config_default"]) < 0.05, entry


def check_taken():
    # The exact problem may have an entry by now, too.
    (entry,) = (each for each in entries("tuned.json") if each["measured"]["problem"].startswith("matmul_64x64x64_f16"))
    here = taken("sm_90a")
    assert here["configuration"] == entry["configuration"] and here["source"] == "tuning-db", here
    for architecture in ("sm_80", "sm_90"):
        elsewhere = taken(architecture)
        assert elsewhere["operation"] == entry["operation"] and elsewhere["target"] == f"cuda {architecture}", elsewhere
        assert elsewhere["source"] == "default", elsewhere


def check_exact():
    found = entries("tuned.json")
    assert any(each["measured"]["problem"].startswith("matmul_64x64x64_f16") for each in found), "entries of other problems stay"
    for path in glob.glob("exact.csv"):
        with open(path) as file:
            rows = list(csv.DictReader(file))
    assert rows and all(row["outcome"] == "ok" and not row["arithmetic"] for row in rows), rows
    assert not any("tensorcore" in row["instruction_class"] for row in rows), rows
    assert not any("tensorcore" in entry["configuration"] for entry in found if "f32t_f32t" in entry["measured"]["problem"]), found


for name in sys.argv[1:]:
    globals()[f"check_{name}"]()
