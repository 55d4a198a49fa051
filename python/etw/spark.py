"""Traces as a data source of Spark: needs the extra ``spark`` (pyspark 4.1 or later, pyarrow).

>>> from etw.spark import EtwDataSource
>>> spark.dataSource.register(EtwDataSource)
>>> spark.read.format("etw").load("traces/*.etl").filter("process = 4").groupBy("event").count().show()

A trace is a partition: an executor reads it and returns Arrow batches. Comparisons of ``process``, ``thread``, ``processor``, ``id``, ``level``
and ``opcode`` with a value (``=``, ``IN``), and limits of ``time``, are evaluated while the trace is read (see :class:`Reader`). Paths have to exist on
each executor.

Columns are those of the table ``events`` (docs/TABLES.md), but unsigned integers are signed integers of the next size, ``keyword`` is the signed
integer with the same bits, and GUIDs are text. Options: ``filter.NAME`` for a filter, such as ``.option("filter.event", "Process/Start")``, ``payload``
(``json``, ``binary`` or ``none``), ``order`` (``file`` or ``time``), ``manifests``.
"""

from __future__ import annotations

import glob
import os
import warnings
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from typing import Any, cast

import pyarrow
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    LessThan,
    LessThanOrEqual,
)

import etw

SCHEMA = (
    "trace string, host string, sequence bigint, time timestamp, tick bigint, provider_guid string, id int, version int, opcode smallint, "
    "level smallint, keyword bigint, processor int, process bigint, thread bigint, thread_process bigint, process_name string, activity string, "
    "related string, provider string, event string, task int, channel smallint, flags int, header string, size bigint, payload_size bigint, "
    "source string, fields string, payload binary"
)
TYPES = {"string": pyarrow.string(), "bigint": pyarrow.int64(), "int": pyarrow.int32(), "smallint": pyarrow.int16(),
         "timestamp": pyarrow.timestamp("us", "UTC"), "binary": pyarrow.binary()}
COLUMNS = pyarrow.schema([(name, TYPES[kind]) for name, kind in (column.split() for column in SCHEMA.split(", "))])

PUSHED = {"process", "thread", "processor", "id", "level", "opcode"}
"""Columns whose comparison with a value has a filter of the same name. Kernel events state no level, which is null in both."""


class EtwDataSource(DataSource):
    """The format ``etw``."""

    @classmethod
    def name(cls) -> str:
        return "etw"

    def schema(self) -> str:
        return SCHEMA

    def reader(self, schema: Any) -> Reader:
        return Reader(dict(self.options), schema.fieldNames())


class Reader(DataSourceReader):
    """Reads traces. ``pushed`` is the filter that Spark's comparisons became."""

    def __init__(self, options: dict[str, str], columns: list[str]) -> None:
        self.path = options.get("path", "")
        self.columns = columns
        # Spark ignores the case of options and passes their names in lowercase.
        self.filter: dict[str, Any] = {name.removeprefix("filter."): value for name, value in options.items() if name.startswith("filter.")}
        self.payload = options.get("payload", "json")
        self.order = options.get("order", "file")
        self.manifests = [path for path in options.get("manifests", "").split(os.pathsep) if path]
        self.pushed: dict[str, Any] = {}

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Takes the comparisons that a filter can state; returns the others, and those that Spark has to repeat."""
        for filter in filters:
            path: tuple[str, ...] = getattr(filter, "attribute", ())
            name = path[0] if len(path) == 1 else ""
            values = filter.value if isinstance(filter, In) else (getattr(filter, "value", None),)
            is_free = name not in self.pushed and name not in self.filter
            if isinstance(filter, (EqualTo, In)) and name in PUSHED and is_free and None not in values:
                self.pushed[name] = list(values)
                continue
            if isinstance(filter, (GreaterThan, GreaterThanOrEqual)) and name == "time" and "from" not in {*self.pushed, *self.filter}:
                self.pushed["from"] = _time(filter.value)
            # A later microsecond begins after all events of this one.
            if isinstance(filter, (LessThan, LessThanOrEqual)) and name == "time" and "to" not in {*self.pushed, *self.filter}:
                self.pushed["to"] = _time(filter.value, 9)
            yield filter

    def partitions(self) -> list[InputPartition]:
        """The traces: a file, a pattern, or the files ``*.etl`` of a folder."""
        found = [str(path) for name in sorted(glob.glob(self.path, recursive=True)) for path in etw._found(name)]
        if not found:
            raise etw.Error(f"{self.path}: no trace files; load a trace, a folder of traces, or a pattern such as traces/*.etl", self.path)
        return [InputPartition(path) for path in found]

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        with warnings.catch_warnings():
            # A partition without matching events is usual.
            warnings.filterwarnings("ignore", message=".* events match")
            filter = cast(etw.Filter, {**self.filter, **self.pushed})
            # Invalid options are errors of the package.
            order, payload = cast(etw.Order, self.order), cast(etw.Payload, self.payload)
            batches = etw.open(partition.value, manifests=self.manifests).batches(filter=filter, order=order, payload=payload)
            for batch in batches:
                yield _converted(pyarrow.record_batch(batch)).select(self.columns)


def _time(value: datetime, ticks: int = 0) -> str:
    """A time with units of 100 ns."""
    return value.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f") + str(ticks)


def _converted(batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
    """The batch with types that Spark has."""
    columns = []
    for field, own in zip(COLUMNS, batch.columns, strict=True):
        if isinstance(own.type, pyarrow.BaseExtensionType):
            own = own.storage
        if pyarrow.types.is_fixed_size_binary(own.type):
            own = pyarrow.array([None if value is None else _guid(value) for value in own.to_pylist()], pyarrow.string())
        if own.type == pyarrow.uint64():
            own = own.view(pyarrow.int64())
        columns.append(own.cast(field.type, safe=False))
    return pyarrow.record_batch(columns, schema=COLUMNS)


def _guid(value: bytes) -> str:
    text = value.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
