"""What the tables of device-sweep.test say of each row that was measured."""
import csv
import sys

for name in ("sim", "steps", "discrete"):
    rows = list(csv.DictReader(open(name + ".csv")))
    assert rows, name
    for row in rows:
        assert row["provider"] == "kiln" and row["outcome"] == "ok", row
        call, device, launch = (float(row[column]) for column in ("call_median_ns", "device_median_ns", "launch_median_ns"))
        # The ranked time is the device's own; awaiting each call takes more.
        assert 0.99 * device <= call <= 1.01 * device and launch >= 0, (call, device, launch)
        assert not row["peak_percent"], "the CPU's peak says nothing of a device"
        note = row["provider_note"]
        assert "timed by the device's clock, " in note and "copied" in note, note
        assert ("each batch of calls as a graph" in note) == (name != "discrete"), note
        assert ("counts what it executes" in note) == (name != "discrete"), note
