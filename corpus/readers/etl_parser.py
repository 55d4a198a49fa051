"""The Python package etl-parser as a reader of the corpus: python3 etl_parser.py TRACE..."""

import json
import sys
import uuid

from etl.etl import IEtlFileObserver, build_from_stream

SYSTEM = {1: "SYSTEM32", 2: "SYSTEM64", 3: "COMPACT32", 4: "COMPACT64"}


def guid(value):
    value = value.inner
    return str(uuid.UUID(bytes_le=b"".join([value.data1.to_bytes(4, "little"), value.data2.to_bytes(2, "little"),
                                           value.data3.to_bytes(2, "little"), bytes(value.data4)])))


def plain(value):
    """A value as JSON can have it."""
    if isinstance(value, (bool, int, float, str)):
        return value
    return [plain(one) for one in value] if isinstance(value, list) else str(value)


class Observer(IEtlFileObserver):
    """Collects events. This reader states stamps, not times."""

    def __init__(self):
        self.events = []

    def on_event_record(self, event):
        header, own = event.source.event_header, {}
        descriptor = header.event_descriptor
        own.update(header=f"EVENT_HEADER{'32' if int(header.marker.type.enum) == 0x12 else '64'}", provider=guid(header.provider_id),
                   process=header.process_id, thread=header.thread_id, id=descriptor.Id, version=descriptor.Version, channel=descriptor.Channel,
                   level=descriptor.Level, opcode=descriptor.Opcode, task=descriptor.Task, keyword=hex(descriptor.Keyword),
                   activity=guid(header.activity_id), payload=bytes(event.source.user_data).hex())
        items = event.source.extended_data or []
        own["items"] = [dict(type=item.ext_type, data=bytes(item.data_item).hex()) for item in items]
        if any(item.ext_type == 11 for item in items):
            try:
                logged = event.parse_tracelogging()
                own.update(fields={name: plain(value) for name, value in logged.items()}, event_name=logged.get_name())
            except Exception:
                own["fields"] = None
        self.events.append(own)

    def on_trace_record(self, event):
        header = event.source.event_header
        kind = "FULL_HEADER32" if int(header.marker.type.enum) == 0x0A else "FULL_HEADER64"
        self.events.append(dict(header=kind, provider=guid(header.guid), process=header.process_id, thread=header.thread_id,
                                opcode=header["class"].type, level=header["class"].level, version=header["class"].version,
                                payload=bytes(event.source.user_data).hex()))

    def on_perfinfo_trace(self, obj):
        own = obj.source
        self.events.append(dict(header="PERFINFO32" if int(own.marker.type.enum) == 0x10 else "PERFINFO64", opcode=own.header.type, process=None,
                                thread=None, version=own.marker.version, payload=bytes(own.mof_data).hex()))

    def on_system_trace(self, obj):
        own = obj.source
        header = own.system_header
        self.events.append(dict(header=SYSTEM[int(header.marker.type.enum)], opcode=header.header.type, process=header.process_id,
                                thread=header.thread_id, version=header.marker.version, payload=bytes(own.mof_data).hex()))

    def on_win_trace(self, event):
        header = event.source.event_header
        self.events.append(dict(header="MESSAGE", id=header.event_id, provider=guid(header.provider_id), process=header.process_id,
                                thread=header.thread_id, payload=bytes(event.source.user_data).hex()))


def answer(path):
    """The events up to the first error, which is the only report of damage."""
    observer = Observer()
    try:
        with open(path, "rb") as file:
            build_from_stream(file.read()).parse(observer)
    except Exception as error:
        return dict(events=observer.events, damaged=True, error=f"{type(error).__name__}: {' '.join(str(error).split())}"[:200])
    return dict(events=observer.events)


for trace in sys.argv[1:]:
    print(json.dumps(dict(trace=trace, **answer(trace))), flush=True)
