"""Uses of the package, checked by mypy in test_types.py. A comment `type: ignore` marks a use that must be an error: mypy reports unneeded
comments. The program is not run."""

import io
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from typing_extensions import assert_type

import etw


def sources(file: io.BufferedReader) -> None:
    trace = etw.open("boot.etl")
    assert_type(trace, etw.Trace)
    etw.open(Path("boot.etl"), manifests=["a.man", Path("b.man")], tmf="c.tmf")
    etw.open(b"bytes")
    etw.open(memoryview(b"bytes"))
    etw.open(file)
    etw.open(io.BytesIO())
    etw.open(1)  # type: ignore[arg-type]
    etw.open("boot.etl", manifest="a.man")  # type: ignore[call-arg]
    etw.batches("folder")
    etw.batches([Path("a.etl"), "b.etl"], shape="typed", table="Process/Start")
    etw.batches(file)
    etw.batches([b"bytes", io.BytesIO()])
    etw.batches(path for path in Path("folder").glob("*.etl"))


def trace(trace: etw.Trace) -> None:
    assert_type(trace.name, str)
    assert_type(trace.info, etw.Info)
    assert_type(trace.info["events"], Any)
    for diagnostic in trace.diagnostics:
        assert_type(diagnostic, etw.Diagnostic)
        assert_type(diagnostic["message"], str)
    for process in trace.processes():
        assert_type(process, etw.Process)
        assert_type(process["image"], str | None)
        process["name"]  # type: ignore[typeddict-item]
        for image in process["images"]:
            assert_type(image["size"], int)
    trace.name = "x"  # type: ignore[misc]


def events(trace: etw.Trace) -> None:
    wanted: etw.Filter = {"event": ["Process/Start", "Thread/Start"], "id": [1, "0x0301"], "process": 4, "from": 1.5, "to": datetime.now()}
    found = trace.events(filter=wanted, order="time")
    assert_type(found, etw.Events)
    assert_type(next(found), etw.Event)
    for event in found:
        assert_type(event.time, int | None)
        assert_type(event.time_utc, datetime | None)
        assert_type(event.processor, int)
        assert_type(event.event, str | None)
        assert_type(event.keyword, int | None)
        assert_type(event.payload, bytes)
        assert_type(event.fields, dict[str, Any])
        assert_type(event["ProcessId"], Any)
        assert_type(event.to_dict(), dict[str, Any])
        event.pid  # type: ignore[attr-defined]
    trace.events(filter={"providers": "Process"})  # type: ignore[arg-type]
    trace.events(filter={"process": None})  # type: ignore[arg-type]
    trace.events(order="name")  # type: ignore[arg-type]


def batches(trace: etw.Trace) -> None:
    found = trace.batches(filter={"provider": "DiskIo"}, shape="narrow", order="file", payload="none", table="stacks")
    assert_type(found, etw.Batches)
    assert_type(found.counts, dict[str, int])
    assert_type(found.diagnostics, list[etw.Diagnostic])
    found.__arrow_c_stream__()
    for batch in found:
        assert_type(batch, etw.Batch)
        assert_type(len(batch), int)
        assert_type(batch.table, str)
        assert_type(batch.columns, list[str])
    trace.batches(shape="wide")  # type: ignore[arg-type]
    trace.batches(payload=None)  # type: ignore[arg-type]


def answers(trace: etw.Trace) -> None:
    top = etw.top(["a.etl", Path("b.etl")], "cpu", by=["process", "module"], filter={"process": 4})
    assert_type(top, etw.Top)
    assert_type(trace.top("gc").total, dict[str, int | float])
    for row in top.rows:
        assert_type(row["ms"], int | float | str | None)
    top.__arrow_c_stream__()
    assert_type(etw.compare("a.etl", ["b.etl"], what="disk", by="file").rows[0], dict[str, int | float | str | None])
    for entry in etw.timeline(Path("a.etl"), kind="process_started", form="ecs"):
        assert_type(entry, dict[str, Any])
    assert_type(etw.profile("a.etl", Path("profile.json"), format="folded", of="waits"), list[dict[str, Any]])
    assert_type(etw.report("folder", "report.html"), list[dict[str, Any]])
    etw.timeline("a.etl", form="cef")  # type: ignore[arg-type]
    etw.profile("a.etl")  # type: ignore[call-arg]


def layouts() -> None:
    selected = etw.layouts.select("10.0.19045.3570", "x64")
    context: Mapping[str, etw.layouts.Member] = selected["WMI_LOGGER_CONTEXT"]
    assert_type(context["LoggerName"].offset, int)
    assert_type(context["LoggerName"].bits, tuple[int, int] | None)
    assert_type(selected["WMI_LOGGER_CONTEXT"].is_sure, bool)
    etw.layouts.select(10, "x64")  # type: ignore[arg-type]


def dumps() -> None:
    dump = etw.dump(Path("MEMORY.DMP"))
    assert_type(dump, etw.Dump)
    assert_type(dump.info, dict[str, Any])
    for event in etw.dump("MEMORY.DMP").events(session="EventLog-System", filter={"process": 4}):
        assert_type(event, dict[str, Any])


def errors() -> None:
    try:
        etw.open("boot.etl")
    except etw.ReadError as error:
        os_error: OSError = error
        assert_type(error.path, str | None)
        print(os_error)
    except etw.Error as error:
        value_error: ValueError = error
        print(value_error)
