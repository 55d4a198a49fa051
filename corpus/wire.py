"""Bytes of the structures of a trace file, one function for each structure, by the offsets in docs/ETW.md."""

import struct
import uuid

GUID = "8d4b5ec5-1b2c-4d3e-9f60-718293a4b5c6"
OTHER_GUID = "00112233-4455-6677-8899-aabbccddeeff"
# 2024-03-01T12:00:00.0000000Z in units of 100 ns since 1601: 154,557 days and 12 hours.
START = (154_557 * 86_400 + 43_200) * 10_000_000


def guid(text):
    """A GUID: the first three parts are little-endian."""
    return uuid.UUID(text).bytes_le


def wide(text):
    return text.encode("utf-16-le")


def pad(data, size=8, fill=0):
    return data + bytes([fill]) * (-len(data) % size)


def buffer_header(size, filled, *, saved=None, current=None, time=START, sequence=1, context=0, logger=5, state=3, flags=0,
                  kind=0, generation=61):
    """WMI_BUFFER_HEADER, 0x48 bytes. Before 6.0, the members at 0 and 0x18 are a WNODE_HEADER's, which has BufferSize at 0 too."""
    saved = filled if saved is None else saved
    current = filled if current is None else current
    if generation < 60:
        sequence = 0
    if generation < 52:
        flags = kind = 0
    return struct.pack("<IIIIqqQHHIIHH16s", size, saved, current, 0, time, sequence, 0, context, logger, state, filled, flags,
                       kind, bytes(16))


def log_file_header(*, buffer_size, pointer_size=8, version=(10, 0, 1, 5), build=19045, processors=4, end_time=START + 600_000_000,
                    timer=156_250, mode=1, buffers=2, start_buffers=1, events_lost=0, mhz=3000, bias=0, boot=START - 36_000_000_000,
                    frequency=10_000_000, start=START, clock=2, buffers_lost=0, logger="Corpus", file="C:\\corpus.etl",
                    maximum_file_size=0):
    """TRACE_LOGFILE_HEADER, 0x110 or 0x118 bytes, and the two names that follow it."""
    head = struct.pack("<I4BIIqIIIIIIII", buffer_size, *version, build, processors, end_time, timer, maximum_file_size, mode,
                       buffers, start_buffers, pointer_size, events_lost, mhz)
    pointers = struct.pack("<QQ" if pointer_size == 8 else "<II", 0, 0)
    zone = struct.pack("<i64s16si64s16si", bias, b"", b"", 0, b"", b"", 0)
    tail = struct.pack("<qqqII", boot, frequency, start, clock, buffers_lost)
    data = head + pointers + zone
    # The boot time is at 0xF0 or 0xF8.
    data += bytes((0xF8 if pointer_size == 8 else 0xF0) - len(data))
    return data + tail + wide(logger + "\0") + wide(file + "\0")


def system(payload=b"", *, hook, version=0, kind=2, stamp=START, process=1234, thread=5678, kernel=0, user=0, size=None):
    """SYSTEM_TRACE_HEADER: types 1 and 2 have 0x20 bytes, the compact types 3 and 4 the first 0x18 of them."""
    header = struct.pack("<HBBHHIIq", version, kind, 0xC0, 0, hook, thread, process, stamp)
    if kind in (1, 2):
        header += struct.pack("<II", kernel, user)
    return _sized(header + payload, 4, size)


def perfinfo(payload=b"", *, hook, version=0, kind=0x11, stamp=START, pebs=None, counters=(), size=None):
    """PERFINFO_TRACE_HEADER: 0x10 bytes, then the PEBS index and the counters that Version announces."""
    word = version | (0x8000 if pebs is not None else 0) | len(counters) << 8
    words = ([] if pebs is None else [pebs]) + list(counters)
    header = struct.pack("<HBBHHq", word, kind, 0xC0, 0, hook, stamp)
    return _sized(header + b"".join(struct.pack("<Q", word) for word in words) + payload, 4, size)


def classic(payload=b"", *, provider=GUID, opcode=0, level=0, version=0, kind=0x14, stamp=START, process=1234, thread=5678,
            kernel=0, user=0, size=None):
    """EVENT_TRACE_HEADER, 0x30 bytes."""
    header = struct.pack("<HBBBBHIIq16sII", 0, kind, 0xC0, opcode, level, version, thread, process, stamp, guid(provider), kernel,
                         user)
    return _sized(header + payload, 0, size)


def instance(payload=b"", *, provider=GUID, opcode=0, level=0, version=0, kind=0x15, stamp=START, process=1234, thread=5678,
             own=1, parent=0, parent_provider=OTHER_GUID):
    """EVENT_INSTANCE_GUID_HEADER, 0x48 bytes."""
    header = struct.pack("<HBBBBHIIq16sIIII16s", 0, kind, 0xC0, opcode, level, version, thread, process, stamp, guid(provider), 0, 0,
                         own, parent, guid(parent_provider))
    return _sized(header + payload, 0, None)


def instance_handle(payload=b"", *, opcode=0, level=0, version=0, stamp=START, process=1234, thread=5678, own=1, parent=0):
    """EVENT_INSTANCE_HEADER of 5.0 and 5.1, 0x38 bytes."""
    header = struct.pack("<HBBBBHIIqQIIIIQ", 0, 0x0B, 0xC0, opcode, level, version, thread, process, stamp, 0xE1234567, own, parent,
                         0, 0, 0xE7654321)
    return _sized(header + payload, 0, None)


def event(payload=b"", *, provider=GUID, id=7, version=0, channel=0, level=4, opcode=0, task=0, keyword=0, kind=0x13, flags=None,
          prop=0, stamp=START, process=1234, thread=5678, kernel=0, user=0, activity=None, items=(), size=None):
    """EVENT_HEADER, 0x50 bytes, and extended items. Without `flags`, they state the pointer size of the header type, and items if any."""
    if flags is None:
        flags = (0x40 if kind == 0x13 else 0x20) | (1 if items else 0)
    header = struct.pack("<HBBHHIIq16sHBBBBHQII16s", 0, kind, 0xC0, flags, prop, thread, process, stamp, guid(provider), id, version,
                         channel, level, opcode, task, keyword, kernel, user, guid(activity) if activity else bytes(16))
    return _sized(header + chain(items) + payload, 0, size)


def chain(items):
    """Extended items, as pairs of type and data. Bit 0 of the third word is set if another item follows."""
    data = b""
    for index, (kind, own) in enumerate(items):
        size = (8 + len(own) + 7) // 8 * 8
        data += pad(struct.pack("<HHHH", size, kind, int(index + 1 < len(items)), len(own)) + own)
    return data


def message(payload=b"", *, number=10, flags=None, sequence=None, provider=None, component=None, stamp=None, thread=None, process=None,
            pointer=0x80, reserved=0):
    """MESSAGE_TRACE_HEADER, 8 bytes, and the optional members in the order of their flags."""
    options, data = pointer, b""
    if sequence is not None:
        options, data = options | 1, data + struct.pack("<I", sequence)
    if provider is not None:
        options, data = options | 2, data + guid(provider)
    if component is not None:
        options, data = options | 4, data + struct.pack("<I", component)
    if stamp is not None:
        options, data = options | 8, data + struct.pack("<q", stamp)
    if thread is not None:
        options, data = options | 0x20, data + struct.pack("<II", thread, process)
    options = options if flags is None else flags
    return _sized(struct.pack("<HBBHH", 0, reserved, 0x90, number, options) + data + payload, 0, None)


def _sized(record, at, size):
    """The record with its length, or another one, as 16 bits at an offset."""
    length = len(record) if size is None else size
    return record[:at] + struct.pack("<H", length) + record[at + 2:]
