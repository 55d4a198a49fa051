"""Traces as a data source of Spark: needs the extra ``spark`` (pyspark 4.1 or later, pyarrow).

>>> from etw.spark import EtwDataSource
>>> spark.dataSource.register(EtwDataSource)
>>> spark.read.format("etw").option("filter.process", "4").load("traces/*.etl").groupBy("event").count().show()

A trace is a partition: an executor reads it and returns Arrow batches. Paths must exist on each executor. Spark itself evaluates the conditions of a
query; use options for conditions that should be evaluated while a trace is read. Spark's own push-down is not used: it keeps the filter of a query
for later queries of the same frame (seen with Spark 4.3).

Columns are those of the table ``events`` (docs/TABLES.md), with these changes: unsigned integers become signed integers of the next size,
``keyword`` becomes the signed integer with the same bits, and GUIDs become text. Options: ``filter.NAME`` for a filter, such as
``.option("filter.event", "Process/Start")``, ``payload``
(``json``, ``binary`` or ``none``), ``order`` (``file`` or ``time``), ``manifests``.
"""

from __future__ import annotations

import glob
import os
import warnings
from collections.abc import Iterator
from typing import Any, cast

import pyarrow
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

import etw

from ._options import found as files_in

SCHEMA = (
    "trace string, host string, sequence bigint, time timestamp, tick bigint, provider_guid string, id int, version int, opcode smallint, "
    "level smallint, keyword bigint, processor int, process bigint, thread bigint, process_name string, "
    "header_process bigint, header_thread bigint, kernel_time bigint, user_time bigint, activity string, related string, provider string, event string, task int, channel smallint, flags int, header string, size bigint, payload_size bigint, "
    "source string, fields string, payload binary"
)
TYPES = {"string": pyarrow.string(), "bigint": pyarrow.int64(), "int": pyarrow.int32(), "smallint": pyarrow.int16(),
         "timestamp": pyarrow.timestamp("us", "UTC"), "binary": pyarrow.binary()}
COLUMNS = pyarrow.schema([(name, TYPES[kind]) for name, kind in (column.split() for column in SCHEMA.split(", "))])

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
    """Reads traces."""

    def __init__(self, options: dict[str, str], columns: list[str]) -> None:
        self.path = options.get("path", "")
        self.columns = columns
        # Spark ignores the case of options and passes their names in lowercase.
        self.filter: dict[str, Any] = {name.removeprefix("filter."): value for name, value in options.items() if name.startswith("filter.")}
        self.payload = options.get("payload", "json")
        self.order = options.get("order", "file")
        self.manifests = [path for path in options.get("manifests", "").split(os.pathsep) if path]

    def partitions(self) -> list[InputPartition]:
        """The traces: a file, a pattern, or the files ``*.etl`` in a folder."""
        found = [str(path) for name in sorted(glob.glob(self.path, recursive=True)) for path in files_in(name)]
        if not found:
            raise etw.Error(f"{self.path}: no trace files; load a trace, a folder of traces, or a pattern such as traces/*.etl", self.path)
        # An executor has its own working directory.
        return [InputPartition(os.path.abspath(path)) for path in found]

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        with warnings.catch_warnings():
            # A partition without matching events is normal.
            warnings.filterwarnings("ignore", message=".* events match")
            filter = cast(etw.Filter, self.filter)
            # The package reports invalid options.
            order, payload = cast(etw.Order, self.order), cast(etw.Payload, self.payload)
            batches = etw.open(partition.value, manifests=self.manifests).batches(filter=filter, order=order, payload=payload)
            for batch in batches:
                yield _converted(pyarrow.record_batch(batch)).select(self.columns)


def _converted(batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
    """The batch, converted to types that Spark supports."""
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
