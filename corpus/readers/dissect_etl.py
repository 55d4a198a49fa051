"""The Python package dissect.etl as a reader of the corpus: python3 dissect_etl.py TRACE..."""

import json
import sys
from datetime import datetime, timedelta

from dissect.etl import ETL

HEADERS = {1: "SYSTEM32", 2: "SYSTEM64", 3: "COMPACT32", 4: "COMPACT64", 10: "FULL_HEADER32", 11: "INSTANCE32", 15: "MESSAGE", 16: "PERFINFO32",
           17: "PERFINFO64", 18: "EVENT_HEADER32", 19: "EVENT_HEADER64", 20: "FULL_HEADER64", 21: "INSTANCE64"}
# Units of 100 ns between 1601 and 1970.
UNIX_EPOCH = 116_444_736_000_000_000


def utc(ticks):
    seconds, fraction = divmod(ticks - UNIX_EPOCH, 10_000_000)
    return f"{datetime(1970, 1, 1) + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S}.{fraction:07}Z"


def plain(value):
    """A number or a text; the texts of this reader are bytes."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return int(value) if isinstance(value, int) else str(value)


def event(etl, record):
    header = record.header
    own = dict(payload=bytes(header.payload).hex(), header=HEADERS.get(header._marker.header_type), provider=None if header.provider_id is None else str(header.provider_id))
    own["time"] = None if header.time_delta is None else utc(etl.get_filetime_for_event(header.time_delta))
    for name, other in (("version", "version"), ("opcode", "opcode"), ("process", "process_id"), ("thread", "thread_id"), ("id", "id")):
        if hasattr(header, other):
            own[name] = getattr(header, other)
    if descriptor := getattr(header, "descriptor", None):
        own.update(id=descriptor.id, version=descriptor.version, opcode=descriptor.opcode, level=descriptor.level, task=descriptor.task,
                   channel=descriptor.channel, keyword=hex(descriptor.keywords))
    if type(header).__name__ == "EventHeader":
        own["activity"] = str(header.activity_id)
        own["items"] = [dict(type=int(item.ext_type), data=bytes(item.raw_data).hex()) for item in header.header_extensions]
    try:
        structure = record.event._struct
    except Exception:
        structure = None
    if structure is not None:
        own["fields"] = {name: plain(value) for name, value in structure.__values__.items()}
    return own


def answer(path):
    """The events up to the first error, which is the only report of damage. The first event is the header of the trace."""
    events = []
    try:
        with open(path, "rb") as file:
            etl = ETL(file)
            for record in etl:
                events.append(event(etl, record))
    except Exception as error:
        return dict(events=events[1:], damaged=True, error=f"{type(error).__name__}: {error}"[:200])
    return dict(events=events[1:])


for trace in sys.argv[1:]:
    print(json.dumps(dict(trace=trace, **answer(trace))), flush=True)
