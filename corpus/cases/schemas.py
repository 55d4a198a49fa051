"""Schemas that a trace carries: TRACE_EVENT_INFO of a merged trace, and manifests of an EventSource."""

import struct

import sources as s
import wire
from trace import at, case, stamp, trace

PROVIDER = "5a4b3c2d-1e0f-4a5b-8c6d-7e8f90a1b2c3"
# The class of the events that the merge of a trace adds.
MERGE = "bbccf6c1-6cd1-48c4-80ff-839482e37671"


def property_info(name_at, in_type, out_type=0, flags=0, count=1, length=0):
    """EVENT_PROPERTY_INFO, 24 bytes."""
    return struct.pack("<IIHHIHHI", flags, name_at, in_type, out_type, 0, count, length, 0)


def event_info(number, properties):
    """TRACE_EVENT_INFO, 0x70 bytes, properties, and texts that offsets from its start refer to. Source 0 is a manifest."""
    texts, start = b"", 0x70 + 24 * len(properties)

    def text(value):
        nonlocal texts
        at = start + len(texts)
        texts += wire.wide(value + "\0")
        return at

    provider = text("Merged")
    own = [property_info(text(name), *types) for name, *types in properties]
    head = wire.guid(PROVIDER) + bytes(16) + struct.pack("<HBBBBHQ", number, 0, 0, 4, 0, 0, 0)
    head += struct.pack("<16I", 0, provider, *[0] * 11, len(properties), len(properties), 0)
    return head + b"".join(own) + texts


@case("An event of opcode 32 of a merged trace is the TRACE_EVENT_INFO of another event.", s.TRACE_EVENT_INFO, s.EVENT_PROPERTY_INFO,
      s.MEASURED)
def event_info_of_merge():
    info = event_info(9, [("First", 8), ("Second", 1), ("Third", 6, 22)])
    payload = struct.pack("<I", 77) + wire.wide("text\0") + b"\x01\xBB"
    data = trace(wire.classic(info, provider=MERGE, opcode=32, stamp=stamp(1)), wire.event(payload, provider=PROVIDER, id=9, stamp=stamp(2)))
    return data, [dict(time=at(1)), dict(time=at(2), fields={"First": 77, "Second": "text", "Third": 443})]


MANIFEST = '''<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation \
xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events"><events><provider name="Source" guid="{%s}" \
resourceFileName="Source" messageFileName="Source" symbol="Source"><tasks><task name="Started" value="65533"/></tasks><events>\
<event value="1" version="0" level="win:Informational" task="Started" template="StartedArgs"/></events><templates>\
<template tid="StartedArgs"><data name="name" inType="win:UnicodeString"/><data name="count" inType="win:Int32"/></template></templates>\
</provider></events></instrumentation><localization><resources culture="en-US"><stringTable/></resources></localization>\
</instrumentationManifest>''' % PROVIDER


def chunk(text, number, total):
    """ManifestEnvelope: format 1, version 1.0, 0x5B, number of chunks and of this chunk; then text in UTF-8."""
    payload = struct.pack("<BBBBHH", 1, 1, 0, 0x5B, total, number) + text
    return wire.event(payload, provider=PROVIDER, id=0xFFFE, task=0xFFFE, opcode=0xFE, version=1, level=0, stamp=stamp(1 + number))


STARTED = wire.wide("run\0") + struct.pack("<i", -3)


@case("An EventSource sends its manifest as event 65534.", s.EVENT_SOURCE)
def event_source():
    data = trace(chunk(MANIFEST.encode(), 0, 1), wire.event(STARTED, provider=PROVIDER, id=1, stamp=stamp(5)), size=4096)
    return data, [dict(time=at(1)), dict(time=at(5), fields={"name": "run", "count": -3})]


@case("A large manifest of an EventSource is sent in chunks, in order.", s.EVENT_SOURCE)
def event_source_in_chunks():
    text = MANIFEST.encode()
    parts = [text[start:start + 300] for start in range(0, len(text), 300)]
    chunks = [chunk(part, index, len(parts)) for index, part in enumerate(parts)]
    data = trace(*chunks, wire.event(STARTED, provider=PROVIDER, id=1, stamp=stamp(9)), size=4096)
    return data, [*(dict(time=at(1 + index)) for index in range(len(parts))), dict(time=at(9), fields={"name": "run", "count": -3})]
