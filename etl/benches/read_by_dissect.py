"""Reads a trace file by dissect.etl, every value of every kernel event: prints their number, how many of them it decodes, and the seconds.
Some of its manifests have types that it does not know; events of those are not decoded.

    python3 read_by_dissect.py FILE
"""

import sys
import time

from dissect.etl import ETL
from dissect.etl.headers.system import SystemSpecificHeader

kernel = decoded = 0
start = time.perf_counter()
with open(sys.argv[1], "rb") as file:
    for record in ETL(file):
        if not isinstance(record.header, SystemSpecificHeader):
            continue
        kernel += 1
        try:
            # Its event_values() fails with the present dissect.cstruct, which renamed the attribute.
            values = getattr(record.event._struct, "__values__", None)
        except (KeyError, EOFError):
            continue
        if values is not None:
            decoded += 1
            list(values.values())
print(kernel, decoded, time.perf_counter() - start)
