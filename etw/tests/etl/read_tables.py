"""Reads exported datasets with pyarrow, DuckDB, polars and pandas, and compares rows with the events that `etw etl events` prints."""

import datetime
import glob
import json
import random
import re
import sys
import urllib.parse
import uuid

import duckdb
import pandas
import polars
import pyarrow.dataset
import pyarrow.ipc
import pyarrow.parquet

folder, events_path, docs = sys.argv[1:]
events = {}
with open(events_path, encoding="utf-8") as lines:
    for line in lines:
        event = json.loads(line)
        events[event["file"], event["buffer"] << 32 | event["offset"]] = event

random.seed(7)
EPOCH = 116444736000000000


def chosen(keys):
    """1,000 keys of each trace."""
    traces = {}
    for key in sorted(keys):
        traces.setdefault(key[0], []).append(key)
    return {key for own in traces.values() for key in random.sample(own, min(1000, len(own)))}


def number(value):
    return None if value is None or value != value else int(value)


def guid(value):
    if value is None:
        return None
    return str(value) if isinstance(value, uuid.UUID) else str(uuid.UUID(bytes=bytes(value)))


def check(row, nanoseconds):
    event = events[row["trace"], int(row["sequence"])]
    for name in ["id", "version", "opcode", "level", "processor", "process", "thread", "header_process", "header_thread", "kernel_time", "user_time"]:
        assert number(row[name]) == event[name], (name, row, event)
    assert guid(row["provider_guid"]) == event["provider"], (row, event)
    assert guid(row["activity"]) == event["activity"], (row, event)
    if nanoseconds is not None:
        assert nanoseconds // 100 + EPOCH == event["time"], (row, event)
    if event["event"] is not None:
        # In the typed shape, an event whose name is that of other events has its ID in the name.
        own = f"{row['provider']}/{row['event']}"
        assert own in (event["event"], f"{event['event']}_{event['id']}"), (row, event)
    return event


def nanoseconds(time):
    return None if time is None else time.value if hasattr(time, "value") else time


wanted = chosen(events)

# The narrow shape, through pyarrow.
table = pyarrow.dataset.dataset(f"{folder}/narrow/events").to_table()
assert table.schema.metadata[b"etw.version"] == b"2"
assert table.num_rows == len(events), (table.num_rows, len(events))
times = table["time"].cast("int64").to_pylist()
seen = 0
for index, row in enumerate(table.drop_columns(["time"]).to_pylist()):
    if (row["trace"], row["sequence"]) not in wanted:
        continue
    event = check(row, times[index])
    if event.get("schema", {}).get("source") != "layout":
        fields = row["fields"] and json.loads(row["fields"])
        assert fields == event.get("fields"), (row, event)
        if "payload" in event:
            assert row["payload"].hex() == event["payload"], (row, event)
    seen += 1
assert seen == len(wanted)

# The same through DuckDB.
cursor = duckdb.sql(f"SELECT * EXCLUDE (time), epoch_ns(time) AS nanoseconds FROM '{folder}/narrow/events/*.parquet'")
names = cursor.columns
seen = 0
for values in cursor.fetchall():
    row = dict(zip(names, values))
    if (row["trace"], row["sequence"]) in wanted:
        event = check(row, row["nanoseconds"])
        if event.get("schema", {}).get("source") != "layout":
            assert (row["fields"] and json.loads(row["fields"])) == event.get("fields"), (row, event)
        seen += 1
assert seen == len(wanted)

# Counts with DuckDB are equal in the typed shape and in CSV. Partition values equal the columns of the narrow shape.
count = "SELECT provider, regexp_replace(event, '_' || id || '$', '') AS event, id, version, count(*) FROM {} GROUP BY ALL ORDER BY ALL"
narrow = duckdb.sql(count.format(f"'{folder}/narrow/events/*.parquet'")).fetchall()
typed = duckdb.sql(count.format(f"read_parquet('{folder}/typed/typed/**/*.parquet', union_by_name = true, hive_types_autocast = false)")).fetchall()
assert narrow == typed, (narrow, typed)
csv = duckdb.sql(count.format(f"read_csv('{folder}/csv/events/*.csv', all_varchar = true)")).fetchall()
assert sorted((str(row) for row in narrow)) == sorted(
    str((provider, event, id and int(id), version and int(version), rows)) for provider, event, id, version, rows in csv
)


def same(own, named, field):
    """Whether a column has the value of a field. `named` is the column with names; addresses are text in the field."""
    if isinstance(field, dict):
        return all(member(own, name, value) for name, value in field.items())
    if isinstance(field, list):
        return len(own) == len(field) and all(
            same(one, named and named[index], other) for index, (one, other) in enumerate(zip(own, field))
        )
    if own == field or named is not None and named == field:
        return True
    if isinstance(own, bool):
        return own == (field != 0)
    if isinstance(own, int) and isinstance(field, str):
        digits = field.split(" ")[0]
        return str(own) == digits or digits.startswith("0x") and own == int(digits, 16)
    if isinstance(own, (bytes, uuid.UUID)):
        return own.hex() == field.removeprefix("0x") if isinstance(own, bytes) else str(own) == field
    if isinstance(own, (datetime.datetime, pandas.Timestamp)):
        return own.strftime("%Y-%m-%dT%H:%M:%S") == field[:19]
    if isinstance(own, str) and own.startswith("S-1-"):
        # A column has a SID without its name.
        return field.split(" ")[0] == own
    if own is None:
        return field in ("", None) or field.startswith("1601-01-01") or field[:4] > "2261"
    return isinstance(own, float) and (own != own or own == field)


def empty(value):
    """Whether a value contains only structures without members, which have no columns."""
    return value == {} or isinstance(value, list) and value[:1] == [{}]


def member(row, name, value):
    if empty(value):
        return True
    name = name.replace("#", "_")
    names = [name] + [f"{name}_{number}" for number in range(2, 4)]
    return any(same(row[name], row.get(f"{name}_name"), value) for name in names if name in row)


# Fields as columns, through pyarrow: from Parquet and from Arrow files.
for paths, read in [
    (glob.glob(f"{folder}/typed/typed/**/*.parquet", recursive=True), pyarrow.parquet.read_table),
    (glob.glob(f"{folder}/arrow/typed/**/*.arrow", recursive=True), lambda path, **_: pyarrow.ipc.open_file(path).read_all()),
]:
    found = set()
    for path in paths:
        partition = {key: urllib.parse.unquote(value) for key, value in re.findall(r"(provider|event)=([^/]*)", path)}
        table = read(path, partitioning=None)
        assert table.schema.metadata[b"etw.table"].decode() == f"{partition['provider']}/{partition['event']}"
        for row in table.to_pylist():
            key = row["trace"], row["sequence"]
            if key in wanted:
                event = check({**row, **partition}, None)
                if event.get("schema", {}).get("source") != "layout":
                    for name, value in (event.get("fields") or {}).items():
                        assert member(row, name, value), (name, value, row, event)
                found.add(key)
    assert found == wanted, len(wanted - found)

# A typed table has one type for each column, in the files of all traces. Engines read them together.
shown = 0
for path in sorted(glob.glob(f"{folder}/typed/typed/*/*")):
    columns, files = {}, glob.glob(f"{glob.escape(path)}/*.parquet")
    for file in files:
        for column in pyarrow.parquet.read_schema(file):
            assert columns.setdefault(column.name.lower(), column.type) == column.type, (file, column)
    frame = duckdb.sql(f"SELECT * FROM read_parquet('{path}/*.parquet', union_by_name = true, hive_partitioning = false)")
    own = polars.concat([polars.scan_parquet(file, hive_partitioning=False) for file in files], how="diagonal").collect()
    assert {name.lower() for name in frame.columns} == {name.lower() for name in own.columns} == set(columns), path
    assert len(frame.fetchall()) == len(own), path
    shown += len(files) > 1
assert shown > 2, shown

# The clock in the table of traces.
joined = f"FROM '{folder}/narrow/events/*.parquet' AS e JOIN '{folder}/narrow/traces/*.parquet' AS t USING (trace)"
ticks = "(e.tick - t.start_tick)::HUGEINT * 1000000000 // t.clock_frequency"
total, timed, wrong = duckdb.sql(
    f"SELECT count(*), count({ticks}), count(*) FILTER (abs(epoch_ns(e.time) - epoch_ns(t.start) - {ticks}) > 100) {joined}").fetchall()[0]
assert total == len(events) and timed > total // 2 and wrong == 0, (total, timed, wrong)

# polars and pandas.
frame = polars.scan_parquet(f"{folder}/narrow/events/*.parquet").group_by("provider", "event").len().collect()
assert frame["len"].sum() == len(events)
frame = pandas.read_parquet(f"{folder}/narrow/events", columns=["provider", "event", "sequence"])
assert len(frame) == len(events)

# The example query of the documentation.
text = open(docs, encoding="utf-8").read()
question = re.search(r"```sql tested\n(.*?)```", text, re.S).group(1)
assert question.strip().count("\n") < 5, question
rows = duckdb.sql(question.replace("tables/", f"{folder}/narrow/")).fetchall()
recipe = re.search(r"```python polars\n(.*?)```", text, re.S).group(1)
printed = []
exec(recipe.replace("tables/typed", f"{folder}/typed/typed").replace("tables/", f"{folder}/narrow/"), {"print": lambda *words: printed.append(words)})
guids = [uuid.UUID(event["provider"]) for event in events.values() if event["provider"]]
first = max(set(guids), key=lambda guid: (guids.count(guid), str(guid)))
assert printed[0] == ((str(first), guids.count(first)),), printed
assert printed[1][0] == guids.count(uuid.UUID("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c")) > 0, printed
starts = [event["fields"].get("ProcessId") for event in events.values() if event["event"] == "Process/Start" and event["schema"]["source"] == "specs"]
assert printed[2][0][0] == min(int(str(start), 0) for start in starts if start is not None), printed
assert any(trace.endswith("opening.etl") and opened == 2 for trace, _, opened in rows), rows
print(f"{len(events)} rows, {len(wanted)} compared; the question of the documentation has {len(rows)} rows")
