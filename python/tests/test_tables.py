"""Arrow streams: polars, pandas, pyarrow and DuckDB read the same events that the program prints."""

import json
import subprocess
import sys
import uuid
from pathlib import Path

import conftest
import duckdb
import pandas
import polars
import polars.testing
import pyarrow
import pyarrow.parquet
import pytest

import etw

EPOCH = 116444736000000000
NUMBERS = ["id", "version", "opcode", "level", "processor", "process", "thread", "header_process", "header_thread", "kernel_time",
           "user_time", "task", "channel", "flags", "size", "payload_size"]

pytestmark = pytest.mark.filterwarnings("ignore::etw.DamageWarning")


def number(value):
    return None if value is None or value != value else int(value)


def guid(value):
    if value is None or value != value:
        return None
    return str(value if isinstance(value, uuid.UUID) else uuid.UUID(bytes=bytes(value)))


def check(rows, lines):
    """Compares rows with the events that the program prints."""
    by_sequence = {line["buffer"] << 32 | line["offset"]: line for line in lines}
    assert len(by_sequence) == len(lines)
    count = 0
    for row in rows:
        count += 1
        line = by_sequence[int(row["sequence"])]
        assert row["trace"] == line["file"]
        assert {name: number(row[name]) for name in NUMBERS} == {name: line[name] for name in NUMBERS}
        # If keywords are missing, pandas uses floating-point numbers, which are not exact.
        if not isinstance(row["keyword"], float):
            assert row["keyword"] == (line["keyword"] and int(line["keyword"], 16))
        assert row["header"] == line["header"]
        assert guid(row["provider_guid"]) == line["provider"]
        assert guid(row["activity"]) == line["activity"] and guid(row["related"]) == line["related"]
        assert line["event"] in (None, f"{row['provider']}/{row['event']}")
        if line["time"] is not None:
            assert int(row["nanoseconds"]) // 100 + EPOCH == line["time"]
        # The fields of the log file header have other names.
        source = line.get("schema", {}).get("source")
        if source != "layout":
            assert (row["source"] if isinstance(row["source"], str) else None) == source
            fields = row["fields"]
            assert (json.loads(fields) if isinstance(fields, str) else None) == line.get("fields")
            if "payload" in line:
                assert bytes(row["payload"]).hex() == line["payload"]
    assert count == len(lines)


def test_four_libraries_read_the_events(trace, printed):
    expected = printed(trace)
    indices, lines = list(expected.sample), list(expected.sample.values())
    stream = etw.open(trace).batches(order="file")

    table = pyarrow.table(stream)
    assert table.num_rows == stream.counts["events"] == stream.counts["rows"] == expected.count
    assert table.schema.metadata[b"etw.version"] == b"2"
    times = table["time"].cast("int64")
    check(table.drop_columns(["time"]).append_column("nanoseconds", times).take(indices).to_pylist(), lines)

    frame = polars.DataFrame(stream)
    assert len(frame) == expected.count
    check(frame.with_columns(nanoseconds=polars.col("time").dt.epoch("ns"))[indices].iter_rows(named=True), lines)

    frame = pandas.DataFrame.from_arrow(stream)
    assert len(frame) == expected.count
    frame = frame.iloc[indices].copy()
    frame["nanoseconds"] = [None if time is pandas.NaT else time.value for time in frame["time"]]
    check(frame.to_dict("records"), lines)

    relation = duckdb.sql("SELECT *, epoch_ns(time) AS nanoseconds, count(*) OVER () AS total FROM stream")
    wanted = ",".join(str(line["buffer"] << 32 | line["offset"]) for line in lines)
    rows = relation.filter(f"sequence IN ({wanted})").fetchall()
    assert {row[-1] for row in rows} == {expected.count}
    check((dict(zip(relation.columns, row)) for row in rows), lines)


def test_order_of_rows(trace):
    in_file = pyarrow.table(etw.open(trace).batches(order="file"))["sequence"].to_pylist()
    assert in_file == sorted(in_file)
    table = pyarrow.table(etw.open(trace).batches())
    assert sorted(table["sequence"].to_pylist()) == in_file
    # An event without a time stays after its predecessor.
    ticks = [tick for tick in table["tick"].to_pylist() if tick is not None]
    assert ticks == sorted(ticks)


def test_typed_shape(trace, printed):
    expected = printed(trace)
    rows, tables = 0, {}
    for batch in etw.open(trace).batches(shape="typed"):
        rows += len(batch)
        tables.setdefault(batch.table, []).append(batch)
        assert pyarrow.record_batch(batch).schema.names == batch.columns
    assert rows == expected.count
    by_sequence = {line["buffer"] << 32 | line["offset"]: line for line in expected.sample.values()}
    for name, batches in list(tables.items())[:4]:
        try:
            table = pyarrow.table(etw.open(trace).batches(shape="typed", table=name))
        except pyarrow.ArrowException as error:
            # Traces can state fields for an event that no other source knows.
            assert "several tables" in str(error)
            continue
        assert table.num_rows == sum(map(len, batches))
        for row in table.drop_columns(["time"]).to_pylist() if "ProcessId" in table.schema.names else []:
            own = by_sequence.get(row["sequence"], {}).get("fields", {})
            assert not isinstance(own.get("ProcessId"), int) or row["ProcessId"] == own["ProcessId"], name


def test_filter_and_table_of_a_stream(made):
    trace = etw.open(made)
    stream = trace.batches(shape="typed", table="Process/Start", filter={"from": 0.1, "to": 0.2})
    frame = polars.DataFrame(stream)
    expected = conftest.program("etl", "events", "--payload", "fields", "--from", "0.1", "--to", "0.2", made)
    assert frame["ProcessId"].to_list() == [line["fields"]["ProcessId"] for line in sorted(expected, key=lambda line: line["time"])]
    assert len(frame) == 101 and stream.counts["events"] == conftest.COUNT + 1
    with pytest.raises(pyarrow.ArrowException, match="several tables: EventTraceEvent/Header and Process/Start"):
        pyarrow.table(trace.batches(shape="typed"))
    assert pyarrow.table(trace.batches(table="stacks")).num_rows == 0
    with pytest.raises(etw.Error, match="no events of the table `Process/End`"):
        pyarrow.table(trace.batches(shape="typed", table="Process/End"))
    with pytest.warns(etw.DamageWarning, match="0 of 501 events match"):
        assert list(trace.batches(filter={"process": 5})) == []


def test_several_traces(made, tmp_path):
    (tmp_path / "sub").mkdir()
    for name in ["one.etl", "sub/TWO.ETL"]:
        (tmp_path / name).write_bytes(made.read_bytes())
    (tmp_path / "other.txt").write_bytes(b"no trace")
    for sources in [tmp_path, [tmp_path / "one.etl", tmp_path / "sub"]]:
        counts = polars.DataFrame(etw.batches(sources)).group_by("trace").len().sort("trace").rows()
        assert [(Path(name).relative_to(tmp_path).as_posix(), count) for name, count in counts] == [
            ("one.etl", conftest.COUNT + 1), ("sub/TWO.ETL", conftest.COUNT + 1)]
    with pytest.raises(etw.Error, match="no trace files"):
        etw.batches(tmp_path / "none" if (tmp_path / "none").mkdir() else tmp_path / "none")


def test_table_of_traces(made, varied, tmp_path):
    damaged = tmp_path / "damaged.etl"
    damaged.write_bytes(made.read_bytes()[:-100])
    folder = tmp_path / "dataset"
    files = [made, varied, damaged]
    subprocess.run([sys.executable, "-m", "etw", "etl", "export", "--provider", "Process", "-o", folder, *files], check=False)
    expected = polars.read_parquet(folder / "traces" / "*.parquet").sort("trace")
    assert len(expected) == 3 and expected["is_damaged"].sum() == 1 and expected["rows"].sum() > conftest.COUNT
    # As traces of their own, and as one trace.
    for stream in [etw.batches(files, filter={"provider": "Process"}, table="traces"),
                   etw.open(files).batches(filter={"provider": "Process"}, shape="typed", table="traces")]:
        frame = polars.DataFrame(stream).sort("trace")
        polars.testing.assert_frame_equal(frame, expected, categorical_as_str=True)
    [row] = polars.DataFrame(etw.open(made.read_bytes()).batches(table="traces")).rows(named=True)
    assert (row["path"], row["events"], row["rows"]) == (None, conftest.COUNT + 1, conftest.COUNT + 1)
    with pytest.raises(etw.Error, match="or \"traces\""):
        etw.open(made).batches(table="trace")


def test_metadata_of_parquet(made, tmp_path):
    """Engines and viewers find the version, the table, the program and the descriptions of columns without the schema of Arrow."""
    subprocess.run([sys.executable, "-m", "etw", "etl", "export", "-o", tmp_path / "tables", made], check=True)
    for table, described in [("events", {"time", "tick", "kernel_time", "fields"}), ("traces", {"clock_frequency", "hash"})]:
        [path] = (tmp_path / "tables" / table).glob("*.parquet")
        file = pyarrow.parquet.ParquetFile(path)
        metadata = file.metadata.metadata
        assert (metadata[b"etw.table"].decode(), metadata[b"etw.version"]) == (table, b"2")
        assert file.metadata.created_by.startswith("etw-layouts-table version ")
        columns = json.loads(metadata[b"etw.columns"])
        assert described <= set(columns) <= set(file.schema_arrow.names)
        assert duckdb.sql(f"SELECT count(*) FROM parquet_kv_metadata('{path}') WHERE decode(key) = 'etw.columns'").fetchall() == [(1,)]
    file = pyarrow.parquet.ParquetFile(next((tmp_path / "tables/events").glob("*.parquet")))
    assert "100 ns" in json.loads(file.metadata.metadata[b"etw.columns"])["kernel_time"]
    # Fields of an event can have the names of other columns, so they have no descriptions.
    subprocess.run([sys.executable, "-m", "etw", "etl", "export", "--shape", "typed", "-o", tmp_path / "typed", made], check=True)
    typed = list((tmp_path / "typed" / "typed").rglob("*.parquet"))
    for path in typed:
        file = pyarrow.parquet.ParquetFile(path)
        names = file.schema_arrow.names
        described = set(json.loads(file.metadata.metadata[b"etw.columns"]))
        assert {"time", "process"} <= described <= set(names[:names.index("related") + 1])
    assert typed
    file = pyarrow.parquet.ParquetFile(next((tmp_path / "tables/events").glob("*.parquet")))
    # Ranges of numbers and times, with which engines skip row groups.
    ranges = {file.metadata.row_group(0).column(index).path_in_schema for index in range(file.metadata.num_columns)
              if file.metadata.row_group(0).column(index).is_stats_set}
    assert {"trace", "time", "tick", "sequence", "process", "processor", "size"} <= ranges


def test_a_stream_outlives_its_trace_and_can_be_dropped(made):
    capsule = etw.open(made.read_bytes()).batches().__arrow_c_stream__()
    del capsule
    batches = iter(etw.open(made.read_bytes()).batches())
    batch = pyarrow.record_batch(next(batches))
    del batches
    assert batch.num_rows == conftest.COUNT + 1 and batch.validate(full=True) is None


def test_undecoded_payloads_are_reported(made, tmp_path):
    content = bytearray(made.read_bytes())
    # The SID of the first process has more parts than the payload has bytes.
    at = 0x1000 + 0x48 + 0x20 + 36 + 16
    assert content[at : at + 2] == b"\1\1"
    content[at + 1] = 255
    path = tmp_path / "undecoded.etl"
    path.write_bytes(content)
    batches = etw.open(path).batches()
    with pytest.warns(etw.DamageWarning, match="1 payloads are not decoded"):
        assert sum(map(len, batches)) == conftest.COUNT + 1
    assert batches.diagnostics[0]["message"].startswith("cannot decode payload of Process/Start")
    assert batches.counts["diagnostics"] == 1
