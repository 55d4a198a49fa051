"""The header of a buffer: where its events end, which processor wrote them, and the forms of older versions."""

import sources as s
import wire
from trace import Buffer, at, case, stamp, trace

TWO = [wire.event(b"\x01", stamp=stamp(1)), wire.event(b"\x02", stamp=stamp(2))]
BOTH = [dict(time=at(1), payload="01"), dict(time=at(2), payload="02")]


def events(*stamps):
    return [wire.event(bytes([number]), stamp=stamp(number)) for number in stamps]


def expected(*stamps, **more):
    return [dict(time=at(number), payload=f"{number:02x}", **more) for number in stamps]


@case("The events of a buffer end at Offset (at 0x30), rounded up to a multiple of eight bytes.", s.BUFFER_HEADER, s.MEASURED)
def valid_end():
    return trace(Buffer(TWO)), BOTH


@case("Offset need not be a multiple of eight.", s.MEASURED)
def unaligned_end():
    return trace(Buffer(TWO, dict(filled=0x48 + 2 * 0x58 - 7))), BOTH


@case("SavedOffset (at 4) is 0 or stale in header buffers: only Offset counts.", s.MEASURED)
def saved_offset_of_header_buffer():
    return trace(*TWO, first_header=dict(saved=0)), BOTH


@case("CurrentOffset (at 8) can exceed the size of the buffer: it has no meaning in a file.", s.MEASURED)
def current_offset():
    return trace(Buffer(TWO, dict(current=4096))), BOTH


@case("A buffer without events is valid.", s.MEASURED)
def empty():
    return trace(Buffer(events(1)), Buffer([]), Buffer(events(2))), BOTH


@case("A trace with only its header is valid.", s.MEASURED)
def no_data_buffers():
    data = trace(Buffer([]), buffers=1)
    return data[:1024], []


@case("Events can follow the trace header in the first buffer.", s.MEASURED)
def events_in_header_buffer():
    return trace(*events(2), first=events(1)), expected(1, 2)


@case("Without the flag PROC_INDEX, the processor is the low byte at 0x28; the byte after it is Alignment.", s.BUFFER_HEADER,
      s.BUFFER_FLAG)
def processor_number():
    return trace(Buffer(events(1), dict(context=0x0803))), expected(1, processor=3)


@case("With the flag PROC_INDEX (0x20), the processor is a 16-bit index at 0x28.", s.BUFFER_HEADER, s.BUFFER_FLAG)
def processor_index():
    return trace(Buffer(events(1), dict(context=0x0103, flags=0x20)), processors=512), expected(1, processor=0x0103)


@case("Buffers of each processor have their own events.", s.BUFFER_HEADER)
def processors():
    buffers = [Buffer(events(1 + number), dict(context=number, sequence=1 + number)) for number in range(4)]
    return trace(*buffers), [dict(time=at(1 + number), processor=number) for number in range(4)]


KINDS = [(0, "GENERIC"), (1, "RUNDOWN"), (3, "REFTIME"), (5, "BATCHED")]


@case("The type of a buffer does not change how its events are read.", s.BUFFER_TYPE)
def buffer_types():
    buffers = [Buffer(events(1 + index), dict(kind=kind, sequence=1 + index)) for index, (kind, _) in enumerate(KINDS)]
    return trace(*buffers), expected(*range(1, 1 + len(KINDS)))


@case("The flags FLUSH_MARKER, EVENTS_LOST, BUFFER_LOST and RTBACKUP do not change how events are read.", s.BUFFER_FLAG)
def buffer_flags():
    flags = (0x01, 0x02, 0x04, 0x10)
    buffers = [Buffer(events(1 + index), dict(flags=flag, sequence=1 + index)) for index, flag in enumerate(flags)]
    return trace(*buffers), expected(1, 2, 3, 4)


@case("Sequence numbers need not begin at 1, and need not be in order.", s.MEASURED)
def sequence_numbers():
    buffers = [Buffer(events(1 + index), dict(sequence=sequence)) for index, sequence in enumerate((900, 17, 901))]
    return trace(*buffers), expected(1, 2, 3)


@case("EventsLost and BuffersLost of the trace header state what the session lost.", s.TRACE_LOGFILE_HEADER, events_lost=356,
      buffers_lost=7)
def lost():
    return trace(*TWO, events_lost=356, buffers_lost=7), BOTH


@case("BuffersWritten can be 0 in a file that was never closed: the events are read to the end of the file.", s.MEASURED)
def never_closed():
    return trace(*TWO, buffers=0, end_time=0), BOTH


@case("A session that was not closed leaves unused buffers of zeros at the end of its file.", s.MEASURED)
def unwritten_buffers():
    return trace(*TWO, buffers=0, end_time=0) + bytes(2048), BOTH


@case("The names of the session and of the file are UTF-16 texts after TRACE_LOGFILE_HEADER.", s.TRACE_LOGFILE_HEADER,
      session="Sitzung Ω")
def session_name():
    return trace(*TWO, logger="Sitzung Ω"), BOTH


@case("TRACE_LOGFILE_HEADER of a 32-bit system has 0x110 bytes: its two pointers have four bytes.", s.TRACE_LOGFILE_HEADER, session="Wow")
def log_file_header_32():
    return trace(*TWO, pointer_size=4, logger="Wow"), BOTH


@case("The event of the trace header can have version 0, in files of private sessions.", s.MEASURED)
def header_event_version_0():
    return trace(*TWO, header_event=dict(version=0)), BOTH


OLD = dict(header="FULL_HEADER32", payload="05", processor=1, process=1234, thread=5678)


def old(generation, version, build):
    event = wire.classic(b"\x05", kind=0x0A, stamp=stamp(1))
    buffer = Buffer([event], dict(context=1))
    return trace(buffer, pointer_size=4, generation=generation, version=version, build=build), [dict(OLD, time=at(1))]


@case("Windows 2000: the buffer header begins with a WNODE_HEADER, without flags and type.", s.BUFFER_HEADER)
def windows_2000():
    return old(50, (5, 0, 0, 0), 2195)


@case("Windows XP: the buffer header begins with a WNODE_HEADER, without flags and type.", s.BUFFER_HEADER)
def windows_xp():
    return old(51, (5, 1, 0, 0), 2600)


@case("Windows Server 2003: the buffer header begins with a WNODE_HEADER, and has flags and type.", s.BUFFER_HEADER)
def windows_2003():
    return old(52, (5, 2, 0, 0), 3790)


@case("Windows Vista: the buffer header has a sequence number.", s.BUFFER_HEADER)
def windows_vista():
    return old(60, (6, 0, 0, 0), 6001)


@case("The size of buffers is that of the trace header, from 1 KiB.", s.TRACE_LOGFILE_HEADER)
def sizes():
    large = wire.event(bytes(1900), stamp=stamp(1))
    return trace(Buffer([large, *events(2)]), size=2048 + 128), [dict(time=at(1)), *expected(2)]


@case("An event can have more than 32 KiB: its length is an unsigned 16-bit number.", s.EVENT_HEADER)
def large_event():
    event = wire.event(b"\xAB" * 33_000, stamp=stamp(1))
    return trace(Buffer([event, *events(2)]), size=36864), [dict(time=at(1)), *expected(2)]
