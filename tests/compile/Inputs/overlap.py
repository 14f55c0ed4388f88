"""Reads `perf script -F tid,time,ip,sym` and checks that two threads were in the same kernel during the same time: the spans
from their first to their last sample there intersect. Run one after the other, dispatches give disjoint spans."""

import re
import sys

spans = {}
for line in sys.stdin:
    match = re.match(r"\s*(\d+)\s+([\d.]+):\s+[0-9a-f]+\s+two_dispatch_0_", line)
    if match:
        thread, time = match[1], float(match[2])
        first, last = spans.get(thread, (time, time))
        spans[thread] = (min(first, time), max(last, time))
if len(spans) != 2:
    sys.exit(f"{len(spans)} threads ran the dispatches, not two")
(a, b), (c, d) = spans.values()
shared, total = min(b, d) - max(a, c), max(b, d) - min(a, c)
print(f"of {1000 * total:.0f} ms, both dispatches were under way in {1000 * shared:.0f} ms")
if shared <= 0:
    sys.exit("the dispatches ran one after the other")
