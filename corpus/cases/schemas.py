"""Schemas that a trace carries: TRACE_EVENT_INFO of a merged trace, and manifests of an EventSource."""

import struct

import sources as s
import wire
from trace import add, at, case, stamp, trace

PROVIDER = "5a4b3c2d-1e0f-4a5b-8c6d-7e8f90a1b2c3"
# The class of the events that the merge of a trace adds.
MERGE = "bbccf6c1-6cd1-48c4-80ff-839482e37671"


def property_info(name_at, in_type, out_type=0, flags=0, count=1, length=0, map_at=0):
    """EVENT_PROPERTY_INFO, 24 bytes. For a structure, the types are the index and number of its members."""
    return struct.pack("<IIHHIHHI", flags, name_at, in_type, out_type, map_at, count, length, 0)


STRUCTURE, LENGTH_BY_FIELD, COUNT_BY_FIELD, FIXED_LENGTH, FIXED_COUNT = 1, 2, 4, 0x10, 0x20


def event_info(number, properties, top=None):
    """TRACE_EVENT_INFO, 0x70 bytes, properties, and texts that offsets from its start refer to. The source 0 is a manifest."""
    texts, start = b"", 0x70 + 24 * len(properties)

    def text(value):
        nonlocal texts
        at = start + len(texts)
        texts += wire.wide(value + "\0")
        return at

    provider = text("Merged")
    own = [property_info(text(name), *types[:5], map_at=text(types[5]) if types[5:] else 0) for name, *types in properties]
    head = wire.guid(PROVIDER) + bytes(16) + struct.pack("<HBBBBHQ", number, 0, 0, 4, 0, 0, 0)
    head += struct.pack("<16I", 0, provider, *[0] * 11, len(properties), top or len(properties), 0)
    return head + b"".join(own) + texts


def described(name, rule, properties, payload, fields, *source, top=None, kind=0x13):
    """A trace with the schema of an event, and the event."""
    info = wire.classic(event_info(9, properties, top), provider=MERGE, opcode=32, stamp=stamp(1))
    data = trace(info, wire.event(payload, provider=PROVIDER, id=9, stamp=stamp(2), kind=kind), size=2048)
    add(f"schemas-{name}", rule, list(source or (s.EVENT_PROPERTY_INFO, s.IN_TYPE)), data, [dict(time=at(1)), dict(time=at(2), fields=fields)])


SID = struct.pack("<BB6sI", 1, 1, b"\0\0\0\0\0\5", 18)
# Name, type, payload, value, rule: the types of MOF, which manifests cannot use.
TYPES = [
    ("counted-string", 300, struct.pack("<H", 6) + wire.wide("abc"), "abc", "COUNTEDSTRING (300) begins with its number of bytes, little-endian."),
    ("counted-ansi", 301, struct.pack("<H", 3) + b"abc", "abc", "COUNTEDANSISTRING (301) begins with its number of bytes, little-endian."),
    ("reversed-counted-string", 302, struct.pack(">H", 6) + wire.wide("abc"), "abc",
     "REVERSEDCOUNTEDSTRING (302) begins with its number of bytes, big-endian; its characters are little-endian."),
    ("reversed-counted-ansi", 303, struct.pack(">H", 3) + b"abc", "abc", "REVERSEDCOUNTEDANSISTRING (303) begins with its number of bytes, big-endian."),
    ("unicode-char", 306, wire.wide("x"), "x", "UNICODECHAR (306) is one 16-bit character."),
    ("ansi-char", 307, b"x", "x", "ANSICHAR (307) is one byte."),
    ("size-t", 308, struct.pack("<Q", 4096), 4096, "SIZET (308) has the size of pointers."),
    ("hex-dump", 309, struct.pack("<I", 3) + b"\1\2\3", "0x010203", "HEXDUMP (309) begins with its number of bytes, 32 bits."),
    ("wbem-sid", 310, struct.pack("<QQ", 0xFFFF800012345678, 0) + SID, "S-1-5-18", "WBEMSID (310): two pointers, and a SID."),
]
for name, kind, payload, value, rule in TYPES:
    described(f"type-{name}", rule, [("value", kind), ("after", 4)], payload + b"\x7F", {"value": value, "after": 127})
described("type-rest-unicode", "NONNULLTERMINATEDSTRING (304) is the rest of the payload.", [("before", 4), ("value", 304)], b"\1" + wire.wide("abc"),
          {"before": 1, "value": "abc"})
described("type-rest-ansi", "NONNULLTERMINATEDANSISTRING (305) is the rest of the payload.", [("before", 4), ("value", 305)], b"\1abc",
          {"before": 1, "value": "abc"})
described("type-size-t-32", "SIZET (308) has four bytes in an event with the flag 32_BIT_HEADER.", [("value", 308), ("after", 4)],
          struct.pack("<I", 4096) + b"\x7F", {"value": 4096, "after": 127}, kind=0x12)
described("length-by-field", "PropertyParamLength (2): the length is the value of the property with this index.",
          [("size", 6), ("value", 14, 0, LENGTH_BY_FIELD, 1, 0), ("after", 4)], struct.pack("<H", 2) + b"\xAA\xBB\x7F",
          {"size": 2, "value": "0xaabb", "after": 127}, s.EVENT_PROPERTY_INFO)
described("count-by-field", "PropertyParamCount (4): the count is the value of the property with this index.",
          [("n", 4), ("value", 6, 0, COUNT_BY_FIELD, 0, 0), ("after", 4)], b"\2" + struct.pack("<HH", 7, 8) + b"\x7F",
          {"n": 2, "value": [7, 8], "after": 127}, s.EVENT_PROPERTY_INFO)
described("fixed-count", "PropertyParamFixedCount (0x20): an array of constant count.", [("value", 6, 0, FIXED_COUNT, 2, 0), ("after", 4)],
          struct.pack("<HH", 7, 8) + b"\x7F", {"value": [7, 8], "after": 127}, s.EVENT_PROPERTY_INFO)
described("fixed-length", "PropertyParamFixedLength (0x10): a text of constant length.", [("value", 1, 0, FIXED_LENGTH, 1, 3), ("after", 4)],
          wire.wide("abc") + b"\x7F", {"value": "abc", "after": 127}, s.EVENT_PROPERTY_INFO)
described("structure", "PropertyStruct (1): the index of the first member, and the number of members, which follow the properties at the top.",
          [("value", 2, 2, STRUCTURE), ("after", 4), ("a", 4), ("b", 8)], b"\1" + struct.pack("<I", 2) + b"\x7F",
          {"value": {"a": 1, "b": 2}, "after": 127}, s.EVENT_PROPERTY_INFO, s.TRACE_EVENT_INFO, top=2)


@case("An event of opcode 32 of a merged trace is the TRACE_EVENT_INFO of another event.", s.TRACE_EVENT_INFO, s.EVENT_PROPERTY_INFO,
      s.MEASURED)
def event_info_of_merge():
    info = event_info(9, [("First", 8), ("Second", 1), ("Third", 6, 22)])
    payload = struct.pack("<I", 77) + wire.wide("text\0") + b"\x01\xBB"
    data = trace(wire.classic(info, provider=MERGE, opcode=32, stamp=stamp(1)), wire.event(payload, provider=PROVIDER, id=9, stamp=stamp(2)))
    return data, [dict(time=at(1)), dict(time=at(2), fields={"First": 77, "Second": "text", "Third": 443})]


def map_info(name, flags, entries):
    """The GUID of a provider, and an EVENT_MAP_INFO: 16 bytes, pairs of the offset of a name and a value, and texts. Offsets are from its start."""
    texts, start = wire.wide(name + "\0"), 16 + 8 * len(entries)
    pairs = b""
    for value, own in entries:
        pairs += struct.pack("<II", start + len(texts), value)
        texts += wire.wide(own + "\0")
    return wire.guid(PROVIDER) + struct.pack("<IIII", start, flags, len(entries), 0) + pairs + texts


def mapped(name, rule, flags, entries, value, expected):
    info = event_info(9, [("value", 8, 0, 0, 1, 0, "Names"), ("after", 4)])
    schemas = [wire.classic(map_info("Names", flags, entries), provider=MERGE, opcode=33, stamp=stamp(1)),
               wire.classic(info, provider=MERGE, opcode=32, stamp=stamp(2))]
    data = trace(*schemas, wire.event(struct.pack("<IB", value, 127), provider=PROVIDER, id=9, stamp=stamp(3)), size=2048)
    add(f"schemas-{name}", rule, [s.EVENT_MAP_INFO, s.MEASURED], data,
        [dict(time=at(1)), dict(time=at(2)), dict(time=at(3), fields={"value": expected, "after": 127})])


mapped("value-map", "An event of opcode 33 of a merged trace has the names of values: flag 1 is a value map.", 1, [(1, "One"), (2, "Two")], 2, "Two")
mapped("bit-map", "An event of opcode 33 of a merged trace has the names of values: flag 2 is a bit map.", 2, [(1, "Read"), (4, "Run")], 5, "Read|Run")


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
