"""Reads trace files by dissect.etl, and holds each against a list of its events: size and time, in file order.

    python3 read_by_dissect.py FOLDER       for each NAME.etl of the folder there is a NAME.tsv
"""

import pathlib
import sys

from dissect.etl import ETL

wrong = files = 0
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.etl")):
    lines = path.with_suffix(".tsv").read_text().splitlines()
    expected = [tuple(map(int, line.split("\t"))) for line in lines]
    with path.open("rb") as file:
        etl = ETL(file)
        seen = [(record.size, etl.get_filetime_for_event(record.header.time_delta)) for record in etl]
    files += 1
    if len(seen) != len(expected):
        print(f"{path.name}: {len(seen)} events instead of {len(expected)}")
        wrong += 1
    for index, (ours, theirs) in enumerate(zip(expected, seen)):
        # It computes times in floating point, whose numbers are 16 apart here.
        if ours[0] != theirs[0] or abs(ours[1] - theirs[1]) > 16:
            print(f"{path.name}: event {index} is {theirs} instead of {ours}")
            wrong += 1
            break
print(f"dissect.etl agrees on {files - wrong} of {files} files")
sys.exit(wrong > 0)
