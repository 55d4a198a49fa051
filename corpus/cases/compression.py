"""Compressed buffers (flag 0x40): one plain XPRESS stream after the header. Offset is the end of the events when decompressed."""

import sources as s
import wire
import xpress
from trace import Buffer, at, case, stamp, trace

MODE = dict(mode=0x04000001)


def compressed(events, tokens, **header):
    """A compressed buffer; the tokens stand for its events. The padding of the last event follows as literals."""
    body, own = b"".join(wire.pad(event) for event in events), xpress.expand(tokens)
    assert body.startswith(own) and len(body) - len(own) < 8, "the tokens stand for other bytes"
    return Buffer(events, header, stream=xpress.stream([*tokens, body[len(own):]]))


def one(payload, stamps=1):
    return wire.event(payload, stamp=stamp(stamps))


def parts(event, *tokens):
    """The header of the event as literals, then tokens for its payload."""
    return [event[:0x50], *tokens]


@case("A stream of literals: flags of 0, one bit for each byte, 32 bits before 32 literals.", s.XCA, s.BUFFER_FLAG)
def literals():
    event = one(bytes(range(16)))
    return trace(compressed([event], [event]), **MODE), [dict(time=at(1), payload=bytes(range(16)).hex())]


@case("A match of 3 to 9 bytes has its length in the low three bits, and its distance less 1 in the other 13.", s.XCA)
def short_match():
    event = one(b"abcdef" + b"abcdef" + b"wxyz")
    tokens = parts(event, b"abcdef", (6, 6), b"wxyz")
    return trace(compressed([event], tokens), **MODE), [dict(time=at(1), payload=b"abcdefabcdefwxyz".hex())]


@case("A match of 10 to 24 bytes has the rest of its length in a nibble.", s.XCA)
def nibble():
    event = one(b"0123456789abcdef" * 2)
    tokens = parts(event, b"0123456789abcdef", (16, 16))
    return trace(compressed([event], tokens), **MODE), [dict(time=at(1), payload=(b"0123456789abcdef" * 2).hex())]


@case("Two such matches share a byte: the first uses its low nibble, the second its high nibble, where the byte of the first is.", s.XCA)
def shared_nibble():
    text = b"0123456789abcdef"
    event = one(text * 2 + b"XY" * 7 + b"Q!")
    tokens = parts(event, text, (16, 16), b"XY", (12, 2), b"Q!")
    return trace(compressed([event], tokens), **MODE), [dict(time=at(1), payload=(text * 2 + b"XY" * 7 + b"Q!").hex())]


@case("A match of 25 to 279 bytes has the rest of its length in a byte.", s.XCA)
def long_match():
    event = one(b"\x5A" * 104)
    tokens = parts(event, b"\x5A", (103, 1))
    return trace(compressed([event], tokens), **MODE), [dict(time=at(1), payload="5a" * 104)]


@case("A match of 280 bytes or more has its length less 3 in 16 bits, after a byte of 255.", s.XCA)
def very_long_match():
    event = one(b"\x5A" * 504)
    tokens = parts(event, b"\x5A", (503, 1))
    return trace(compressed([event], tokens), **MODE), [dict(time=at(1), payload="5a" * 504)]


@case("A match can overlap the bytes that it writes.", s.XCA)
def overlap():
    event = one(b"ab" * 12)
    tokens = parts(event, b"ab", (22, 2))
    return trace(compressed([event], tokens), **MODE), [dict(time=at(1), payload="6162" * 12)]


@case("A match can refer to an earlier event of the buffer.", s.XCA)
def across_events():
    first, second = one(b"same payload, 24 bytes..", 1), one(b"same payload, 24 bytes..", 2)
    tokens = [first, second[:0x50], (24, len(first))]
    return trace(compressed([first, second], tokens), **MODE), [
        dict(time=at(1), payload=b"same payload, 24 bytes..".hex()), dict(time=at(2), payload=b"same payload, 24 bytes..".hex())]


@case("If the last flags are used up, the stream ends with 32 flags that are all ones.", s.XCA, s.MEASURED)
def flags_at_the_end():
    event = one(bytes(range(16)))
    assert len(event) % 32 == 0
    data = xpress.stream([event])
    assert data[-4:] == b"\xFF\xFF\xFF\xFF"
    return trace(Buffer([event], stream=data), **MODE), [dict(time=at(1), payload=bytes(range(16)).hex())]


@case("The distance of a match can be 8192.", s.XCA)
def largest_distance():
    middle = bytes((7 * index + index // 251) % 251 for index in range(8192 - 8))
    event = one(b"farthest" + middle + b"farthest" + b"the end.")
    tokens = parts(event, b"farthest", middle, (8, 8192), b"the end.")
    return trace(compressed([event], tokens), size=16384, **MODE), [dict(time=at(1), payload=(b"farthest" + middle + b"farthestthe end.").hex())]


@case("The size of a compressed buffer is that in the file; buffers follow each other without alignment.", s.MEASURED)
def back_to_back():
    events = [one(bytes([number]) * (5 + number), number) for number in range(1, 6)]
    buffers = [compressed([event], [wire.pad(event)], sequence=1 + index) for index, event in enumerate(events)]
    return trace(*buffers, **MODE), [dict(time=at(number), payload=f"{number:02x}" * (5 + number)) for number in range(1, 6)]


@case("A buffer without the flag is not compressed, also between compressed buffers.", s.BUFFER_FLAG)
def mixed():
    events = [one(bytes([number]) * 8, number) for number in range(1, 4)]
    buffers = [compressed([events[0]], [events[0]]), Buffer([events[1]], dict(sequence=2)), compressed([events[2]], [events[2]], sequence=3)]
    return trace(*buffers, **MODE), [dict(time=at(number), payload=f"{number:02x}" * 8) for number in range(1, 4)]


@case("The header buffer is never compressed.", s.MEASURED)
def header_buffer():
    event, other = one(b"in the header buffer", 1), one(b"compressed event", 2)
    data = trace(compressed([other], [other]), first=[event], **MODE)
    return data, [dict(time=at(1), payload=b"in the header buffer".hex()), dict(time=at(2), payload=b"compressed event".hex())]


@case("The processor of a compressed buffer is in its header, as of others.", s.BUFFER_HEADER)
def processor():
    event = one(b"12345678")
    return trace(compressed([event], [event], context=3), **MODE), [dict(time=at(1), processor=3, payload=b"12345678".hex())]


@case("An event can be much larger than its stream: 4,000 equal bytes are one literal and one match.", s.XCA)
def ratio():
    event = one(b"\x00" * 4000)
    tokens = parts(event, b"\x00", (3999, 1))
    return trace(compressed([event], tokens), size=8192, **MODE), [dict(time=at(1), payload="00" * 4000)]
