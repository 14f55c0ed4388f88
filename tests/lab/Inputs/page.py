"""For page.test: makes rows of a store noisy, and compares the tables of a page, as the browser made them, with the
console's."""
import html.parser
import re
import sqlite3
import sys


class Tables(html.parser.HTMLParser):
    """Each table as a list of rows, of texts."""

    def __init__(self):
        super().__init__()
        self.tables, self.inside = [], False

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append([])
        elif tag in ("td", "th") and self.tables:
            self.tables[-1][-1].append("")
            self.inside = True

    def handle_endtag(self, tag):
        self.inside &= tag not in ("td", "th")

    def handle_data(self, data):
        if self.inside:
            self.tables[-1][-1][-1] += data


def noisy(path):
    with sqlite3.connect(path) as store:
        for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            store.execute(f"DROP TRIGGER {name}")  # facts of a store are never changed, but for a test
        store.execute("UPDATE estimate SET low = median * 0.7, high = median * 1.4")


def compare(page, console):
    parser = Tables()
    with open(page, encoding="utf-8") as file:
        parser.feed(file.read())
    overview, candidates = parser.tables[0], parser.tables[1]
    first = dict(zip(overview[0], overview[1]))
    head = candidates[0]
    kiln = next(dict(zip(head, row)) for row in candidates[1:] if dict(zip(head, row))["Provider"] == "kiln")
    with open(console, encoding="utf-8") as file:
        lines = file.read().splitlines()
    title = next(line for line in lines if re.match(r" +Rank ", line))
    row = next(line for line in lines if re.match(r" +\d+[=~]? +kiln ", line))
    end = title.index("%best") + len("%best")
    told = row[:end].split()[-1]
    assert first["Problem"] == lines[0], (first, lines[0])
    assert first["%best"] == kiln["%best"] == told, (first, kiln, told)
    assert first["Noise"] == kiln["Noise"] == "noisy" and " noisy " in row, (first, kiln, row)


if sys.argv[1] == "noisy":
    noisy(sys.argv[2])
else:
    compare(sys.argv[2], sys.argv[3])
