"""Input and output types of manifests. Each case is an event of the manifest corpus.man, in this module side by side with its bytes."""

import struct

import sources as s
import wire
from trace import add, at, stamp, trace

TEMPLATES = []
SID = struct.pack("<BB6sIII", 1, 3, b"\0\0\0\0\0\5", 21, 1000, 500)
FILETIME = struct.pack("<q", wire.START + 1_234_567)
SYSTEMTIME = struct.pack("<8H", 2024, 3, 5, 1, 12, 30, 45, 678)
IPV6 = bytes.fromhex("20010db8000000000000000000000001")
SOCKET4 = struct.pack("<H", 2) + struct.pack(">H", 8080) + bytes([192, 0, 2, 7]) + bytes(8)
SOCKET6 = struct.pack("<H", 23) + struct.pack(">HI", 443, 0) + IPV6 + struct.pack("<I", 0)


def event(name, rule, data, payload, fields, *source, kind=0x13, log=None):
    """An event of the manifest with the given data elements."""
    number = 100 + len(TEMPLATES)
    TEMPLATES.append((number, data))
    record = wire.event(payload, id=number, kind=kind, stamp=stamp(1))
    expected = dict(time=at(1), id=number, provider=wire.GUID, payload=payload.hex(), fields=fields)
    add(f"manifest-{name}", rule, list(source), trace(record, **(log or {})), [expected])


def one(name, rule, attributes, payload, value, *source, **more):
    """An event with one field, and one after it that proves where the first ends."""
    data = f'<data name="value" {attributes}/><data name="after" inType="win:UInt8"/>'
    event(name, rule, data, payload + b"\x7F", {"value": value, "after": 127}, *(source or (s.INPUT_TYPE, s.IN_TYPE)), **more)


# Name, attributes, payload, value: the default output type of each input type.
SIMPLE = [
    ("int8", 'inType="win:Int8"', b"\xFE", -2, "win:Int8 is one signed byte."),
    ("uint8", 'inType="win:UInt8"', b"\xFE", 254, "win:UInt8 is one unsigned byte."),
    ("int16", 'inType="win:Int16"', struct.pack("<h", -300), -300, "win:Int16 is two bytes, signed, little-endian."),
    ("uint16", 'inType="win:UInt16"', struct.pack("<H", 65000), 65000, "win:UInt16 is two bytes, little-endian."),
    ("int32", 'inType="win:Int32"', struct.pack("<i", -70000), -70000, "win:Int32 is four bytes, signed."),
    ("uint32", 'inType="win:UInt32"', struct.pack("<I", 4_000_000_000), 4_000_000_000, "win:UInt32 is four bytes."),
    ("int64", 'inType="win:Int64"', struct.pack("<q", -(2**63)), -(2**63), "win:Int64 is eight bytes, signed."),
    ("uint64", 'inType="win:UInt64"', struct.pack("<Q", 2**64 - 1), 2**64 - 1, "win:UInt64 is eight bytes, up to 18446744073709551615."),
    ("float", 'inType="win:Float"', struct.pack("<f", 0.1), 0.1, "win:Float is four bytes: the value has single precision."),
    ("double", 'inType="win:Double"', struct.pack("<d", 0.1), 0.1, "win:Double is eight bytes."),
    ("boolean-true", 'inType="win:Boolean"', struct.pack("<I", 1), True, "win:Boolean has four bytes."),
    ("boolean-false", 'inType="win:Boolean"', struct.pack("<I", 0), False, "A win:Boolean of 0 is false."),
    ("boolean-other", 'inType="win:Boolean"', struct.pack("<I", 2), True, "A win:Boolean other than 0 is true."),
    ("guid", 'inType="win:GUID"', wire.guid(wire.OTHER_GUID), wire.OTHER_GUID, "win:GUID is 16 bytes, the first three parts little-endian."),
    ("filetime", 'inType="win:FILETIME"', FILETIME, "2024-03-01T12:00:00.1234567Z", "win:FILETIME is 64 bits in units of 100 ns since 1601."),
    ("systemtime", 'inType="win:SYSTEMTIME"', SYSTEMTIME, "2024-03-01T12:30:45.678",
     "win:SYSTEMTIME is eight 16-bit numbers: year, month, day of the week, day, hour, minute, second, millisecond."),
    ("sid", 'inType="win:SID"', SID, "S-1-5-21-1000-500", "win:SID states its number of parts in its second byte."),
    ("hexint32", 'inType="win:HexInt32"', struct.pack("<I", 0xBEEF), "0xbeef", "win:HexInt32 is four bytes, shown in hexadecimal."),
    ("hexint64", 'inType="win:HexInt64"', struct.pack("<Q", 0xDEADBEEF00), "0xdeadbeef00", "win:HexInt64 is eight bytes, shown in hexadecimal."),
    ("unicode", 'inType="win:UnicodeString"', wire.wide("Grüße €\0"), "Grüße €", "win:UnicodeString without a length ends with a 16-bit zero."),
    ("unicode-empty", 'inType="win:UnicodeString"', wire.wide("\0"), "", "An empty win:UnicodeString is its zero."),
    ("unicode-surrogates", 'inType="win:UnicodeString"', wire.wide("𝄞\0"), "𝄞", "A character outside of the first plane is a surrogate pair."),
    ("unicode-high-zero", 'inType="win:UnicodeString"', wire.wide("aĀb\0"), "aĀb",
     "Two zero bytes that belong to two characters do not end a string: 61 00 00 01."),
    ("ansi", 'inType="win:AnsiString"', b"plain\0", "plain", "win:AnsiString without a length ends with a zero byte."),
    ("unicode-fixed", 'inType="win:UnicodeString" length="4"', wire.wide("abcd"), "abcd",
     "The length of a win:UnicodeString is a number of characters."),
    ("unicode-fixed-short", 'inType="win:UnicodeString" length="4"', wire.wide("ab\0\0"), "ab", "A text of fixed length can be padded with zeros."),
    ("ansi-fixed", 'inType="win:AnsiString" length="4"', b"abcd", "abcd", "The length of a win:AnsiString is a number of bytes."),
    ("counted-unicode", 'inType="win:CountedUnicodeString"', struct.pack("<H", 6) + wire.wide("abc"), "abc",
     "win:CountedUnicodeString begins with its number of bytes, 16 bits."),
    ("counted-ansi", 'inType="win:CountedAnsiString"', struct.pack("<H", 3) + b"abc", "abc",
     "win:CountedAnsiString begins with its number of bytes, 16 bits."),
    ("counted-binary", 'inType="win:CountedBinary"', struct.pack("<H", 3) + b"\1\2\3", "0x010203",
     "win:CountedBinary begins with its number of bytes, 16 bits."),
    ("binary-fixed", 'inType="win:Binary" length="3"', b"\1\2\3", "0x010203", "win:Binary with a constant length."),
    ("pointer64", 'inType="win:Pointer"', struct.pack("<Q", 0xFFFFF80012345678), "0xfffff80012345678",
     "win:Pointer has eight bytes in an event with the flag 64_BIT_HEADER."),
]
for name, attributes, payload, value, rule in SIMPLE:
    one(name, rule, attributes, payload, value)

one("pointer32", "win:Pointer has four bytes in an event with the flag 32_BIT_HEADER, also in the trace of a 64-bit system.",
    'inType="win:Pointer"', struct.pack("<I", 0x80001234), "0x80001234", s.IN_TYPE, kind=0x12)
one("pointer32-system", "win:Pointer has four bytes in the trace of a 32-bit system.", 'inType="win:Pointer"', struct.pack("<I", 0x80001234),
    "0x80001234", s.IN_TYPE, kind=0x12, log=dict(pointer_size=4))

# Output types: name, attributes, payload, value.
OUT = [
    ("int8-string", 'inType="win:Int8" outType="xs:string"', b"A", "A", "win:Int8 as xs:string is a character."),
    ("uint8-hex", 'inType="win:UInt8" outType="win:HexInt8"', b"\xAB", "0xab", "win:UInt8 as win:HexInt8."),
    ("uint8-boolean", 'inType="win:UInt8" outType="xs:boolean"', b"\1", True, "win:UInt8 as xs:boolean has one byte."),
    ("uint8-string", 'inType="win:UInt8" outType="xs:string"', b"B", "B", "win:UInt8 as xs:string is a character."),
    ("uint16-hex", 'inType="win:UInt16" outType="win:HexInt16"', b"\xCD\xAB", "0xabcd", "win:UInt16 as win:HexInt16."),
    ("uint16-port", 'inType="win:UInt16" outType="win:Port"', b"\x01\xBB", 443, "win:UInt16 as win:Port is in network byte order."),
    ("uint16-string", 'inType="win:UInt16" outType="xs:string"', wire.wide("Ω"), "Ω", "win:UInt16 as xs:string is a UTF-16 character."),
    ("int32-hresult", 'inType="win:Int32" outType="win:HResult"', struct.pack("<I", 0x80070005), "0x80070005",
     "win:Int32 as win:HResult is shown as a 32-bit hexadecimal number."),
    ("uint32-hex", 'inType="win:UInt32" outType="win:HexInt32"', struct.pack("<I", 0xBEEF), "0xbeef", "win:UInt32 as win:HexInt32."),
    ("uint32-pid", 'inType="win:UInt32" outType="win:PID"', struct.pack("<I", 4321), 4321, "win:UInt32 as win:PID is decimal."),
    ("uint32-tid", 'inType="win:UInt32" outType="win:TID"', struct.pack("<I", 4321), 4321, "win:UInt32 as win:TID is decimal."),
    ("uint32-ipv4", 'inType="win:UInt32" outType="win:IPv4"', bytes([192, 0, 2, 1]), "192.0.2.1", "win:UInt32 as win:IPv4: the bytes in order."),
    ("uint32-ntstatus", 'inType="win:UInt32" outType="win:NTSTATUS"', struct.pack("<I", 0xC0000005), "0xc0000005", "win:UInt32 as win:NTSTATUS."),
    ("uint32-win32error", 'inType="win:UInt32" outType="win:Win32Error"', struct.pack("<I", 5), 5, "win:UInt32 as win:Win32Error."),
    ("hexint32-ntstatus", 'inType="win:HexInt32" outType="win:NTSTATUS"', struct.pack("<I", 0xC0000022), "0xc0000022",
     "win:HexInt32 as win:NTSTATUS."),
    ("uint64-hex", 'inType="win:UInt64" outType="win:HexInt64"', struct.pack("<Q", 0xABCDEF0123), "0xabcdef0123", "win:UInt64 as win:HexInt64."),
    ("uint64-code-pointer", 'inType="win:UInt64" outType="win:CodePointer"', struct.pack("<Q", 0x7FFA00001000), "0x7ffa00001000",
     "win:UInt64 as win:CodePointer is an address."),
    ("pointer-unsigned", 'inType="win:Pointer" outType="xs:unsignedLong"', struct.pack("<Q", 1234), 1234, "win:Pointer as xs:unsignedLong is decimal."),
    ("filetime-utc", 'inType="win:FILETIME" outType="win:DateTimeUtc"', FILETIME, "2024-03-01T12:00:00.1234567Z", "win:FILETIME as win:DateTimeUtc."),
    ("filetime-culture", 'inType="win:FILETIME" outType="win:DateTimeCultureInsensitive"', FILETIME, "2024-03-01T12:00:00.1234567Z",
     "win:FILETIME as win:DateTimeCultureInsensitive."),
    ("unicode-xml", 'inType="win:UnicodeString" outType="win:Xml"', wire.wide("<a/>\0"), "<a/>", "win:UnicodeString as win:Xml is text."),
    ("unicode-json", 'inType="win:UnicodeString" outType="win:Json"', wire.wide('{"a":1}\0'), '{"a":1}', "win:UnicodeString as win:Json is text."),
    ("ansi-utf8", 'inType="win:AnsiString" outType="win:Utf8"', "Grüße\0".encode(), "Grüße", "win:AnsiString as win:Utf8."),
    ("ansi-json", 'inType="win:AnsiString" outType="win:Json"', '{"ä":1}\0'.encode(), '{"ä":1}', "win:AnsiString as win:Json is UTF-8."),
    ("binary-ipv6", 'inType="win:Binary" outType="win:IPv6"', IPV6, "2001:db8::1", "win:Binary as win:IPv6 has 16 bytes, also without a length."),
    ("binary-ipv6-length", 'inType="win:Binary" outType="win:IPv6" length="16"', IPV6, "2001:db8::1", "win:Binary as win:IPv6 with its length."),
    ("binary-socket4", 'inType="win:Binary" outType="win:SocketAddress" length="16"', SOCKET4, "192.0.2.7:8080",
     "A sockaddr_in: the family is little-endian, the port big-endian."),
    ("binary-socket6", 'inType="win:Binary" outType="win:SocketAddress" length="28"', SOCKET6, "[2001:db8::1]:443",
     "A sockaddr_in6: 28 bytes, the address at 8."),
]
for name, attributes, payload, value, rule in OUT:
    one(f"out-{name}", rule, attributes, payload, value, s.INPUT_TYPE, s.OUT_TYPE)

U8, U16, U32 = 'inType="win:UInt8"', 'inType="win:UInt16"', 'inType="win:UInt32"'
TEXT = 'inType="win:UnicodeString"'
AFTER = f'<data name="after" {U8}/>'

event("length-by-field-unicode", "The length of a string can be the value of an earlier field.",
      f'<data name="size" {U16}/><data name="value" {TEXT} length="size"/>{AFTER}', struct.pack("<H", 3) + wire.wide("abc") + b"\x7F",
      {"size": 3, "value": "abc", "after": 127}, s.DATA_DEFINITION, s.IN_TYPE)
event("length-by-field-ansi", "The length of a win:AnsiString by a field is a number of bytes.",
      f'<data name="size" {U8}/><data name="value" inType="win:AnsiString" length="size"/>{AFTER}', b"\x03abc\x7F",
      {"size": 3, "value": "abc", "after": 127}, s.DATA_DEFINITION, s.IN_TYPE)
event("length-by-field-binary", "The length of binary data can be the value of an earlier field.",
      f'<data name="size" {U32}/><data name="value" inType="win:Binary" length="size"/>{AFTER}', struct.pack("<I", 2) + b"\xAA\xBB\x7F",
      {"size": 2, "value": "0xaabb", "after": 127}, s.DATA_DEFINITION, s.IN_TYPE)
event("length-zero", "A length of 0 by a field is an empty value.",
      f'<data name="size" {U32}/><data name="value" inType="win:Binary" length="size"/>{AFTER}', bytes(4) + b"\x7F",
      {"size": 0, "value": "0x", "after": 127}, s.DATA_DEFINITION)
event("array-constant", "An array of constant count.", f'<data name="value" {U16} count="3"/>{AFTER}', struct.pack("<HHH", 1, 2, 3) + b"\x7F",
      {"value": [1, 2, 3], "after": 127}, s.DATA_DEFINITION)
event("array-by-field", "An array whose count is the value of an earlier field.", f'<data name="n" {U8}/><data name="value" {U32} count="n"/>{AFTER}',
      b"\2" + struct.pack("<II", 7, 8) + b"\x7F", {"n": 2, "value": [7, 8], "after": 127}, s.DATA_DEFINITION)
event("array-empty", "An array can have no elements.", f'<data name="n" {U8}/><data name="value" {U32} count="n"/>{AFTER}', b"\0\x7F",
      {"n": 0, "value": [], "after": 127}, s.DATA_DEFINITION)
event("array-of-strings", "Each string of an array ends with its own zero.", f'<data name="value" {TEXT} count="3"/>{AFTER}',
      wire.wide("a\0\0bc\0") + b"\x7F", {"value": ["a", "", "bc"], "after": 127}, s.DATA_DEFINITION)
event("array-of-pointers", "The elements of an array of pointers have the size of pointers.",
      f'<data name="value" inType="win:Pointer" count="2"/>{AFTER}', struct.pack("<II", 1, 2) + b"\x7F", {"value": ["0x1", "0x2"], "after": 127},
      s.DATA_DEFINITION, kind=0x12)
event("array-of-sids", "The elements of an array of SIDs can have different sizes.", f'<data name="value" inType="win:SID" count="2"/>{AFTER}',
      SID + SID[:1] + b"\1" + SID[2:8] + struct.pack("<I", 18) + b"\x7F", {"value": ["S-1-5-21-1000-500", "S-1-5-18"], "after": 127},
      s.DATA_DEFINITION, s.SID)
event("structure", "The members of a structure follow each other without padding.",
      f'<struct name="value"><data name="a" {U8}/><data name="b" {U32}/></struct>{AFTER}', b"\1" + struct.pack("<I", 2) + b"\x7F",
      {"value": {"a": 1, "b": 2}, "after": 127}, s.STRUCT_DEFINITION)
event("array-of-structures", "An array of structures by the value of a field.",
      f'<data name="n" {U16}/><struct name="value" count="n"><data name="a" {U8}/><data name="b" {TEXT}/></struct>{AFTER}',
      b"\2\0" + b"\1" + wire.wide("x\0") + b"\2" + wire.wide("yz\0") + b"\x7F",
      {"n": 2, "value": [{"a": 1, "b": "x"}, {"a": 2, "b": "yz"}], "after": 127}, s.STRUCT_DEFINITION)
event("structure-length-in-it", "A length can be a member of the same structure.",
      f'<struct name="value" count="2"><data name="n" {U8}/><data name="b" inType="win:Binary" length="n"/></struct>{AFTER}',
      b"\1\xAA\2\xBB\xCC\x7F", {"value": [{"n": 1, "b": "0xaa"}, {"n": 2, "b": "0xbbcc"}], "after": 127}, s.STRUCT_DEFINITION)
event("value-map", "A value map gives the name of an equal value.", f'<data name="value" {U32} map="Colors"/>{AFTER}',
      struct.pack("<I", 2) + b"\x7F", {"value": "Green", "after": 127}, s.VALUE_MAP)
event("value-map-unknown", "A value that is not in the map is a number.", f'<data name="value" {U32} map="Colors"/>{AFTER}',
      struct.pack("<I", 9) + b"\x7F", {"value": 9, "after": 127}, s.VALUE_MAP)
event("bit-map", "A bit map gives the names of all bits that are set.", f'<data name="value" {U32} map="Access"/>{AFTER}',
      struct.pack("<I", 5) + b"\x7F", {"value": "Read|Run", "after": 127}, s.BIT_MAP)
event("no-fields", "An event without a template has no fields.", "", b"", {}, s.DATA_DEFINITION)
event("last-string-without-zero", "The last string can lack its zero: it ends with the payload.",
      f'<data name="before" {U8}/><data name="value" {TEXT}/>', b"\1" + wire.wide("ab"), {"before": 1, "value": "ab"}, s.IN_TYPE)


def xml():
    """The manifest, with an event and a template for each case."""
    events = "".join(f'<event value="{number}" symbol="E{number}" template="T{number}"/>\n' if data else f'<event value="{number}" symbol="E{number}"/>\n'
                     for number, data in TEMPLATES)
    templates = "".join(f'<template tid="T{number}">{data}</template>\n' for number, data in TEMPLATES if data)
    maps = "".join([
        '<valueMap name="Colors"><map value="1" message="$(string.Red)"/><map value="2" message="$(string.Green)"/></valueMap>\n',
        '<bitMap name="Access"><map value="0x1" message="$(string.Read)"/><map value="0x2" message="$(string.Write)"/>',
        '<map value="0x4" message="$(string.Run)"/></bitMap>\n'])
    strings = "".join(f'<string id="{name}" value="{name}"/>' for name in ("Red", "Green", "Read", "Write", "Run"))
    return f'''<?xml version="1.0" encoding="utf-8"?>
<!-- Written by corpus/make.py from corpus/cases/manifest.py. -->
<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events" xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events" xmlns:xs="http://www.w3.org/2001/XMLSchema">
<instrumentation><events>
<provider name="Corpus" guid="{{{wire.GUID}}}" symbol="CORPUS" resourceFileName="corpus.dll" messageFileName="corpus.dll">
<events>
{events}</events>
<maps>
{maps}</maps>
<templates>
{templates}</templates>
</provider>
</events></instrumentation>
<localization><resources culture="en-US"><stringTable>{strings}</stringTable></resources></localization>
</instrumentationManifest>
'''
