"""Event Tracing for Windows: traces (.etl), crash dumps and structure layouts, on any host.

>>> import etw
>>> trace = etw.open("boot.etl")
>>> for event in trace.events(filter={"event": "Process/Start"}):
...     print(event.time_utc, event.fields["ImageFileName"])

``trace.batches()`` returns the events as an Arrow stream, which polars, pandas, pyarrow and DuckDB read without a copy:

>>> import polars
>>> polars.DataFrame(trace.batches())

Names are those of the program ``etw`` and of its JSON output. ``python -m etw`` is the program.

Parts of a damaged trace that cannot be read are skipped. The warning :class:`DamageWarning` reports this when a trace is read for the first
time, and :attr:`Trace.diagnostics` has the places and reasons.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Literal, TypeAlias, cast

from . import _etw, layouts
from ._errors import DamageWarning, Error, ReadError
from ._etw import Batch, Batches, Event, Events
from ._types import Diagnostic, Filter, Image, Info, KnownBy, Note, Process, Top

__all__ = [
    "Batch",
    "Batches",
    "DamageWarning",
    "Diagnostic",
    "Dump",
    "Error",
    "Event",
    "Events",
    "Filter",
    "Image",
    "Info",
    "KnownBy",
    "Note",
    "Process",
    "ReadError",
    "Top",
    "Trace",
    "batches",
    "dump",
    "layouts",
    "open",
]

Source: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes]"
Order: TypeAlias = Literal["time", "file"]
Shape: TypeAlias = Literal["narrow", "typed"]
Payload: TypeAlias = Literal["json", "binary", "none"]
Paths: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"


def open(source: Source | Sequence[Source], *, manifests: Paths = (), tmf: Paths = ()) -> Trace:
    """Opens a trace file: a path, its bytes, or an open binary file, which is read to the end.

    A list opens several files as one trace, whose events are in one order of time. Files that one session wrote share schemas and processes.

    >>> etw.open(sorted(Path("traces").glob("boot_*.etl")))

    ``manifests`` are manifests (.man, .xml), Windows binaries with compiled manifests, or folders of them. ``tmf`` are trace message
    format files for WPP events. Both add schemas to those in the trace, of kernel events, and of the built-in catalogue.

    Raises :class:`ReadError` for a file that cannot be read, and :class:`Error` for a file that is not a trace.
    """
    return Trace(source, manifests=manifests, tmf=tmf)


class Trace:
    """A trace of one or more files. :func:`open` returns it."""

    def __init__(self, source: Source | Sequence[Source], *, manifests: Paths = (), tmf: Paths = ()) -> None:
        sources = cast("Sequence[Source]", [source] if _is_one(source) else source)
        files = [_file(source) for source in sources]
        if not files:
            raise Error("no trace files: the list is empty; name a file")
        self._trace = _etw.Trace(files, _paths(manifests), _paths(tmf))

    @property
    def name(self) -> str:
        """The path as given; for an open file its name, or ``<bytes>``. For several files, that of the first one and the number of others."""
        return self._trace.name

    @property
    def info(self) -> Info:
        """Settings of the session, lost events, and numbers of buffers and events: the output of ``etw etl info`` for one file."""
        return self._trace.info

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Damage of the files: kind, place and message. Contains the first hundred of each kind, then the number of further ones as ``more``. For
        several files, each has the name of its ``file``."""
        return self._trace.diagnostics

    def processes(self) -> list[Process]:
        """The processes of the sessions, with their images: the output of ``etw etl processes --images``."""
        return self._trace.processes()

    def top(self, what: str, *, by: str | Sequence[str] = (), filter: Filter | None = None) -> Top:
        """Sums of the amounts of events by keys, the largest first: the output of ``etw etl top``, whose help lists the questions and their keys.

        >>> polars.DataFrame(trace.top("cpu", by=["process", "module"])["rows"])
        >>> trace.top("gc", filter={"process": 3676})["total"]

        Raises :class:`Error` if the trace has no event that answers the question; the message says how to record them.
        """
        return self._trace.top(what, [by] if isinstance(by, str) else list(by), _options(filter))

    def events(self, *, filter: Filter | None = None, order: Order = "file") -> Events:
        """An iterator over the matching events, in file order or time order.

        A filter has the options of ``etw etl events``. Each has a value or a list of values, any of which matches:
        ``provider``, ``event``, ``id``, ``opcode``, ``level``, ``keyword``, ``process``, ``thread``, ``processor``, ``from``, ``to``.

        >>> trace.events(filter={"provider": ["Process", "Thread"], "from": 1.5, "to": "07:06:19.8"})

        Memory use does not depend on the size of the trace. An event keeps its buffer in memory, often 64 KB, which it shares with others. Ctrl+C stops the iteration. Several threads can share an iterator.
        """
        return self._trace.events(_options(filter), order)

    def batches(
        self,
        *,
        filter: Filter | None = None,
        shape: Shape = "narrow",
        order: Order = "time",
        payload: Payload = "json",
        table: str | None = None,
    ) -> Batches:
        """The events as Arrow record batches: a stream for other libraries (``__arrow_c_stream__``), and an iterator of :class:`Batch`.

        >>> polars.DataFrame(trace.batches())
        >>> pyarrow.table(trace.batches(filter={"provider": "DiskIo"}))
        >>> pandas.DataFrame.from_arrow(trace.batches())
        >>> stream = trace.batches(); duckdb.sql("SELECT provider, count(*) FROM stream GROUP BY ALL")

        In the shape ``narrow``, ``table`` is ``events`` (the default) or ``stacks``. In each shape, ``traces`` is the table
        with a row for each file: host, clock and its rate, lost events, absolute path, hash. In the shape ``typed``, each event has a table
        with the fields of all its versions as columns, such as ``Process/Start``. A stream has one table; an iterator without ``table``
        has the batches of all events. docs/TABLES.md describes the columns.

        Each use of the stream reads the trace from its start, and releases the global interpreter lock. Afterwards, ``counts`` and
        ``diagnostics`` report the numbers of events and rows, and the payloads that could not be decoded completely.
        """
        return _etw.batches([self._trace], _options(filter), shape, order, payload, table)

    def __repr__(self) -> str:
        return f"etw.open({self.name!r})"


def batches(
    sources: Paths | Iterable[Source],
    *,
    filter: Filter | None = None,
    shape: Shape = "narrow",
    order: Order = "time",
    payload: Payload = "json",
    table: str | None = None,
    manifests: Paths = (),
    tmf: Paths = (),
) -> Batches:
    """The events of several traces as one stream of Arrow record batches, trace by trace: see :meth:`Trace.batches`.

    ``sources`` are traces, or folders to search for ``*.etl``. The column ``trace`` has the name of each trace.
    """
    opened = [open(source, manifests=manifests, tmf=tmf)._trace for source in _found(sources)]
    if not opened:
        raise Error(f"no trace files (*.etl): {sources}; name a file, or a folder that contains some")
    return _etw.batches(opened, _options(filter), shape, order, payload, table)


def dump(path: str | os.PathLike[str]) -> Dump:
    """Opens a kernel crash dump (.dmp), which contains ETW's sessions with their last events.

    >>> for event in etw.dump("MEMORY.DMP").events(session="EventLog-System"):
    ...     print(event["time_utc"], event["event"])
    """
    return Dump(path)


class Dump:
    """A crash dump. :func:`dump` returns it. Results are the JSON output of ``etw dump``."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.diagnostics: list[dict[str, Any]] = []
        """Diagnostics and notes of the latest call."""
        self.info: dict[str, Any] = next(self._run("info", "--details"))
        """Build, sessions and their details, as printed by ``etw dump info --details``."""

    def sessions(self) -> list[dict[str, Any]]:
        """The sessions."""
        return list(self._run("sessions"))

    def events(self, *, session: str | None = None, filter: Filter | None = None) -> Iterator[dict[str, Any]]:
        """The events of the sessions, or of one session, with their fields.

        The whole dump is read first. Up to 16 MiB of events as JSON are kept in memory, and further ones in a temporary file.
        """
        options = [word for name, value in _options(filter) for word in ("--" + name, value)]
        events = self._run("events", "--payload", "fields", *options)
        return (event for event in events if session is None or event["session"] == session)

    def _run(self, command: str, *options: str) -> Iterator[dict[str, Any]]:
        file = SpooledTemporaryFile(max_size=16 << 20)
        try:
            self.diagnostics = _etw.dump([command, *options, self.path], file)
        except BaseException:
            file.close()
            raise
        return _lines(file)

    def __repr__(self) -> str:
        return f"etw.dump({self.path!r})"


def _lines(file: SpooledTemporaryFile[bytes]) -> Iterator[dict[str, Any]]:
    with file:
        file.seek(0)
        for line in file:
            yield json.loads(line)


def _is_one(source: object) -> bool:
    return isinstance(source, (str, os.PathLike, bytes, bytearray, memoryview)) or hasattr(source, "read")


def _file(source: Source) -> tuple[str | bytes, str]:
    """A path or bytes, with the name of the file."""
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        if os.path.isdir(name):
            raise ReadError(f"{name}: is a folder; open a file in it, or use etw.batches for all of them", name, errno.EISDIR)
        return name, name
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source), "<bytes>"
    return bytes(source.read()), str(getattr(source, "name", "<file>"))


def _found(sources: Paths | Iterable[Source]) -> Iterator[Source]:
    for source in cast("Iterable[Source]", [sources] if _is_one(sources) else sources):
        if isinstance(source, (str, os.PathLike)) and os.path.isdir(source):
            yield from sorted(path for path in Path(source).rglob("*") if path.suffix.lower() == ".etl" and path.is_file())
        else:
            yield source


def _paths(paths: Paths) -> list[str]:
    return [os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]


def _options(filter: Mapping[str, object] | None) -> list[tuple[str, str]]:
    """The options of the program with their values as text."""
    if not isinstance(filter, (Mapping, type(None))):
        raise Error(f'invalid filter: {filter!r} is not a dict; use one such as {{"event": "Process/Start"}}')
    options = []
    for name, values in (filter or {}).items():
        if values is None:
            continue
        for value in [values] if isinstance(values, (str, int, float)) or not isinstance(values, Iterable) else values:
            options.append((name, _text(value)))
    return options


def _text(value: object) -> str:
    if isinstance(value, datetime):
        # A time without a zone is UTC, as in the program.
        return (value if value.tzinfo is None else value.astimezone(timezone.utc)).strftime("%Y-%m-%dT%H:%M:%S.%f")
    return f"{value:.7f}" if isinstance(value, float) else str(value)
