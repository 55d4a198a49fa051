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


def event(name, rule, data, payload, fields, *source, kind=0x13, flags=None, log=None, version=0, number=None, message=None, shown=None):
    """An event of the manifest with the given data elements."""
    number = number or 100 + len(TEMPLATES)
    TEMPLATES.append((number, version, data, message))
    record = wire.event(payload, id=number, version=version, kind=kind, flags=flags, stamp=stamp(1))
    expected = dict(time=at(1), id=number, provider=wire.GUID, payload=payload.hex(), fields=fields)
    if message:
        expected["message"] = shown
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

one("pointer-by-flags-32", "The flag 32_BIT_HEADER decides the size of pointers, also with the header type of 64-bit data.", 'inType="win:Pointer"',
    struct.pack("<I", 0x1234), "0x1234", s.IN_TYPE, flags=0x20)
one("pointer-by-flags-64", "The flag 64_BIT_HEADER decides the size of pointers, also with the header type of 32-bit data.", 'inType="win:Pointer"',
    struct.pack("<Q", 0x1234), "0x1234", s.IN_TYPE, kind=0x12, flags=0x40)

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


event("array-with-length", "An array of strings of constant length has count times length characters.",
      f'<data name="value" {TEXT} count="2" length="3"/>{AFTER}', wire.wide("abcde\0") + b"\x7F", {"value": ["abc", "de"], "after": 127},
      s.DATA_DEFINITION)
event("array-of-booleans", "Each element of an array of win:Boolean has four bytes.", f'<data name="value" inType="win:Boolean" count="2"/>{AFTER}',
      struct.pack("<II", 1, 0) + b"\x7F", {"value": [True, False], "after": 127}, s.DATA_DEFINITION)
event("array-of-guids", "The elements of an array of GUIDs.", f'<data name="value" inType="win:GUID" count="2"/>{AFTER}',
      wire.guid(wire.OTHER_GUID) + wire.guid(wire.GUID) + b"\x7F", {"value": [wire.OTHER_GUID, wire.GUID], "after": 127}, s.DATA_DEFINITION)
event("array-of-addresses", "The elements of an array have the output type.", f'<data name="value" {U32} outType="win:IPv4" count="2"/>{AFTER}',
      bytes([192, 0, 2, 1, 198, 51, 100, 2]) + b"\x7F", {"value": ["192.0.2.1", "198.51.100.2"], "after": 127}, s.DATA_DEFINITION, s.OUT_TYPE)
event("array-of-characters", "An array of win:UInt16 as xs:string is an array of characters: a text.",
      f'<data name="value" {U16} outType="xs:string" count="3"/>{AFTER}', wire.wide("abc") + b"\x7F", {"value": "abc", "after": 127}, s.OUT_TYPE)
event("counted-binary-ipv6", "win:CountedBinary as win:IPv6.", f'<data name="value" inType="win:CountedBinary" outType="win:IPv6"/>{AFTER}',
      struct.pack("<H", 16) + IPV6 + b"\x7F", {"value": "2001:db8::1", "after": 127}, s.IN_TYPE)
event("counted-binary-socket", "win:CountedBinary as win:SocketAddress.",
      f'<data name="value" inType="win:CountedBinary" outType="win:SocketAddress"/>{AFTER}', struct.pack("<H", 16) + SOCKET4 + b"\x7F",
      {"value": "192.0.2.7:8080", "after": 127}, s.IN_TYPE)
event("counted-unicode-empty", "An empty win:CountedUnicodeString.", f'<data name="value" inType="win:CountedUnicodeString"/>{AFTER}', b"\0\0\x7F",
      {"value": "", "after": 127}, s.IN_TYPE)
event("counted-ansi-utf8", "win:CountedAnsiString as win:Utf8.", f'<data name="value" inType="win:CountedAnsiString" outType="win:Utf8"/>{AFTER}',
      struct.pack("<H", 7) + "Grüße".encode() + b"\x7F", {"value": "Grüße", "after": 127}, s.IN_TYPE)
event("filetime-zero", "A win:FILETIME of 0 is the first of January 1601.", f'<data name="value" inType="win:FILETIME"/>{AFTER}', bytes(8) + b"\x7F",
      {"value": "1601-01-01T00:00:00.0000000Z", "after": 127}, s.FILETIME)
event("float-negative-zero", "A win:Float of -0.5.", f'<data name="value" inType="win:Float"/>{AFTER}', struct.pack("<f", -0.5) + b"\x7F",
      {"value": -0.5, "after": 127}, s.IN_TYPE)
event("sid-without-parts", "A SID can have no parts: eight bytes.", f'<data name="value" inType="win:SID"/>{AFTER}',
      bytes([1, 0, 0, 0, 0, 0, 0, 5]) + b"\x7F", {"value": "S-1-5", "after": 127}, s.SID)
event("int32-hresult-success", "An HRESULT of 0.", f'<data name="value" inType="win:Int32" outType="win:HResult"/>{AFTER}', bytes(4) + b"\x7F",
      {"value": "0x0", "after": 127}, s.OUT_TYPE)
event("value-map-uint8", "A value map of win:UInt8.", f'<data name="value" {U8} map="Colors"/>{AFTER}', b"\1\x7F", {"value": "Red", "after": 127},
      s.VALUE_MAP)
event("bit-map-rest", "Bits without a name remain a number.", f'<data name="value" {U32} map="Access"/>{AFTER}', struct.pack("<I", 0x41) + b"\x7F",
      {"value": "Read|0x40", "after": 127}, s.BIT_MAP)
event("array-with-map", "Each element of an array has the name of its value.", f'<data name="value" {U32} map="Colors" count="2"/>{AFTER}',
      struct.pack("<II", 2, 1) + b"\x7F", {"value": ["Green", "Red"], "after": 127}, s.VALUE_MAP)
event("version-0", "Events of one identifier can have versions with other fields: version 0.", f'<data name="old" {U32}/>', struct.pack("<I", 5),
      {"old": 5}, s.EVENT_DESCRIPTOR, number=900)
event("version-1", "Events of one identifier can have versions with other fields: version 1.", f'<data name="new" {TEXT}/>', wire.wide("x\0"),
      {"new": "x"}, s.EVENT_DESCRIPTOR, number=900, version=1)
event("two-lengths", "Two fields with lengths of their own.",
      f'<data name="m" {U8}/><data name="n" {U8}/><data name="b" inType="win:Binary" length="n"/><data name="a" inType="win:Binary" length="m"/>',
      b"\1\2\xBB\xCC\xAA", {"m": 1, "n": 2, "b": "0xbbcc", "a": "0xaa"}, s.DATA_DEFINITION)
event("length-and-count", "The count and the length of one field can be fields.",
      f'<data name="n" {U8}/><data name="size" {U8}/><data name="value" inType="win:AnsiString" count="n" length="size"/>', b"\2\3abcxyz",
      {"n": 2, "size": 3, "value": ["abc", "xyz"]}, s.DATA_DEFINITION)

NAMED = f'<data name="who" {TEXT}/><data name="count" {U32}/>'
ADA = wire.wide("Ada\0") + struct.pack("<I", 3)
for name, rule, message, shown in [
        ("insertion", "%1 and %2 are the fields in order.", "%1 has %2", "Ada has 3"),
        ("order", "A message can insert fields in any order, and more than once.", "%2, %1, %2", "3, Ada, 3"),
        ("format", "A conversion between exclamation marks belongs to the insertion.", "%1!s! has %2!s!", "Ada has 3"),
        ("percent", "%% is a percent sign.", "%2%% of %1", "3% of Ada"),
        ("exclamation", "%! is an exclamation mark, also after an insertion.", "%1%!", "Ada!"),
        ("period", "%. is a period.", "%1%.", "Ada.")]:
    event(f"message-{name}", rule, NAMED, ADA, {"who": "Ada", "count": 3}, s.MESSAGE_TEXT, message=message, shown=shown)


def xml():
    """The manifest, with an event and a template for each case."""
    events = templates = strings = ""
    for number, version, data, message in TEMPLATES:
        name = f"T{number}.{version}"
        own = (f' template="{name}"' if data else "") + (f' message="$(string.{name})"' if message else "")
        events += f'<event value="{number}" version="{version}" symbol="E{number}_{version}"{own}/>\n'
        templates += f'<template tid="{name}">{data}</template>\n' if data else ""
        strings += f'<string id="{name}" value="{message}"/>' if message else ""
    maps = "".join([
        '<valueMap name="Colors"><map value="1" message="$(string.Red)"/><map value="2" message="$(string.Green)"/></valueMap>\n',
        '<bitMap name="Access"><map value="0x1" message="$(string.Read)"/><map value="0x2" message="$(string.Write)"/>',
        '<map value="0x4" message="$(string.Run)"/></bitMap>\n'])
    strings += "".join(f'<string id="{name}" value="{name}"/>' for name in ("Red", "Green", "Read", "Write", "Run"))
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
