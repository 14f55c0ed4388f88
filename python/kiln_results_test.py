"""Reads a store that the build's kiln_store_sample wrote: kiln_results_test.py PROGRAM"""

import os
import subprocess
import sys
import tempfile
import unittest

try:
    import sqlite3  # some Pythons are built without it
except ImportError:
    sys.exit(77)

import kiln_results

PROGRAM = sys.argv.pop() if len(sys.argv) > 1 else None


class KilnResults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "with space #1.db")
        subprocess.run([PROGRAM, cls.path, "2", "12"], check=True)
        cls.rows = kiln_results.rows(cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_rows(self):
        self.assertEqual(len(self.rows), 2 * 16)
        best = [row for row in self.rows if row["rank"] == 1]
        self.assertEqual(len({row["problem"] for row in best}), 2)
        for row in best:
            self.assertEqual(row["outcome"], "ok")
            self.assertAlmostEqual(row["gflops"], 170 * 0.62 / 0.97, delta=2)
        self.assertEqual({row["outcome"] for row in self.rows}, {"ok", "incorrect", "crashed", "timeout", "unsupported"})

    def test_samples_agree_with_the_estimate(self):
        for row in self.rows:
            rounds = kiln_results.rounds(self.path, row["grp"], row["candidate"])
            self.assertEqual(len(rounds), 4 if row["outcome"] == "ok" else 0)
            calls = sorted(time for round in rounds for time in round["samples"]["call"])
            if calls:
                self.assertEqual(len(calls), row["samples"])
                self.assertAlmostEqual(calls[len(calls) // 2] / 1e6, row["ms"], delta=row["ms"] * 0.05)
            for round in rounds:
                parts = round["samples"]
                if row["provider"] == "kiln":
                    self.assertEqual([d + l for d, l in zip(parts["device"], parts["launch"])], parts["call"])
                else:
                    self.assertEqual((parts["device"], parts["launch"]), ([], []))

    def test_the_documented_bytes(self):
        blob = bytes.fromhex("01 03 c801 01 9203 00 01 01")
        self.assertEqual(kiln_results.decode_samples(blob), {"call": [100, 99, 300], "device": [], "launch": [-1]})
        watched = bytes.fromhex("02 01 08 00 00 01 74 e807 01 0a 00 01 04 01 0c")
        self.assertEqual(kiln_results.decode_samples(watched)["watched"],
                         {"clock": "t", "per_second": 1000, "call": [5], "submitted": [], "started": [2], "ended": [6]})
        with self.assertRaises(ValueError):
            kiln_results.decode_samples(b"\x03")

    def test_nothing_is_written(self):
        with self.assertRaises(sqlite3.OperationalError):
            kiln_results.connect(self.path).execute("DELETE FROM round")


if __name__ == "__main__":
    unittest.main()
