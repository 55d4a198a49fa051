"""TraceLogging: the extended item EVENT_SCHEMA_TL (11) names the event and its fields, PROV_TRAITS (12) the provider."""

import struct

import sources as s
import wire
from trace import add, at, case, stamp, trace

CONSTANT, VARIABLE, CHAIN = 0x20, 0x40, 0x80
STRUCTURE = 24


def schema(name, *fields, tags=b"\0"):
    """The size of all, tags, the name of the event, and fields."""
    body = tags + name.encode() + b"\0" + b"".join(fields)
    return struct.pack("<H", 2 + len(body)) + body


def field(name, kind, out=None, count=None, tags=None):
    """The name of a field, its type, and what the bits of the type announce: the output type, tags, and a count."""
    data = name.encode() + b"\0"
    if tags is not None:
        out = out or 0
    data += bytes([kind | (CHAIN if out is not None else 0)])
    if out is not None:
        data += bytes([out | (CHAIN if tags is not None else 0)])
    if tags is not None:
        data += tags
    return data + (struct.pack("<H", count) if count is not None else b"")


def structure(name, *members, kind=STRUCTURE, count=None):
    """The number of members is in the place of the output type."""
    return field(name, kind, out=len(members), count=count) + b"".join(members)


def traits(name="Corpus.Provider", group=None):
    body = name.encode() + b"\0"
    if group:
        body += struct.pack("<HB", 19, 1) + wire.guid(group)
    return struct.pack("<H", 2 + len(body)) + body


AFTER = field("after", 4)


def logged(name, rule, fields, payload, expected, *source, event_schema=None, kind=0x13, own_traits=None, more=None):
    items = [(11, event_schema or schema("Sample", *fields)), (12, own_traits or traits())]
    record = wire.event(payload, id=0, channel=11, items=items, kind=kind, stamp=stamp(1))
    base = dict(time=at(1), payload=payload.hex(), fields=expected)
    add(f"tracelogging-{name}", rule, list(source or (s.TRACE_LOGGING,)), trace(record), [{**base, **(more or {})}])


def one(name, rule, own, payload, value, **more):
    logged(name, rule, [own, AFTER], payload + b"\x7F", {"value": value, "after": 127}, **more)


FILETIME = struct.pack("<q", wire.START + 1_234_567)
SYSTEMTIME = struct.pack("<8H", 2024, 3, 5, 1, 12, 30, 45, 678)
SID = struct.pack("<BB6sII", 1, 2, b"\0\0\0\0\0\5", 32, 544)
IPV6 = bytes.fromhex("20010db8000000000000000000000001")
SOCKET4 = struct.pack("<H", 2) + struct.pack(">H", 8080) + bytes([192, 0, 2, 7]) + bytes(8)

# Name, type, output type, bytes, value, rule.
TYPES = [
    ("unicode", 1, None, wire.wide("Grüße\0"), "Grüße", "UNICODESTRING (1) ends with a 16-bit zero."),
    ("ansi", 2, None, b"text\0", "text", "ANSISTRING (2) ends with a zero byte."),
    ("int8", 3, None, b"\xFE", -2, "INT8 (3)."),
    ("uint8", 4, None, b"\xFE", 254, "UINT8 (4)."),
    ("int16", 5, None, struct.pack("<h", -300), -300, "INT16 (5)."),
    ("uint16", 6, None, struct.pack("<H", 65000), 65000, "UINT16 (6)."),
    ("int32", 7, None, struct.pack("<i", -70000), -70000, "INT32 (7)."),
    ("uint32", 8, None, struct.pack("<I", 4_000_000_000), 4_000_000_000, "UINT32 (8)."),
    ("int64", 9, None, struct.pack("<q", -(2**63)), -(2**63), "INT64 (9)."),
    ("uint64", 10, None, struct.pack("<Q", 2**64 - 1), 2**64 - 1, "UINT64 (10)."),
    ("float", 11, None, struct.pack("<f", 0.25), 0.25, "FLOAT (11)."),
    ("double", 12, None, struct.pack("<d", -1e300), -1e300, "DOUBLE (12)."),
    ("bool32", 13, None, struct.pack("<I", 1), True, "BOOL32 (13) has four bytes."),
    ("binary", 14, None, struct.pack("<H", 3) + b"\1\2\3", "0x010203", "BINARY (14) begins with its number of bytes, 16 bits, unlike in manifests."),
    ("guid", 15, None, wire.guid(wire.OTHER_GUID), wire.OTHER_GUID, "GUID (15)."),
    ("filetime", 17, None, FILETIME, "2024-03-01T12:00:00.1234567Z", "FILETIME (17)."),
    ("systemtime", 18, None, SYSTEMTIME, "2024-03-01T12:30:45.678", "SYSTEMTIME (18)."),
    ("sid", 19, None, SID, "S-1-5-32-544", "SID (19)."),
    ("hexint32", 20, None, struct.pack("<I", 0xBEEF), "0xbeef", "HEXINT32 (20)."),
    ("hexint64", 21, None, struct.pack("<Q", 0xFFFFF80012345678), "0xfffff80012345678", "HEXINT64 (21), the type of pointers."),
    ("counted-unicode", 22, None, struct.pack("<H", 6) + wire.wide("abc"), "abc", "COUNTEDSTRING (22) begins with its number of bytes."),
    ("counted-ansi", 23, None, struct.pack("<H", 3) + b"abc", "abc", "COUNTEDANSISTRING (23) begins with its number of bytes."),
    ("counted-binary", 25, None, struct.pack("<H", 2) + b"\xAA\xBB", "0xaabb", "COUNTEDBINARY (25) begins with its number of bytes."),
    ("out-char8", 4, 2, b"A", "A", "UINT8 with the output type STRING (2) is a character."),
    ("out-char16", 6, 2, wire.wide("Ω"), "Ω", "UINT16 with the output type STRING (2) is a character."),
    ("out-boolean", 4, 3, b"\1", True, "UINT8 with the output type BOOLEAN (3)."),
    ("out-hex8", 4, 4, b"\xAB", "0xab", "UINT8 with the output type HEX (4)."),
    ("out-hex16", 6, 4, b"\xCD\xAB", "0xabcd", "UINT16 with the output type HEX (4)."),
    ("out-hex32", 8, 4, struct.pack("<I", 0xBEEF), "0xbeef", "UINT32 with the output type HEX (4)."),
    ("out-hex64", 10, 4, struct.pack("<Q", 0xBEEF00), "0xbeef00", "UINT64 with the output type HEX (4)."),
    ("out-pid", 8, 5, struct.pack("<I", 4321), 4321, "UINT32 with the output type PID (5)."),
    ("out-tid", 8, 6, struct.pack("<I", 4321), 4321, "UINT32 with the output type TID (6)."),
    ("out-port", 6, 7, b"\x01\xBB", 443, "UINT16 with the output type PORT (7) is in network byte order."),
    ("out-ipv4", 8, 8, bytes([192, 0, 2, 1]), "192.0.2.1", "UINT32 with the output type IPV4 (8)."),
    ("out-ipv6", 14, 9, struct.pack("<H", 16) + IPV6, "2001:db8::1", "BINARY with the output type IPV6 (9)."),
    ("out-socket", 14, 10, struct.pack("<H", 16) + SOCKET4, "192.0.2.7:8080", "BINARY with the output type SOCKETADDRESS (10)."),
    ("out-xml", 1, 11, wire.wide("<a/>\0"), "<a/>", "UNICODESTRING with the output type XML (11)."),
    ("out-json", 2, 12, '{"ä":1}\0'.encode(), '{"ä":1}', "ANSISTRING with the output type JSON (12) is UTF-8."),
    ("out-win32error", 8, 13, struct.pack("<I", 5), 5, "UINT32 with the output type WIN32ERROR (13)."),
    ("out-ntstatus", 8, 14, struct.pack("<I", 0xC0000005), "0xc0000005", "UINT32 with the output type NTSTATUS (14)."),
    ("out-hresult", 7, 15, struct.pack("<I", 0x80070005), "0x80070005", "INT32 with the output type HRESULT (15)."),
    ("out-utf8", 2, 35, "Grüße\0".encode(), "Grüße", "ANSISTRING with the output type UTF8 (35)."),
    ("out-utf8-counted", 23, 35, struct.pack("<H", 7) + "Grüße".encode(), "Grüße", "COUNTEDANSISTRING with the output type UTF8 (35)."),
    ("out-code-pointer", 21, 37, struct.pack("<Q", 0x7FFA00001000), "0x7ffa00001000", "HEXINT64 with the output type CODE_POINTER (37)."),
    ("out-unknown", 8, 99, struct.pack("<I", 5), 5, "A value with an output type that a reader does not know is decoded by its type."),
]
for name, kind, out, payload, value, rule in TYPES:
    one(name, rule, field("value", kind, out), payload, value)

MORE = [
    ("out-hex-int8", 3, 4, b"\xFF", "0xff", "INT8 with the output type HEX (4): the bits of the number."),
    ("out-hex-int32", 7, 4, struct.pack("<i", -1), "0xffffffff", "INT32 with the output type HEX (4): the bits of the number."),
    ("out-hex-int64", 9, 4, struct.pack("<q", -1), "0xffffffffffffffff", "INT64 with the output type HEX (4): the bits of the number."),
    ("out-filetime-utc", 17, 38, FILETIME, "2024-03-01T12:00:00.1234567Z", "FILETIME with the output type DATETIME_UTC (38)."),
    ("out-filetime-culture", 17, 33, FILETIME, "2024-03-01T12:00:00.1234567Z", "FILETIME with the output type DATETIME_CULTURE_INSENSITIVE (33)."),
    ("out-hexint32-ntstatus", 20, 14, struct.pack("<I", 0xC0000022), "0xc0000022", "HEXINT32 with the output type NTSTATUS (14)."),
    ("out-json-counted", 23, 12, struct.pack("<H", 8) + '{"ä":1}'.encode(), '{"ä":1}', "COUNTEDANSISTRING with the output type JSON (12) is UTF-8."),
    ("out-xml-counted", 22, 11, struct.pack("<H", 8) + wire.wide("<a/>"), "<a/>", "COUNTEDSTRING with the output type XML (11)."),
    ("out-int8-char", 3, 2, b"A", "A", "INT8 with the output type STRING (2) is a character."),
    ("out-counted-binary-ipv6", 25, 9, struct.pack("<H", 16) + IPV6, "2001:db8::1", "COUNTEDBINARY with the output type IPV6 (9)."),
    ("out-socket6", 14, 10, struct.pack("<H", 28) + struct.pack("<H", 23) + struct.pack(">HI", 443, 0) + IPV6 + bytes(4), "[2001:db8::1]:443",
     "BINARY with the output type SOCKETADDRESS (10): a sockaddr_in6."),
    ("empty-binary", 14, None, struct.pack("<H", 0), "0x", "BINARY can be empty."),
    ("empty-unicode", 1, None, wire.wide("\0"), "", "An empty UNICODESTRING is its zero."),
    ("bool32-other", 13, None, struct.pack("<I", 7), True, "A BOOL32 other than 0 is true."),
]
for name, kind, out, payload, value, rule in MORE:
    one(name, rule, field("value", kind, out), payload, value)

one("array-of-counted-strings", "Each element of an array of counted strings has its own number of bytes.", field("value", 22 | VARIABLE),
    struct.pack("<H", 2) + struct.pack("<H", 2) + wire.wide("a") + struct.pack("<H", 4) + wire.wide("bc"), ["a", "bc"])
one("array-of-binary", "Each element of an array of BINARY has its own number of bytes.", field("value", 14 | VARIABLE),
    struct.pack("<H", 2) + struct.pack("<H", 1) + b"\xAA" + struct.pack("<H", 2) + b"\xBB\xCC", ["0xaa", "0xbbcc"])
one("array-of-sids", "The elements of an array of SIDs can have different sizes.", field("value", 19 | CONSTANT, count=2),
    SID + bytes([1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0]), ["S-1-5-32-544", "S-1-5-18"])
one("array-of-nested-structures", "An array in a structure of an array.",
    structure("value", field("a", 4 | VARIABLE), field("b", 4), kind=STRUCTURE | VARIABLE),
    struct.pack("<H", 2) + struct.pack("<HB", 1, 9) + b"\1" + struct.pack("<HBB", 2, 8, 7) + b"\2", [{"a": [9], "b": 1}, {"a": [8, 7], "b": 2}])
one("structure-without-members", "A structure can have no members.", structure("value"), b"", {})
one("custom", "Custom encoding (0x60): the size of a description in the schema, and the description; in the payload, a number of bytes and bytes.",
    b"value\0" + bytes([14 | 0x60]) + struct.pack("<H", 3) + b"xyz", struct.pack("<H", 2) + b"\xAA\xBB", "0xaabb")
one("array-constant", "An array of constant count (0x20): the count is in the schema.", field("value", 6 | CONSTANT, count=3),
    struct.pack("<HHH", 1, 2, 3), [1, 2, 3])
one("array-variable", "An array of variable count (0x40): the count, 16 bits, is in the payload before the elements.",
    field("value", 8 | VARIABLE), struct.pack("<HII", 2, 7, 8), [7, 8])
one("array-empty", "A variable array can have no elements.", field("value", 8 | VARIABLE), struct.pack("<H", 0), [])
one("array-of-strings", "The elements of an array of strings each end with a zero.", field("value", 1 | VARIABLE),
    struct.pack("<H", 3) + wire.wide("a\0\0bc\0"), ["a", "", "bc"])
one("array-with-output-type", "The output type of an array is that of its elements; it is before the count.",
    field("value", 4 | CONSTANT, out=4, count=2), b"\x0A\x0B", ["0xa", "0xb"])
one("array-of-characters", "An array of characters is a text.", field("value", 6 | CONSTANT, out=2, count=3), wire.wide("abc"), "abc")
one("structure", "A structure (24): the byte of the output type is its number of members, which follow it.",
    structure("value", field("a", 4), field("b", 8)), struct.pack("<BI", 1, 2), {"a": 1, "b": 2})
one("nested-structures", "A structure with its members is one member of another.",
    structure("value", field("a", 4), structure("s", field("b", 4), field("c", 1)), field("d", 4)), b"\1\2" + wire.wide("x\0") + b"\3",
    {"a": 1, "s": {"b": 2, "c": "x"}, "d": 3})
one("array-of-structures", "A variable array of structures.", structure("value", field("a", 4), field("b", 1), kind=STRUCTURE | VARIABLE),
    struct.pack("<H", 2) + b"\1" + wire.wide("x\0") + b"\2" + wire.wide("y\0"), [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}])
one("constant-array-of-structures", "A constant array of structures: the count follows the number of members.",
    structure("value", field("a", 4), field("b", 4), kind=STRUCTURE | CONSTANT, count=2), b"\1\2\3\4", [{"a": 1, "b": 2}, {"a": 3, "b": 4}])
one("empty-array-of-structures", "An empty array of structures: its members are in the schema, not in the payload.",
    structure("value", field("a", 4), field("b", 4), kind=STRUCTURE | VARIABLE), struct.pack("<H", 0), [])
one("field-tags", "Tags of a field follow its output type: bytes of seven bits, and a high bit if another follows.",
    field("value", 4, tags=b"\x81\x82\x03"), b"\5", 5)
logged("event-tags", "Tags of an event are before its name: bytes of seven bits, and a high bit if another follows.", [], b"\x05",
       {"value": 5}, event_schema=schema("Sample", field("value", 4), tags=b"\x81\x82\x03"))
logged("no-fields", "An event can have no fields.", [], b"", {})
logged("provider-group", "The traits of a provider can have its group: size, type 1 and a GUID.", [field("value", 4)], b"\5", {"value": 5},
       s.PROVIDER_TRAITS, own_traits=traits(group=wire.OTHER_GUID))
logged("names", "The names of provider and event are UTF-8.", [field("größe", 4)], b"\5", {"größe": 5},
       event_schema=schema("Größe", field("größe", 4)), own_traits=traits("Müller.Provider"),
       more=dict(event_name="Größe", provider_name="Müller.Provider"))
logged("32-bit", "Types of TraceLogging do not depend on the size of pointers.", [field("value", 21), AFTER], struct.pack("<QB", 5, 127),
       {"value": "0x5", "after": 127}, kind=0x12)
logged("last-string-without-zero", "The last string can lack its zero.", [field("value", 1)], wire.wide("ab"), {"value": "ab"}, s.IN_TYPE)


@case("Two events of one provider have schemas of their own.", s.TRACE_LOGGING)
def two_events():
    one = wire.event(b"\5", id=0, items=[(11, schema("One", field("a", 4))), (12, traits())], stamp=stamp(1))
    two = wire.event(b"\6\0", id=0, items=[(11, schema("Two", field("b", 6))), (12, traits())], stamp=stamp(2))
    return trace(one, two), [dict(time=at(1), fields={"a": 5}, event_name="One"), dict(time=at(2), fields={"b": 6}, event_name="Two")]
