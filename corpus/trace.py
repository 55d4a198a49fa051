"""Trace files from buffers, and the list of cases."""

import struct
from dataclasses import dataclass, field

import wire

T0 = "2024-03-01T12:00:00."
CASES = []


@dataclass
class Case:
    name: str
    rule: str
    source: list
    data: bytes
    events: list
    more: dict = field(default_factory=dict)


def case(rule, *source, **more):
    """Registers a function that returns a trace and the events that a reader must return. Its name is that of the case."""

    def register(function):
        group = function.__module__.split(".")[-1]
        add(f"{group}-{function.__name__.strip('_').replace('_', '-')}", rule, source, *function(), **more)
        return function

    return register


def add(name, rule, source, data, events, **more):
    CASES.append(Case(name, rule, list(source), data, events, more))


def at(milliseconds):
    """The time of a stamp of the system clock. Milliseconds, so that only the cases about clocks need exact arithmetic."""
    return f"{T0}{milliseconds:03}0000Z"


def stamp(milliseconds):
    return wire.START + milliseconds * 10_000


@dataclass
class Buffer:
    """A buffer: events, each padded to a multiple of eight bytes, and the members of its header that are not the usual ones."""

    events: list
    header: dict = field(default_factory=dict)
    size: int = None
    stream: bytes = None
    fill: int = 0xFF
    padding: int = 0

    def data(self, size, generation):
        body = b"".join(wire.pad(event, 8, self.padding) for event in self.events)
        filled = 0x48 + len(body)
        header = dict(generation=generation, **self.header)
        if self.stream is not None:
            whole = 0x48 + len(self.stream)
            header["flags"] = header.get("flags", 0) | 0x40
            return wire.buffer_header(header.pop("size", whole), header.pop("filled", filled), **header) + self.stream
        size = self.size or size
        assert filled <= size, f"{filled} bytes of events in a buffer of {size}"
        data = wire.buffer_header(header.pop("size", size), header.pop("filled", filled), **header) + body
        return data + bytes([self.fill]) * (size - len(data))


def trace(*parts, size=1024, generation=61, first=(), first_header=None, start_stamp=None, header_event=None, **log):
    """A trace: the buffer of the trace header, then buffers, or one buffer of the given events."""
    buffers = list(parts)
    if not buffers or not isinstance(buffers[0], Buffer):
        buffers = [Buffer(buffers)]
    log.setdefault("buffers", 1 + len(buffers))
    pointer_size = log.get("pointer_size", 8)
    own = dict(kind=2 if pointer_size == 8 else 1, version=2, process=4, thread=8)
    own.update(header_event or {})
    log_stamp = log.get("start", wire.START) if start_stamp is None else start_stamp
    head = wire.system(wire.log_file_header(buffer_size=size, **log), hook=0, stamp=log_stamp, **own)
    first = Buffer([head, *first], dict(kind=4, **(first_header or {})))
    return first.data(size, generation) + b"".join(buffer.data(size, generation) for buffer in buffers)


def replaced(data, at, new):
    """Data with other bytes at an offset."""
    return data[:at] + new + data[at + len(new):]


def u32(value):
    return struct.pack("<I", value)


def u16(value):
    return struct.pack("<H", value)
