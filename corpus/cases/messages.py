"""Messages of the Windows software trace preprocessor (WPP): their header, and their text by a TMF file."""

import struct

import sources as s
import wire
from trace import add, at, case, stamp, trace

MESSAGE_GUID = "4c5f6e7d-8a9b-4c0d-8e1f-2a3b4c5d6e7f"
PAYLOAD = b"\x2A\x00\x00\x00"


@case("A message without options has a header of 8 bytes: length, 0x90 in the last byte of the marker, number, and flags.",
      s.MESSAGE_HEADER)
def none():
    return trace(wire.message(PAYLOAD, pointer=0)), [dict(header="MESSAGE", id=10, time=None, process=None, thread=None, provider=None,
                                                          payload="2a000000")]


@case("TRACE_MESSAGE_SEQUENCE (1): a 32-bit number follows the header.", s.MESSAGE_HEADER, s.TRACE_MESSAGE)
def sequence():
    return trace(wire.message(PAYLOAD, sequence=7)), [dict(header="MESSAGE", id=10, payload="2a000000")]


@case("TRACE_MESSAGE_GUID (2): the GUID of the message follows.", s.MESSAGE_HEADER, s.TRACE_MESSAGE)
def guid():
    return trace(wire.message(PAYLOAD, provider=wire.OTHER_GUID)), [
        dict(header="MESSAGE", id=10, provider=wire.OTHER_GUID, payload="2a000000")]


@case("TRACE_MESSAGE_COMPONENTID (4): a 32-bit component follows in place of the GUID.", s.MESSAGE_HEADER, s.TRACE_MESSAGE)
def component():
    return trace(wire.message(PAYLOAD, component=3)), [dict(header="MESSAGE", id=10, provider=None, payload="2a000000")]


@case("TRACE_MESSAGE_TIMESTAMP (8): a 64-bit stamp follows, by the clock of the session.", s.MESSAGE_HEADER, s.TRACE_MESSAGE)
def time():
    return trace(wire.message(PAYLOAD, stamp=stamp(9))), [dict(header="MESSAGE", id=10, time=at(9), payload="2a000000")]


@case("TRACE_MESSAGE_SYSTEMINFO (0x20): the thread and then the process follow.", s.MESSAGE_HEADER, s.TRACE_MESSAGE)
def system_info():
    return trace(wire.message(PAYLOAD, thread=11, process=22)), [dict(header="MESSAGE", id=10, thread=11, process=22, payload="2a000000")]


@case("All options together, in the order of their flags.", s.MESSAGE_HEADER, s.TRACE_MESSAGE)
def all_options():
    event = wire.message(PAYLOAD, number=4660, sequence=7, provider=wire.OTHER_GUID, stamp=stamp(9), thread=11, process=22)
    return trace(event), [dict(header="MESSAGE", id=4660, provider=wire.OTHER_GUID, time=at(9), thread=11, process=22, payload="2a000000")]


@case("The time without sequence and GUID: the members before it are absent, not zero.", s.MESSAGE_HEADER)
def time_and_system_info():
    event = wire.message(PAYLOAD, stamp=stamp(9), thread=11, process=22)
    return trace(event), [dict(header="MESSAGE", id=10, provider=None, time=at(9), thread=11, process=22, payload="2a000000")]


@case("A message without payload.", s.MESSAGE_HEADER)
def no_payload():
    return trace(wire.message(stamp=stamp(9)), wire.event(b"\1", stamp=stamp(10))), [
        dict(header="MESSAGE", time=at(9), payload=""), dict(header="EVENT_HEADER64", time=at(10), payload="01")]


# Type in the TMF file, conversion, bytes, and text.
TYPES = [
    ("char", "ItemChar", "c", b"A", "A"),
    ("short", "ItemShort", "d", struct.pack("<h", -2), "-2"),
    ("ushort", "ItemUShort", "u", struct.pack("<H", 65535), "65535"),
    ("long", "ItemLong", "d", struct.pack("<i", -5), "-5"),
    ("ulong", "ItemULong", "u", struct.pack("<I", 4_000_000_000), "4000000000"),
    ("hexadecimal", "ItemLong", "x", struct.pack("<I", 0xBEEF), "beef"),
    ("upper-hexadecimal", "ItemLong", "08X", struct.pack("<I", 0xBEEF), "0000BEEF"),
    ("width", "ItemLong", "6d", struct.pack("<i", 42), "    42"),
    ("left", "ItemLong", "-6d", struct.pack("<i", 42), "42    "),
    ("longlong", "ItemLongLong", "I64d", struct.pack("<q", -(2**40)), "-1099511627776"),
    ("ulonglong", "ItemULongLong", "I64u", struct.pack("<Q", 2**64 - 1), "18446744073709551615"),
    ("double", "ItemDouble", "s", struct.pack("<d", 1.5), "1.5"),
    ("string", "ItemString", "s", b"text\0", "text"),
    ("wide-string", "ItemWString", "s", wire.wide("Grüße\0"), "Grüße"),
    ("counted-string", "ItemPString", "s", struct.pack("<H", 4) + b"text", "text"),
    ("counted-wide-string", "ItemPWString", "s", struct.pack("<H", 8) + wire.wide("text"), "text"),
    ("guid", "ItemGuid", "s", wire.guid(wire.OTHER_GUID), "00112233-4455-6677-8899-aabbccddeeff"),
    ("ipv4", "ItemIPAddr", "s", bytes([192, 0, 2, 1]), "192.0.2.1"),
    ("port", "ItemPort", "s", struct.pack(">H", 443), "443"),
    ("list", "ItemListLong(zero,one,two)", "s", struct.pack("<I", 2), "two"),
    ("list-byte", "ItemListByte(no,yes)", "s", b"\1", "yes"),
    ("list-with-numbers", "ItemListByte(a,b=5,c)", "s", b"\6", "c"),
    ("set", "ItemSetLong(read,write,run)", "s", struct.pack("<I", 5), "[read,run]"),
    ("ntstatus", "ItemNTSTATUS", "s", struct.pack("<I", 0xC0000005), "0xc0000005(STATUS_ACCESS_VIOLATION)"),
    ("unsigned-char", "ItemUChar", "u", b"\xFE", "254"),
    ("negative-as-hexadecimal", "ItemChar", "x", b"\xFF", "ff"),
    ("alternate-hexadecimal", "ItemLong", "#x", struct.pack("<I", 0xBEEF), "0xbeef"),
    ("plus", "ItemLong", "+d", struct.pack("<i", 42), "+42"),
    ("zeros", "ItemLong", "06d", struct.pack("<i", -42), "-00042"),
    ("precision", "ItemLong", ".4d", struct.pack("<i", 42), "0042"),
    ("octal", "ItemLong", "o", struct.pack("<I", 8), "10"),
    ("string-precision", "ItemString", ".3s", b"abcdef\0", "abc"),
    ("string-width", "ItemString", "6s", b"abc\0", "   abc"),
    ("string-left", "ItemString", "-6s", b"abc\0", "abc   "),
    ("fixed", "ItemDouble", ".2f", struct.pack("<d", 1.25), "1.25"),
    ("empty-string", "ItemString", "s", b"\0", ""),
    ("list-short", "ItemListShort(zero,one)", "s", struct.pack("<H", 1), "one"),
    ("set-byte", "ItemSetByte(a,b,c)", "s", b"\6", "[b,c]"),
    ("ipv6", "ItemIPV6Addr", "s", bytes.fromhex("20010db8000000000000000000000001"), "2001:db8::1"),
    ("sid", "ItemSid", "s", struct.pack("<BB6sI", 1, 1, b"\0\0\0\0\0\5", 18), "S-1-5-18"),
]
TMF = [f"{MESSAGE_GUID} corpus // SRC=corpus.c MJ= MN="]


def text(name, number, rule, message, arguments, payload, expected, source, pointer=0x80):
    TMF.append(f'#typev corpus_{number} {number} "%0{message}" //   LEVEL=TRACE_LEVEL_INFORMATION FLAGS=ALL FUNC=main')
    TMF.extend(["{", *(f"argument, {ty} -- {10 + index}" for index, ty in enumerate(arguments)), "}"])
    event = wire.message(payload, number=number, provider=MESSAGE_GUID, stamp=stamp(1), pointer=pointer)
    add(f"messages-text-{name}", rule, source, trace(event), [dict(header="MESSAGE", id=number, provider=MESSAGE_GUID, message=expected)])


for index, (name, ty, conversion, payload, shown) in enumerate(TYPES):
    rule = f"A value of {ty} with the conversion {conversion}."
    text(name, 100 + index, rule, f"value <%10!{conversion}!>", [ty], payload, f"value <{shown}>", [s.TMF, s.WPP_TYPES, s.PRINTF])

POINTER = "A pointer has the size that the flags POINTER32 (0x40) and POINTER64 (0x80) state; %p prints all digits."
text("pointer64", 200, POINTER, "at %10!p!", ["ItemPtr"], struct.pack("<Q", 0xFFFFF80012345678), "at FFFFF80012345678",
     [s.MESSAGE_HEADER, s.PRINTF])
text("pointer32", 201, POINTER, "at %10!p!", ["ItemPtr"], struct.pack("<I", 0x12345678), "at 12345678", [s.MESSAGE_HEADER, s.PRINTF],
     pointer=0x40)
text("order", 202, "Arguments are stored in the order of the list, and inserted by number.", "%11!s! before %10!d!",
     ["ItemLong", "ItemString"], struct.pack("<i", 1) + b"two\0", "two before 1", [s.TMF])
text("percent", 203, "%% is a percent sign.", "100%% of %10!d!", ["ItemLong"], struct.pack("<i", 3), "100% of 3", [s.TMF])
text("function", 204, "%!FUNC! is the function in the comment of the message.", "%!FUNC!: %10!d!", ["ItemLong"], struct.pack("<i", 3),
     "main: 3", [s.TMF, s.WPP_TYPES])
text("no-arguments", 205, "A message can have no arguments.", "started", [], b"", "started", [s.TMF])
