"""Traces, events, and reports of damage."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from datetime import datetime, timedelta, timezone
from itertools import islice
from pathlib import Path
from random import Random
from types import SimpleNamespace

import conftest
import pytest

import etw
from etw import _etw
from etw._options import options_of

HEADER = ["file", "buffer", "buffer_offset", "offset", "time", "processor", "process", "thread", "process_name", "process_by",
          "header_process", "header_thread", "kernel_time", "user_time", "subject", "subject_name", "subject_by", "provider", "provider_name", "event", "id", "version", "opcode", "level", "keyword", "task", "channel", "activity", "related", "size",
          "payload_size"]


def keyword(value):
    """Keywords are text in JSON."""
    return int(value, 16) if isinstance(value, str) else value


@pytest.mark.filterwarnings("ignore::etw.DamageWarning")
def test_events_equal_the_output_of_the_program(trace, printed):
    lines = printed(trace)
    read = etw.open(trace)
    assert read.info == conftest.program("etl", "info", trace)[0]
    assert read.processes() == conftest.program("etl", "processes", "--images", trace)
    top = read.top("events", by="process")
    assert top.rows == conftest.program("etl", "top", "events", "--by", "process", trace)
    assert sum(row["events"] for row in top.rows) == top.events == top.total["events"]
    with pytest.raises(etw.Error, match="`gc` has no key `module`"):
        read.top("gc", by=["module"])
    count = 0
    for index, event in enumerate(read.events()):
        count += 1
        line = lines.sample.get(index)
        if line is None:
            continue
        assert event.to_dict() == line
        assert event.fields == line.get("fields", {})
        expected = {name: keyword(line[name]) if name == "keyword" else line[name] for name in HEADER}
        assert {name: getattr(event, name) for name in HEADER} == expected
        assert len(event.payload) == event.payload_size
        if event.time is not None:
            expected = datetime(1601, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=event.time // 10)
            assert event.time_utc == expected
    assert count == lines.count == read.info["events"]


@pytest.mark.filterwarnings("ignore::etw.DamageWarning")
def test_fields_equal_those_of_the_json(trace):
    """Fields are converted without JSON, but have the same names, values, types and order. Tests all events, or some of a large trace."""
    read, types = etw.open(trace), set()
    for event in islice(read.events(), 0, None, read.info["events"] // 20_000 + 1):
        fields = event.fields
        assert repr(fields) == repr(event.to_dict().get("fields", {}))
        types.update(map(type, fields.values()))
    assert trace.name != "varied.etl" or types == {int, float, bool, str, list, dict}, types


@pytest.mark.filterwarnings("ignore::etw.DamageWarning")
def test_order_of_time(trace):
    read = etw.open(trace)
    key = lambda event: (event.buffer, event.offset)
    in_file = [(event.time, key(event)) for event in read.events()]
    by_time = [(event.time, key(event)) for event in read.events(order="time")]
    assert sorted(in_file, key=lambda pair: pair[1]) == sorted(by_time, key=lambda pair: pair[1])
    times = [time for time, _ in by_time if time is not None]
    assert times == sorted(times)


@pytest.mark.filterwarnings("ignore::etw.DamageWarning")
def test_who_and_stack(trace):
    """Names of processes are those of the list of processes; the stack of a sample contains the sampled address."""
    read = etw.open(trace)
    images: dict[int, set[str | None]] = {}
    for process in read.processes():
        images.setdefault(process["process"], set()).add(process["image"])
    samples, found = 0, 0
    for event in islice(read.events(), 0, None, read.info["events"] // 20_000 + 1):
        assert event.process_name in images.get(event.process, {None}) | {None}
        assert event.process_by is not None or event.process_name is None
        if event.event == "PerfInfo/SampleProf" and (stack := event.stack):
            samples, found = samples + 1, found + (int(event["InstructionPointer"], 16) in stack)
    assert found >= samples * 0.999
    assert "net.4.5.2" not in trace.name or samples > 100, samples


@pytest.mark.filterwarnings("ignore::etw.DamageWarning")
def test_files_of_a_session_are_one_trace(made, tmp_path):
    """Two files with alternate buffers of a session have the events of one file with all buffers, in the same order of time."""
    content = made.read_bytes()
    buffers = [content[at : at + 0x1000] for at in range(0x1000, len(content), 0x1000)]
    parts = [tmp_path / "one.etl", tmp_path / "two.etl"]
    for number, path in enumerate(parts):
        path.write_bytes(content[:0x1000] + b"".join(buffers[number::2]))

    def events(trace):
        # Each file has the event of its log file header.
        found = [event for event in trace.events(order="time") if event.provider_name == "Process"]
        return [(event.time, event.payload, event.process, event.process_name, event.process_by, event.subject) for event in found]

    trace, whole = etw.open(parts), etw.open(made)
    assert trace.name == f"{parts[0]} and 1 more"
    assert events(trace) == events(whole)
    assert {event.file for event in trace.events()} == set(map(str, parts))
    assert {event.subject for event in trace.events()} - {None} == {process["process"] for process in trace.processes()} - {4}
    own = lambda process: {name: value for name, value in process.items() if name not in ("file", "files")}
    assert list(map(own, trace.processes())) == list(map(own, whole.processes())) != []
    assert sum(map(len, trace.batches())) == conftest.COUNT + 2
    with pytest.raises(etw.Error, match="the trace has 2 files; open each of them alone"):
        trace.info
    with pytest.raises(etw.Error, match="the list is empty"):
        etw.open([])


def test_a_file_that_changes_is_an_error(made, tmp_path):
    path = tmp_path / "changed.etl"
    content = made.read_bytes()
    path.write_bytes(content)
    trace = etw.open(path)
    path.write_bytes(content + content[-0x1000:])
    with pytest.warns(etw.DamageWarning, match="changed.etl: 4096 bytes were added after the file was opened"):
        assert len(list(trace.events())) == conftest.COUNT + 1
    path.write_bytes(content[:-0x1000])
    for read in [lambda: list(trace.events()), lambda: list(trace.batches())]:
        with pytest.raises(etw.Error, match="changed.etl: the file became shorter while it was read") as caught:
            read()
        assert caught.value.path == str(path)


def test_path_bytes_and_file_are_equal(made):
    def events(source):
        return [{**event.to_dict(), "file": ""} for event in etw.open(source).events()]

    content = made.read_bytes()
    expected = events(made)
    assert len(expected) == conftest.COUNT + 1
    with open(made, "rb") as file:
        assert events(str(made)) == events(content) == events(bytearray(content)) == events(file) == expected


def test_filters_equal_those_of_the_program(made):
    cases = [
        {"event": "Process/Start"},
        {"provider": ["Process", "Thread"], "processor": 1},
        {"process": 4, "from": 0.1, "to": 0.2},
        {"id": ["0x0301"], "to": "2019-04-17T18:40:00.1"},
        {"from": datetime(2019, 4, 17, 18, 40, 0, 250_000, tzinfo=timezone.utc)},
    ]
    seen = set()
    for filter in cases:
        options = [word for name, value in options_of(filter) for word in ("--" + name, value)]
        expected = conftest.program("etl", "events", "--payload", "fields", *options, made)
        with warnings.catch_warnings(record=True):
            found = [event.to_dict() for event in etw.open(made).events(filter=filter)]
        assert found == expected, filter
        seen.add(len(found))
    assert len(seen) > 2, seen


def test_errors_have_place_and_remedy(made, tmp_path):
    missing = tmp_path / "missing.etl"
    with pytest.raises(etw.ReadError, match="no such file or folder; check the path") as caught:
        etw.open(missing)
    assert isinstance(caught.value, OSError) and caught.value.path == str(missing) and caught.value.errno == 2
    with pytest.raises(etw.ReadError, match="is a folder; open a file in it, or use etw.batches"):
        etw.open(tmp_path)
    other = tmp_path / "dump.etl"
    other.write_bytes(b"PAGEDU64" + bytes(100))
    with pytest.raises(etw.Error, match="kernel crash dump; use") as caught:
        etw.open(other)
    assert caught.value.path == str(other)
    with pytest.raises(etw.Error, match="unknown option `providers`; known options: provider, event"):
        etw.open(made).events(filter={"providers": "x"})
    with pytest.raises(etw.Error, match="'Process/Start' is not a dict; use one such as"):
        etw.open(made).events(filter="Process/Start")
    with pytest.raises(etw.Error, match="invalid value 'x' for '--process"):
        etw.open(made).events(filter={"process": "x"})
    with pytest.raises(etw.Error, match='unknown order `x`; use "time" or "file"'):
        etw.open(made).events(order="x")
    with pytest.raises(etw.Error, match="unknown table `Process/Start`"):
        etw.open(made).batches(table="Process/Start")
    with pytest.raises(etw.Error):
        etw.dump(made)


def test_a_filter_that_matches_nothing_is_reported(made):
    with pytest.warns(etw.DamageWarning, match="0 of 501 events match; `Proces/Start` is not the name of an event in"):
        assert list(etw.open(made).events(filter={"event": "Proces/Start"})) == []


def test_damage_is_reported_once(made, tmp_path):
    content = bytearray(made.read_bytes())
    content[0x3000 + 0x48 : 0x3000 + 0x50] = b"\xff" * 8
    path = tmp_path / "damaged.etl"
    path.write_bytes(content)
    trace = etw.open(path)
    with pytest.warns(etw.DamageWarning, match=r"damaged.etl: \d+ diagnostics") as caught:
        count = len(list(trace.events()))
        assert len(list(trace.events())) == count < conftest.COUNT + 1
    assert len(caught) == 1
    expected = conftest.program("etl", "info", "--diagnostics", path)[0]
    assert trace.diagnostics == expected["diagnostics"] == trace.info["diagnostics"] != []
    assert trace.diagnostics[0]["buffer"] == 3 and trace.diagnostics[0]["buffer_offset"] == 0x3000


def test_interrupt(made, tmp_path):
    """Ctrl+C stops reading, also while no event matches and no Python code runs."""
    path = tmp_path / "large.etl"
    content = made.read_bytes()
    rest = content[0x1000:]
    with open(path, "wb") as file:
        file.write(content)
        for _ in range((256 << 20) // len(rest)):
            file.write(rest)
    for code in [
        "for event in trace.events(): pass",
        "list(trace.events(filter={'process': 12345678}))",
        "for batch in trace.batches(): pass",
        "etw.open(trace.name).info",
        "etw.timeline(trace.name, kind='image_loaded')",
    ]:
        script = f"import etw, sys; trace = etw.open(sys.argv[1]); print(flush=True)\nwhile True:\n    {code}"
        with subprocess.Popen([sys.executable, "-W", "ignore", "-c", script, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            child.stdout.readline()
            time.sleep(0.3)
            start = time.monotonic()
            child.send_signal(signal.SIGINT)
            _, errors = child.communicate(timeout=30)
        assert errors.splitlines()[-1] == b"KeyboardInterrupt", errors.decode()
        assert time.monotonic() - start < 5, code


@pytest.mark.filterwarnings("ignore::etw.DamageWarning")
def test_lock_is_released(made, tmp_path):
    """Another thread runs while one thread reads a trace."""
    path = tmp_path / "large.etl"
    content = made.read_bytes()
    path.write_bytes(content + content[0x1000:] * 400)
    done, times = threading.Event(), []

    def other():
        while not done.wait(0.001):
            times.append(time.monotonic())

    thread = threading.Thread(target=other, daemon=True)
    thread.start()
    for call in [lambda trace: trace.info, lambda trace: trace.processes(), lambda trace: trace.diagnostics, lambda trace: next(trace.batches()),
                 lambda trace: list(trace.events(filter={"process": 5}))]:
        # On a busy machine, the other thread may not run during a short call.
        seen, limit = 0, time.monotonic() + 20
        while seen < 3 and time.monotonic() < limit:
            trace = etw.open(path)
            start = time.monotonic()
            call(trace)
            end = time.monotonic()
            margin = (end - start) / 10
            seen += sum(start + margin < time < end - margin for time in times)
            times.clear()
        assert seen >= 3
    done.set()
    thread.join()


def test_threads_share_an_iterator(made):
    events = etw.open(made).events()
    found: list[int] = []

    def read():
        found.extend(event.buffer_offset + event.offset for event in events)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == len(set(found)) == conftest.COUNT + 1


def test_layouts():
    layouts = etw.layouts.select("10.0.19045.3570", "x64")
    context = layouts["WMI_LOGGER_CONTEXT"]
    shown = subprocess.run([sys.executable, "-m", "etw", "show", "WMI_LOGGER_CONTEXT", "--build", "10.0.19045.3570", "--arch", "x64"],
                           capture_output=True, text=True, check=True).stdout
    line = next(line for line in shown.splitlines() if " LoggerName " in line)
    member = context["LoggerName"]
    assert int(line.split()[0], 16) == member.offset and member.type == member.structure == "UNICODE_STRING"
    assert len(context) > 100 and context.size > member.offset and len(layouts) > 50
    with pytest.raises(KeyError, match="has no structure X"):
        layouts["X"]
    with pytest.raises(etw.Error, match="invalid build"):
        etw.layouts.select("x", "x64")
    with pytest.raises(etw.Error, match="unknown architecture"):
        etw.layouts.select("10.0.19045", "mips")


def test_layouts_answer_as_the_program():
    """Random members at random builds, on which the crate and the program agree."""
    random = Random(37)
    names = ["WMI_LOGGER_CONTEXT", "ETW_REG_ENTRY", "WMI_BUFFER_HEADER", "ETW_GUID_ENTRY", "ETW_SILODRIVERSTATE"]
    builds = ["10.0.19045.3570", "10.0.19041.1415", "10.0.26100.4652", "6.1.7601.20000", "10.0.65000.1", "5.1.2600.5512", "4.0.1381.1"]
    answers = {}
    for _ in range(100):
        name, build, arch = random.choice(names), random.choice(builds), random.choice(["x86", "x64", "arm64"])
        if (name, build, arch) not in answers:
            words = [sys.executable, "-m", "etw", "show", name, "--build", build, "--arch", arch, "--format", "json"]
            output = subprocess.run(words, capture_output=True, text=True, check=False)
            answers[name, build, arch] = json.loads(output.stdout) if output.returncode == 0 else None
        expected = answers[name, build, arch]
        own = _etw.layout(name, build, arch)
        assert (own is None) == (expected is None), (name, build, arch)
        if expected:
            member = random.choice([member for member in expected["members"]])
            found = next(one for one in own["members"] if one["name"] == member["name"])
            assert (found["offset"], found["size"], own["size"]) == (member["offset"], member["size"], expected["size"]), (name, build, arch, member)
            assert expected["evidence"].startswith(own["confidence"]), (name, build, arch)


def test_dumps():
    folder = os.environ.get("ETW_LAYOUTS_DUMPS")
    if not folder:
        pytest.skip("left out: crash dumps; set ETW_LAYOUTS_DUMPS to a folder of crash dumps")
    for path in sorted(Path(folder).glob("*.dmp")):
        dump = etw.dump(path)
        assert dump.info == conftest.program("dump", "info", path)[0]
        assert dump.sessions() == conftest.program("dump", "sessions", path)
        events = list(dump.events())
        assert events == conftest.program("dump", "events", "--payload", "fields", path) != []
        session = events[0]["session"]
        assert list(dump.events(session=session)) == [event for event in events if event["session"] == session]
        # Output is passed on in blocks. An exception of the file object ends the command.
        blocks: list[bytes] = []
        notes = _etw.command(["dump", "events", "--format", "json", "--payload", "fields", str(path)], SimpleNamespace(write=blocks.append))
        assert [json.loads(line) for line in b"".join(blocks).splitlines()] == events and notes == dump.diagnostics
        assert len(blocks) >= sum(map(len, blocks)) // (1 << 18) + 1 and max(map(len, blocks)) < 1 << 18
        with pytest.raises(KeyboardInterrupt):
            _etw.command(["dump", "events", "--format", "json", str(path)], SimpleNamespace(write=lambda _: signal.raise_signal(signal.SIGINT)))


def test_program(made):
    output = subprocess.run([sys.executable, "-m", "etw", "etl", "stat", "x.etl"], capture_output=True, text=True, check=False)
    assert output.returncode == 2 and "no such file or folder" in output.stderr
    output = subprocess.run([sys.executable, "-m", "etw", "etl", "check", made], capture_output=True, text=True, check=False)
    assert output.returncode == 0, output.stdout + output.stderr
