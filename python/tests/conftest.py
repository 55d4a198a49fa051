"""Traces for the tests: generated traces, and the real traces in the folder ETW_LAYOUTS_ETL."""

import json
import os
import struct
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

COUNT = 500

weekly = pytest.mark.skipif(not os.environ.get("ETW_LAYOUTS_ALL"), reason="takes long; set ETW_LAYOUTS_ALL")



def folder() -> Path | None:
    """The folder of real traces."""
    name = os.environ.get("ETW_LAYOUTS_ETL")
    return Path(name) if name else None


def traces() -> list[Path]:
    found = folder()
    return sorted(found.glob("*.etl")) if found else []


def skipped(name: str, remedy: str) -> None:
    """Skips a test, or fails if ETW_LAYOUTS_REQUIRED lists the missing name."""
    text = f"skipped: {name} is missing; {remedy}"
    if name in os.environ.get("ETW_LAYOUTS_REQUIRED", "").split():
        pytest.fail(text, pytrace=False)
    pytest.skip(text, allow_module_level=True)


def pytest_report_header() -> str | None:
    return None if folder() else "skipped: tests of real traces; set ETW_LAYOUTS_ETL to a folder of traces"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "trace" in metafunc.fixturenames:
        metafunc.parametrize("trace", ["made", "varied", *traces()], ids=lambda trace: Path(trace).name, indirect=True)


@pytest.fixture
def trace(request, made, varied) -> Path:
    return {"made": made, "varied": varied}.get(request.param, request.param)


@pytest.fixture(scope="session")
def varied(tmp_path_factory) -> Path:
    """A trace with events that have random fields of all types, and payloads of random bytes."""
    path = tmp_path_factory.mktemp("traces") / "varied.etl"
    path.write_bytes(varied_of(COUNT))
    return path


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Path:
    """A trace with process starts on two processors, in several buffers."""
    path = tmp_path_factory.mktemp("traces") / "made.etl"
    path.write_bytes(trace_of(COUNT))
    return path


def wide(text: str) -> bytes:
    return text.encode("utf-16-le") + b"\0\0"


def event(hook: int, version: int, time: int, payload: bytes, process: int = 4) -> bytes:
    header = struct.pack("<HBBHHIIqII", version, 2, 0xC0, 32 + len(payload), hook, 8, process, time, 0, 0)
    return (header + payload).ljust((len(header) + len(payload) + 7) // 8 * 8, b"\xff")


def buffer(events: list[bytes], number: int, processor: int, time: int, size: int = 0x1000) -> bytes:
    used = 0x48 + sum(map(len, events))
    header = struct.pack("<IIIiqqQHHIIHH16x", size, used, used, 0, time, number, 0, processor, 1, 3, used, 1, 0 if number else 4)
    return (header + b"".join(events)).ljust(size, b"\xff")


def process_start(process: int, time: int, name: str) -> bytes:
    sid = struct.pack("<QQBB6xI", 1, 0, 1, 1, 18)
    sid = sid[:18] + b"\0\0\0\0\0\x05" + struct.pack("<I", 18)
    fields = struct.pack("<QIIIiQI", 0xFFFF800000000000 + process, process, 4, 1, 0, 0x1000, 0) + sid
    return event(0x0301, 4, time, fields + name.encode() + b"\0" + wide(f"{name} --number {process}") + wide("") + wide(""))


START = 132_000_000_000_000_000


def log_file(count: int, buffers: int) -> bytes:
    """The first event of a Windows 10 2004 trace. Its events are one millisecond apart."""
    log = struct.pack("<I4BIIqIIIIIIIIQQ176xqqqII", 0x1000, 10, 0, 5, 1, 19041, 2, START + count * 10_000, 156250, 0, 1, buffers,
                      1, 8, 0, 2400, 0, 0, START, 10_000_000, START, 2, 0)
    return event(0x0000, 2, START, log + wide("made") + wide("made.etl"))


def trace_of(count: int) -> bytes:
    """A trace with process starts, alternately on two processors."""
    # Each pair of buffers covers the same time, so that file order differs from time order.
    indices = [range(first + half, min(first + 40, count), 2) for first in range(0, count, 40) for half in (0, 1)]
    batches = [[(index, START + index * 10_000) for index in own] for own in indices]
    buffers = [buffer([log_file(count, len(batches) + 1)], 0, 0, START)]
    for number, batch in enumerate(batches, 1):
        events = [process_start(1000 + index, time, f"program{index % 7}.exe") for index, time in batch]
        buffers.append(buffer(events, number, number % 2, batch[-1][1]))
    return b"".join(buffers)


def varied_of(count: int) -> bytes:
    """A trace with TraceLogging events, one in each buffer."""
    random = Random(24)
    buffers = [buffer([log_file(count, count + 1)], 0, 0, START)]
    for index in range(count):
        time = START + index * 10_000
        fields = b"".join(varied_field(random, 2) for _ in range(random.randrange(24)))
        # Small numbers are frequent, so that counts and lengths stay within the payload.
        numbers = [*bytes(random.choice([4, 40])), 1, 2, 3, ord("A"), 0x1F, 0x7F, 0xFF, *random.randbytes(4)]
        payload = bytes(random.choices(numbers, k=random.randrange(400)))
        buffers.append(buffer([trace_logging(time, f"Event{index % 9}", fields, payload)], index + 1, index % 2, time))
    return b"".join(buffers)


def varied_field(random: Random, depth: int) -> bytes:
    """A field of a TraceLogging schema, or a structure with its members. Names can repeat."""
    name = random.choice(["a", "b", "a#2", "\u00e9\u4e2d", 'quote"\\', "\u202e\x07", f"field{random.randrange(30)}"]).encode() + b"\0"
    count = random.choice([0, 0, 0, 0x20, 0x40, 0x60])
    after = {0x20: struct.pack("<H", random.randrange(4)), 0x60: b"\2\0ab"}.get(count, b"")
    if depth and random.random() < 0.1:
        members = random.randrange(4)
        return name + bytes([0x80 | count | 24, members]) + after + b"".join(varied_field(random, depth - 1) for _ in range(members))
    kind, out = random.randrange(1, 24), random.choice([0, 0, random.randrange(40)])
    return name + (bytes([0x80 | count | kind, out]) if out else bytes([count | kind])) + after


def trace_logging(time: int, name: str, fields: bytes, payload: bytes) -> bytes:
    """An event with its schema in an extended data item."""
    schema = b"\0" + name.encode() + b"\0" + fields
    schema = struct.pack("<H", len(schema) + 2) + schema
    size = (8 + len(schema) + 7) // 8 * 8
    item = struct.pack("<HHHH", size, 11, 0, len(schema)) + schema.ljust(size - 8, b"\0")
    length = 80 + len(item) + len(payload)
    header = struct.pack("<HBBHHIIq16sHBBBBHQQ16s", length, 0x13, 0xC0, 0x41, 0, 8, 4, time, b"provider of test", 0, 0, 11, 5, 0, 0, 1, 0, bytes(16))
    return (header + item + payload).ljust((length + 7) // 8 * 8, b"\xff")


def program(*words: object) -> list[dict]:
    """The lines of JSON that the program prints."""
    words = [sys.executable, "-m", "etw", *map(str, words), "--format", "json"]
    output = subprocess.run(words, capture_output=True, text=True, check=False)
    assert output.returncode in (0, 1), output.stderr
    return [json.loads(line) for line in output.stdout.splitlines()]


@dataclass
class Printed:
    """The number of events that the program prints for a trace, and some of the events by index."""

    count: int
    sample: dict[int, dict]


SAMPLE = 1000


def sampled(lines: Iterable[bytes], seed: str) -> Printed:
    """Up to SAMPLE random lines, each with the same probability. Only these lines are decoded."""
    random, chosen, count = Random(seed), [], 0
    for index, line in enumerate(lines):
        count += 1
        place = index if index < SAMPLE else random.randrange(count)
        if place < SAMPLE:
            chosen[place : place + 1] = [(index, line)]
    return Printed(count, {index: json.loads(line) for index, line in sorted(chosen)})


@pytest.fixture(scope="session")
def printed():
    """Random events of each trace, as printed by the program."""
    known: dict[Path, Printed] = {}

    def events(path: Path) -> Printed:
        if path not in known:
            words = [sys.executable, "-m", "etw", "etl", "events", "--payload", "fields", "--format", "json", path]
            with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
                known[path] = sampled(child.stdout, path.name)
        return known[path]

    return events
