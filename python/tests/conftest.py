"""Traces for the tests: one that is made here, and those in the folder that ETW_LAYOUTS_ETL names."""

import json
import os
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

COUNT = 500


def folder() -> Path | None:
    """The folder of real traces."""
    name = os.environ.get("ETW_LAYOUTS_ETL")
    return Path(name) if name else None


def traces() -> list[Path]:
    found = folder()
    return sorted(found.glob("*.etl")) if found else []


def left_out(name: str, remedy: str) -> None:
    """Skips a test, or fails if ETW_LAYOUTS_REQUIRED lists what is absent."""
    text = f"left out: {name} is absent; {remedy}"
    if name in os.environ.get("ETW_LAYOUTS_REQUIRED", "").split():
        pytest.fail(text, pytrace=False)
    pytest.skip(text, allow_module_level=True)


def pytest_report_header() -> str | None:
    return None if folder() else "left out: tests of real traces; set ETW_LAYOUTS_ETL to a folder of traces"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "trace" in metafunc.fixturenames:
        metafunc.parametrize("trace", ["made", *traces()], ids=lambda trace: Path(trace).name, indirect=True)


@pytest.fixture
def trace(request, made) -> Path:
    return made if request.param == "made" else request.param


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Path:
    """A trace with process starts of two processors, in several buffers."""
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


def trace_of(count: int) -> bytes:
    """A trace of Windows 10 2004 with starts of processes, a millisecond apart, alternately on two processors."""
    start = 132_000_000_000_000_000
    # Two buffers have events of the same time, so that the order of the file is not that of time.
    indices = [range(first + half, min(first + 40, count), 2) for first in range(0, count, 40) for half in (0, 1)]
    batches = [[(index, start + index * 10_000) for index in own] for own in indices]
    log = struct.pack("<I4BIIqIIIIIIIIQQ176xqqqII", 0x1000, 10, 0, 5, 1, 19041, 2, start + count * 10_000, 156250, 0, 1, len(batches) + 1,
                      1, 8, 0, 2400, 0, 0, start, 10_000_000, start, 2, 0)
    first = event(0x0000, 2, start, log + wide("made") + wide("made.etl"))
    buffers = [buffer([first], 0, 0, start)]
    for number, batch in enumerate(batches, 1):
        events = [process_start(1000 + index, time, f"program{index % 7}.exe") for index, time in batch]
        buffers.append(buffer(events, number, number % 2, batch[-1][1]))
    return b"".join(buffers)


def program(*words: object) -> list[dict]:
    """The lines of JSON that the program prints."""
    words = [sys.executable, "-m", "etw", *map(str, words), "--format", "json"]
    output = subprocess.run(words, capture_output=True, text=True, check=False)
    assert output.returncode in (0, 1), output.stderr
    return [json.loads(line) for line in output.stdout.splitlines()]


@dataclass
class Printed:
    """The number of events that the program prints for a trace, and some of them by their index, evenly spaced."""

    count: int
    sample: dict[int, dict]


@pytest.fixture(scope="session")
def printed():
    """The events that the program prints: up to 300 of each trace."""
    known: dict[Path, Printed] = {}

    def events(path: Path) -> Printed:
        if path not in known:
            words = [sys.executable, "-m", "etw", "etl", "events", "--payload", "fields", "--format", "json", path]
            lines = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout.splitlines()
            chosen = range(0, len(lines), max(1, len(lines) // 300))
            known[path] = Printed(len(lines), {index: json.loads(lines[index]) for index in chosen})
        return known[path]

    return events
