"""The order of events over buffers and processors. The events must be returned in the order of time."""

import sources as s
import wire
from trace import Buffer, at, case, stamp, trace

TIME = dict(order="time")


def buffer(stamps, processor, sequence):
    events = [wire.event(bytes([number]), stamp=stamp(number)) for number in stamps]
    return Buffer(events, dict(context=processor, sequence=sequence, time=stamp(max(stamps))))


def expected(*pairs):
    return [dict(time=at(number), payload=f"{number:02x}", processor=processor) for number, processor in pairs]


@case("Events of two processors are merged by time.", s.MEASURED, **TIME)
def two_processors():
    return trace(buffer([1, 4, 5], 0, 1), buffer([2, 3, 6], 1, 2)), expected((1, 0), (2, 1), (3, 1), (4, 0), (5, 0), (6, 1))


@case("A buffer can be written long after its first event: later buffers have earlier events.", s.MEASURED, **TIME)
def late_buffer():
    buffers = [buffer([5, 6], 0, 1), buffer([1, 7], 1, 2), buffer([2, 3], 2, 3)]
    return trace(*buffers), expected((1, 1), (2, 2), (3, 2), (5, 0), (6, 0), (7, 1))


@case("The buffers of one processor can be out of order in the file, as in circular files.", s.MEASURED, **TIME)
def circular():
    buffers = [buffer([5, 6], 0, 3), buffer([1, 2], 0, 1), buffer([3, 4], 0, 2)]
    return trace(*buffers, mode=2), expected((1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0))


@case("Stamps can be out of order within a buffer.", s.MEASURED, **TIME)
def within_a_buffer():
    return trace(buffer([2, 1, 3], 0, 1)), expected((1, 0), (2, 0), (3, 0))


@case("16 processors.", s.MEASURED, **TIME)
def many_processors():
    buffers = [buffer([64 - number, 128 + number], number, 1 + number) for number in range(16)]
    first = [(64 - number, number) for number in reversed(range(16))]
    return trace(*buffers, processors=16), expected(*first, *((128 + number, number) for number in range(16)))


@case("The order is that of stamps before they are rounded to 100 ns.", s.MEASURED, **TIME)
def rounded():
    events = [wire.event(bytes([tick]), stamp=1000 + tick) for tick in (0, 2, 1, 3)]
    data = trace(Buffer(events[:2], dict(context=0)), Buffer(events[2:], dict(context=1, sequence=2)), clock=1, frequency=1_000_000_000,
                 start_stamp=1000)
    return data, [dict(payload=f"{tick:02x}", time=at(0)) for tick in (0, 1, 2, 3)]
