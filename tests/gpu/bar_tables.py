"""Tables of Markdown from the records that `bars` stores. Records are raw: times of all rounds, readings of all turns; what the tables
show is computed here."""

import statistics

import tools
from bar_programs import BARS, GROUPS

BAR_COLUMNS = ["program", "Kiln µs", "rate", "spread", "MHz", "W", "rival", "µs", "rate", "MHz", "W", "ratio", "bar", "besides, µs"]
CALL_COLUMNS = ["call", "Kiln µs", "PyTorch µs", "ratio", "bar µs"]
COMPILE_COLUMNS = ["compiling", "s", "bar s"]


def key(record):
    return record["kind"], record["name"], record.get("configuration", "default")


def is_of(record, here):
    """Whether the record is of the same GPU, architecture and tools."""
    return all(record[each] == here[each] for each in ("gpu", "arch", "bundle"))


def line(cells):
    return f"| {' | '.join(cells)} |"


def rate(record, seconds):
    return f"{record['work'] * 1e-12 / seconds:.0f} TFLOP/s" if record["work"] else f"{record['bytes'] * 1e-9 / seconds:.0f} GB/s"


def medians(record):
    return {side: statistics.median(times) for side, times in record["times"].items() if times}


def rival(record):
    """The fastest of those that count."""
    times = medians(record)
    return min((name for name in record["rivals"] if name in times), key=times.get)


def ratio(record):
    times = medians(record)
    return times[rival(record)] / times["kiln"]


def clock_cells(record, side):
    readings = record["clocks"].get(side)
    return [f"{statistics.median(values):.0f}" for values in zip(*readings)] if readings else ["", ""]


def name_of(record):
    configuration = record.get("configuration", "default")
    return record["name"] + (f", `{configuration}`" if configuration != "default" else "")


def row(record):
    error = " ".join(record["error"].split()).replace("|", "/")[:300]
    if error:
        return line([name_of(record), error])
    times = medians(record)
    if record["kind"] == "compile":
        return line([record["name"], f"{times['kiln']:.2f}", f"{record['most']:.1f}"])
    if record["kind"] == "call":
        ours, theirs = times["kiln"], times["rival"]
        return line([record["name"], f"{ours * 1e6:.2f}", f"{theirs * 1e6:.2f}", f"{theirs / ours:.2f}", f"{record['most']:.2f}"])
    ours, best = times["kiln"], rival(record)
    spread = (max(record["times"]["kiln"]) - min(record["times"]["kiln"])) / ours
    besides = [f"{name} {times[name] * 1e6:.2f}" for name in record["rivals"] if name in times and name != best]
    if "beside" in times:
        besides.append(f"PyTorch's own, compiled {times['beside'] * 1e6:.2f}")
    return line([name_of(record), f"{ours * 1e6:.2f}", rate(record, ours), f"{spread:.0%}", *clock_cells(record, "kiln"),
                 best, f"{times[best] * 1e6:.2f}", rate(record, times[best]), *clock_cells(record, best), f"{ratio(record):.2f}",
                 f"{record['least']:.2f}" if record["least"] else "", ", ".join(besides)])


def mean_row(group, records):
    """The geometric mean of a group's ratios, which says of how many where not all are measured."""
    name, least = GROUPS[group]
    ratios = [ratio(record) for record in records if record["group"] == group and not record["error"]]
    if not ratios:
        return []
    count = sum(bar.group == group for bar in BARS)
    counted = f"{count}" if len(ratios) == count else f"{len(ratios)} of {count}"
    return [line([f"**geometric mean of {counted} {name}**", *[""] * (len(BAR_COLUMNS) - 4), f"{tools.geometric_mean(ratios):.3f}", f"{least:.2f}", ""])]


def heading(records):
    """GPU, versions, clocks and dates of all records."""
    def all_of(name):
        return ", ".join(sorted({record[name] for record in records if record[name]}))
    mhz = [reading[0] for record in records for readings in record["clocks"].values() for reading in readings]
    dates = sorted(record["date"] for record in records)
    when = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    return (f"{all_of('gpu')}, driver {all_of('driver') or 'unknown'}, CUDA {all_of('cuda')}, PyTorch {all_of('torch')}, {all_of('kiln')} "
            f"(tools {all_of('bundle')}) for {all_of('arch')}, SM clock {f'{min(mhz):.0f} to {max(mhz):.0f} MHz' if mhz else 'unknown'}, {when} UTC")


def tables(records, here):
    """Lines of all tables of one GPU, architecture and tools: the last record of each row, in the order of the programs."""
    last = {key(record): record for record in records if is_of(record, here)}
    order = {bar.name: i for i, bar in enumerate(BARS)}
    kept = sorted(last.values(), key=lambda record: order.get(record["name"], len(order)))
    if not kept:
        return ["nothing is measured"]
    lines = [heading(kept)]

    def table(columns, rows, means=()):
        if rows:
            lines.extend(["", line(columns), line(["---"] * len(columns)), *map(row, rows), *means])
    bars = [record for record in kept if record["kind"] == "bar"]
    own = [record for record in bars if record["configuration"] == "default"]
    table(BAR_COLUMNS, own, [each for group in GROUPS for each in mean_row(group, own)])
    compared = {record["name"] for record in bars if record not in own}
    table(["configuration of a program", *BAR_COLUMNS[1:]], [record for record in bars if record["name"] in compared])
    table(CALL_COLUMNS, [record for record in kept if record["kind"] == "call"])
    table(COMPILE_COLUMNS, [record for record in kept if record["kind"] == "compile"])
    return lines
