"""Damage. The events that must survive are those in which no byte is damaged, and which intact structures still reach."""

import struct

import sources as s
import wire
import xpress
from trace import Buffer, at, case, replaced, stamp, trace, u16, u32

DAMAGED = dict(damaged=True)
SIZE = 1024


def event(number, payload=None):
    return wire.event(bytes([number]) if payload is None else payload, stamp=stamp(number))


def buffer(*numbers, **header):
    return Buffer([event(number) for number in numbers], dict(sequence=numbers[0], time=stamp(numbers[-1]), **header))


def expected(*numbers):
    return [dict(time=at(number), payload=f"{number:02x}") for number in numbers]


def three():
    """Three buffers of two events each, at 0x400, 0x800 and 0xC00. Events are 0x58 bytes apart, from 0x48."""
    return trace(buffer(1, 2), buffer(3, 4), buffer(5, 6))


FIRST, SECOND, THIRD = SIZE, 2 * SIZE, 3 * SIZE
EVENT = 0x58


@case("A file that ends within its last buffer: its complete events survive.", s.BUFFER_HEADER, s.MEASURED, **DAMAGED)
def truncated_buffer():
    return three()[:THIRD + 0x48 + EVENT + 20], expected(1, 2, 3, 4, 5)


@case("A file that ends within a buffer header.", s.BUFFER_HEADER, **DAMAGED)
def truncated_header():
    return three()[:THIRD + 0x20], expected(1, 2, 3, 4)


@case("A file that ends between buffers has fewer than the trace header states.", s.TRACE_LOGFILE_HEADER, **DAMAGED)
def missing_buffer():
    return three()[:THIRD], expected(1, 2, 3, 4)


@case("A buffer of zeros: the buffers after it survive.", s.BUFFER_HEADER, **DAMAGED)
def zero_buffer():
    return replaced(three(), SECOND, bytes(SIZE)), expected(1, 2, 5, 6)


@case("A sector of zeros within a buffer: the events before it survive.", s.MEASURED, **DAMAGED)
def zero_sector():
    events = [event(number, bytes([number]) * 100) for number in range(1, 6)]
    data = replaced(trace(Buffer(events), buffer(9)), FIRST + 512, bytes(512))
    whole = [dict(time=at(number), payload=f"{number:02x}" * 100) for number in (1, 2)]
    # The length of the third event is before the sector. A reader cannot know that zeros replaced its other bytes.
    return data, [*whole, dict(optional=True), *expected(9)]


@case("BufferSize 0 in the header of a buffer: the buffers after it survive.", s.BUFFER_HEADER, **DAMAGED)
def buffer_size_zero():
    return replaced(three(), SECOND, u32(0)), expected(1, 2) + [dict(one, optional=True) for one in expected(3, 4)] + expected(5, 6)


@case("A BufferSize that is too large must not hide the buffers that follow.", s.BUFFER_HEADER, **DAMAGED)
def buffer_size_too_large():
    return replaced(three(), SECOND, u32(2 * SIZE)), expected(1, 2) + [dict(one, optional=True) for one in expected(3, 4)] + expected(5, 6)


@case("An Offset beyond the size of the buffer: its events are complete, and survive.", s.BUFFER_HEADER, **DAMAGED)
def offset_too_large():
    return replaced(three(), SECOND + 0x30, u32(0x7FFFFFFF)), expected(1, 2, 3, 4, 5, 6)


@case("An Offset of 0: the events are complete, and survive.", s.BUFFER_HEADER, **DAMAGED)
def offset_zero():
    return replaced(three(), SECOND + 0x30, u32(0)), expected(1, 2, 3, 4, 5, 6)


@case("An Offset before the last event: the bytes after it are not the fill of unused space, which is damage.", s.MEASURED, **DAMAGED)
def offset_too_small():
    data = replaced(three(), SECOND + 0x30, u32(0x48 + EVENT))
    return data, expected(1, 2, 3) + [dict(expected(4)[0], optional=True)] + expected(5, 6)


@case("An event of length 0: the events before it and the other buffers survive, and reading ends.", s.EVENT_HEADER, **DAMAGED)
def length_zero():
    return replaced(three(), SECOND + 0x48 + EVENT, u16(0)), expected(1, 2, 3, 5, 6)


@case("An event shorter than its header.", s.EVENT_HEADER, **DAMAGED)
def length_too_short():
    return replaced(three(), SECOND + 0x48 + EVENT, u16(0x20)), expected(1, 2, 3, 5, 6)


@case("An event longer than the rest of its buffer.", s.EVENT_HEADER, **DAMAGED)
def length_too_long():
    return replaced(three(), SECOND + 0x48 + EVENT, u16(0xFFFF)), expected(1, 2, 3, 5, 6)


@case("An unknown header type: its length still leads to the next event.", s.TRACE_HEADERS, **DAMAGED)
def unknown_type():
    data = replaced(three(), SECOND + 0x48 + 2, bytes([0x77]))
    return data, expected(1, 2) + [dict(optional=True)] + expected(4, 5, 6)


@case("An end marker before the valid end is damage: the events after it survive.", s.MEASURED, **DAMAGED)
def early_end_marker():
    data = trace(buffer(1, 2, 3), buffer(5))
    return replaced(data, FIRST + 0x48 + EVENT, b"\xFF" * 4), expected(1, 3, 5)


@case("An extended item that is longer than its event: the event is damaged, the next survives.", s.EXTENDED_ITEM, **DAMAGED)
def item_too_long():
    bad = wire.event(struct.pack("<HHHH", 0x400, 10, 0, 8) + bytes(8), flags=0x41, stamp=stamp(1))
    return trace(bad, event(2)), [dict(optional=True)] + expected(2)


@case("A chain of extended items that does not end within its event.", s.EXTENDED_ITEM, **DAMAGED)
def items_without_end():
    bad = wire.event(struct.pack("<HHHHQ", 16, 10, 1, 8, 5), flags=0x41, stamp=stamp(1))
    return trace(bad, event(2)), [dict(optional=True)] + expected(2)


@case("An extended item of size 0 must not be read for ever.", s.EXTENDED_ITEM, **DAMAGED)
def item_size_zero():
    bad = wire.event(struct.pack("<HHHHQ", 0, 10, 1, 8, 5), flags=0x41, stamp=stamp(1))
    return trace(bad, event(2)), [dict(optional=True)] + expected(2)


@case("The state of a buffer is damaged: its events survive.", s.BUFFER_HEADER, **DAMAGED)
def buffer_state():
    return replaced(three(), SECOND + 0x2C, b"\xEE\xEE\xEE\xEE"), expected(1, 2, 3, 4, 5, 6)


@case("Text before the second buffer, as of a mixed transfer: the buffers after it survive.", s.BUFFER_HEADER, **DAMAGED)
def inserted_bytes():
    data = three()
    return data[:SECOND] + b"HTTP/1.1 206 Partial Content\r\n" + data[SECOND:], expected(1, 2, 3, 4, 5, 6)


@case("Bytes missing from the end of a buffer's fill: the buffers after it survive.", s.BUFFER_HEADER, **DAMAGED)
def missing_bytes():
    data = three()
    return data[:SECOND + SIZE - 100] + data[THIRD:], expected(1, 2, 3, 4, 5, 6)


@case("Bytes after the last buffer.", s.BUFFER_HEADER, **DAMAGED)
def bytes_after_the_end():
    return three() + b"trailing bytes, 32 of them, here", expected(1, 2, 3, 4, 5, 6)


@case("Another trace after the end: its events have another clock, and are not of this one.", s.TRACE_LOGFILE_HEADER, **DAMAGED)
def appended_trace():
    return three() + trace(buffer(7)), expected(1, 2, 3, 4, 5, 6)


@case("A buffer that is in the file twice: the copy is reported.", s.BUFFER_HEADER, **DAMAGED)
def copied_buffer():
    data = trace(buffer(1, 2), buffer(3, 4), buffer(5))
    return data + data[THIRD:], expected(1, 2, 3, 4, 5) + [dict(expected(5)[0], optional=True)]


@case("A stamp outside of the time of the trace does not hide the event.", s.EVENT_HEADER)
def time_outside():
    data = replaced(three(), THIRD + 0x48 + EVENT + 0x10, struct.pack("<q", wire.START + 86_400 * 10_000_000 * 400))
    return data, [*expected(1, 2, 3, 4, 5), dict(payload="06", time="2025-04-05T12:00:00.0000000Z")]


def stream(number):
    own = wire.pad(event(number, bytes([number]) * 8))
    return Buffer([own], dict(sequence=number, time=stamp(number)), stream=xpress.stream([own]))


def long(number):
    return dict(time=at(number), payload=f"{number:02x}" * 8)


@case("A compressed stream with a distance before its start: the other buffers survive.", s.XCA, **DAMAGED)
def bad_stream():
    own = wire.pad(event(2, b"\2" * 8))
    broken = xpress.stream([own[:8], (8, 8), own[16:]])
    broken = broken.replace(struct.pack("<H", 7 << 3 | 5), struct.pack("<H", 4000 << 3 | 5))
    bad = Buffer([own], dict(sequence=2, time=stamp(2)), stream=broken)
    return trace(stream(1), bad, stream(3), mode=0x04000001), [long(1), long(3)]


@case("A compressed stream that ends too early: the other buffers survive.", s.XCA, **DAMAGED)
def short_stream():
    own = wire.pad(event(2, b"\2" * 8))
    bad = Buffer([own], dict(sequence=2, time=stamp(2)), stream=xpress.stream([own])[:40])
    return trace(stream(1), bad, stream(3), mode=0x04000001), [long(1), long(3)]


@case("A compressed stream with an error behind its first events: these survive.", s.XCA, **DAMAGED)
def late_stream_error():
    events = [wire.pad(event(number, bytes([number]) * 8)) for number in range(1, 4)]
    tokens = [events[0], events[1], events[2][:0x50], (8, 8000)]
    bad = Buffer(events, dict(sequence=1, time=stamp(3)), stream=xpress.stream(tokens))
    return trace(bad, stream(4), mode=0x04000001), [long(1), long(2), long(4)]


@case("A BufferSize of a compressed buffer that is too large hides no buffer.", s.BUFFER_HEADER, **DAMAGED)
def compressed_size_too_large():
    data = trace(stream(1), stream(2), stream(3), mode=0x04000001)
    return replaced(data, SIZE, u32(300)), [long(1), long(2), long(3)]


@case("A compressed buffer of zeros: the buffers after it survive.", s.BUFFER_HEADER, **DAMAGED)
def zero_compressed_buffer():
    data, length = trace(stream(1), stream(2), stream(3), mode=0x04000001), 0x48 + len(stream(1).stream)
    return replaced(data, SIZE + length, bytes(length)), [long(1), long(3)]


@case("An Offset that is too large for a compressed buffer must not use up memory: the other buffers survive.", s.MEASURED, **DAMAGED)
def huge_compressed():
    own = wire.pad(event(2, b"\2" * 8))
    bad = Buffer([own], dict(sequence=2, time=stamp(2), filled=0xFFFFFFF8), stream=xpress.stream([own]))
    return trace(stream(1), bad, stream(3), mode=0x04000001), [long(1), dict(long(2), optional=True), long(3)]


@case("The marker of the trace header's event is damaged: the trace header is readable, and so are the events.", s.SYSTEM_HEADER, **DAMAGED)
def header_marker():
    return replaced(three(), 0x48 + 3, b"\0"), expected(1, 2, 3, 4, 5, 6)


@case("The Offset of the header buffer is damaged: the trace header is complete.", s.BUFFER_HEADER, **DAMAGED)
def header_buffer_offset():
    return replaced(three(), 0x30, u32(0)), expected(1, 2, 3, 4, 5, 6)


@case("A value that ends beyond the payload: the fields before it survive.", s.TRACE_LOGGING, **DAMAGED)
def short_payload():
    body = b"\0Sample\0a\0\x04b\0\x08"
    schema = struct.pack("<H", 2 + len(body)) + body
    record = wire.event(b"\5\1\2", id=0, items=[(11, schema)], stamp=stamp(1))
    return trace(record), [dict(time=at(1), payload="050102", fields={"a": 5})]


@case("The hook of the trace header's event is damaged: two of marker, type and hook are enough to find it.", s.SYSTEM_HEADER, **DAMAGED)
def header_hook():
    return replaced(three(), 0x48 + 6, b"\x55\x55"), expected(1, 2, 3, 4, 5, 6)


@case("The length of the trace header's event is damaged: its structure has a known size.", s.TRACE_LOGFILE_HEADER, **DAMAGED)
def header_length():
    return replaced(three(), 0x48 + 4, u16(0)), expected(1, 2, 3, 4, 5, 6)


@case("BufferSize in the trace header is damaged: each buffer states its own size.", s.TRACE_LOGFILE_HEADER, **DAMAGED)
def header_size_of_buffers():
    return replaced(three(), 0x48 + 0x20, u32(0x12345)), expected(1, 2, 3, 4, 5, 6)


@case("PointerSize in the trace header is damaged: the header type has the width too.", s.TRACE_LOGFILE_HEADER, **DAMAGED)
def header_pointer_size():
    return replaced(three(), 0x48 + 0x20 + 0x2C, u32(0x77)), expected(1, 2, 3, 4, 5, 6)


@case("BufferSize of the header buffer is damaged: its trace header states the size of buffers.", s.BUFFER_HEADER, **DAMAGED)
def header_buffer_size():
    return replaced(three(), 0, u32(0)), expected(1, 2, 3, 4, 5, 6)


@case("The flags of a buffer have unknown bits: its events survive.", s.BUFFER_FLAG, **DAMAGED)
def buffer_flags():
    return replaced(three(), SECOND + 0x34, u16(0xFF00)), expected(1, 2, 3, 4, 5, 6)


@case("The type of a buffer is not known: its events survive.", s.BUFFER_TYPE, **DAMAGED)
def buffer_type():
    return replaced(three(), SECOND + 0x36, u16(0x99)), expected(1, 2, 3, 4, 5, 6)


@case("SavedOffset and Offset of a buffer of events differ: the events are complete.", s.BUFFER_HEADER, **DAMAGED)
def saved_offset():
    return replaced(three(), SECOND + 4, u32(0x77)), expected(1, 2, 3, 4, 5, 6)


@case("Random bytes in place of a buffer: the buffers around it survive, and no event is invented.", s.BUFFER_HEADER, **DAMAGED)
def random_buffer():
    noise = bytes((index * 197 + index * index * 31 + (index >> 3) * 89) % 251 for index in range(SIZE))
    return replaced(three(), SECOND, noise), expected(1, 2, 5, 6)


@case("A hole at the start of the file after the header buffer, as of a sparse copy.", s.BUFFER_HEADER, **DAMAGED)
def zeros_before_buffers():
    return three()[:FIRST] + bytes(4 * SIZE) + three()[FIRST:], expected(1, 2, 3, 4, 5, 6)


@case("The file ends within the names of the trace header: the trace header is complete.", s.TRACE_LOGFILE_HEADER, **DAMAGED)
def only_the_trace_header():
    return three()[:0x48 + 0x20 + 0x118 + 4], []


@case("The file ends within its header buffer, behind the trace header: the complete events survive.", s.TRACE_LOGFILE_HEADER, **DAMAGED)
def truncated_header_buffer():
    data = trace(buffer(9), first=[event(1), event(2)])
    return data[:0x48 + 0x168 + EVENT + 20], expected(1)
