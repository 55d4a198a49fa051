"""Reads a trace file by dissect.etl, every value of every kernel event, or of every other event: prints their number, how many of them it
decodes, and the seconds.
Some of its manifests have types that it does not know; events of those are not decoded.

    python3 read_by_dissect.py FILE [manifest]
"""

import sys
import time

from dissect.etl import ETL
from dissect.etl.headers.system import SystemSpecificHeader

is_kernel = sys.argv[2:] != ["manifest"]
events = decoded = 0
start = time.perf_counter()
with open(sys.argv[1], "rb") as file:
    for record in ETL(file):
        if isinstance(record.header, SystemSpecificHeader) != is_kernel:
            continue
        events += 1
        try:
            # Its event_values() fails with the present dissect.cstruct, which renamed the attribute.
            values = getattr(record.event._struct, "__values__", None)
        except Exception:
            continue
        if values is not None:
            decoded += 1
            list(values.values())
print(events, decoded, time.perf_counter() - start)
