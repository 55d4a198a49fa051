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

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias, cast

from . import _etw, layouts
from ._answers import Comparison, Timeline, Top, compare, profile, report, timeline
from ._errors import DamageWarning, Error, ReadError
from ._etw import Batch, Batches, Event, Events
from ._options import Paths, Source, file_of, found, is_one, options_of, paths_of, run
from ._types import Diagnostic, Filter, Image, Info, KnownBy, Note, Process

__all__ = [
    "Batch",
    "Batches",
    "Comparison",
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
    "Timeline",
    "Top",
    "Trace",
    "batches",
    "compare",
    "dump",
    "layouts",
    "open",
    "profile",
    "report",
    "timeline",
    "top",
]

Order: TypeAlias = Literal["time", "file"]
Shape: TypeAlias = Literal["narrow", "typed"]
Payload: TypeAlias = Literal["json", "binary", "none"]


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
        sources = cast("Sequence[Source]", [source] if is_one(source) else source)
        files = [file_of(source) for source in sources]
        if not files:
            raise Error("no trace files: the list is empty; name a file")
        self._trace = _etw.Trace(files, paths_of(manifests), paths_of(tmf))

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

    def top(self, what: str, *, by: str | Sequence[str] = (), filter: Filter | None = None, symbol_path: str | None = None) -> Top:
        """Sums of the amounts of events by keys, the largest first: the output of ``etw etl top``, whose help lists the questions and their keys.

        >>> polars.DataFrame(trace.top("cpu", by=["process", "module"]))
        >>> trace.top("gc", filter={"process": 3676}).total

        ``symbol_path`` is that of ``--symbol-path``, for the keys ``function`` and ``stack``.

        Raises :class:`Error` if the trace has no event that answers the question; the message says how to record them.
        """
        return Top(*self._trace.top(what, [by] if isinstance(by, str) else list(by), symbol_path, options_of(filter)))

    def events(self, *, filter: Filter | None = None, order: Order = "file") -> Events:
        """An iterator over the matching events, in file order or time order.

        A filter has the options of ``etw etl events``. Each has a value or a list of values, any of which matches:
        ``provider``, ``event``, ``id``, ``opcode``, ``level``, ``keyword``, ``process``, ``thread``, ``processor``, ``from``, ``to``.

        >>> trace.events(filter={"provider": ["Process", "Thread"], "from": 1.5, "to": "07:06:19.8"})

        Memory use does not depend on the size of the trace. An event keeps its buffer in memory, often 64 KB, which it shares with others. Ctrl+C stops the iteration. Several threads can share an iterator.
        """
        return self._trace.events(options_of(filter), order)

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
        return _etw.batches([self._trace], options_of(filter), shape, order, payload, table)

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
    opened = [open(source, manifests=manifests, tmf=tmf)._trace for source in found(sources)]
    if not opened:
        raise Error(f"no trace files (*.etl): {sources}; name a file, or a folder that contains some")
    return _etw.batches(opened, options_of(filter), shape, order, payload, table)


def top(
    sources: Paths | Iterable[Source],
    what: str,
    *,
    by: str | Sequence[str] = (),
    filter: Filter | None = None,
    symbol_path: str | None = None,
    manifests: Paths = (),
    tmf: Paths = (),
) -> Top:
    """Sums over traces, or over the traces in folders, which are one trace: see :meth:`Trace.top`.

    >>> polars.DataFrame(etw.top("boot.etl", "disk", by="file"))
    """
    return open(list(found(sources)), manifests=manifests, tmf=tmf).top(what, by=by, filter=filter, symbol_path=symbol_path)


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
        options = [word for name, value in options_of(filter) for word in ("--" + name, value)]
        events = self._run("events", "--payload", "fields", *options)
        return (event for event in events if session is None or event["session"] == session)

    def _run(self, command: str, *options: str) -> Iterator[dict[str, Any]]:
        lines, self.diagnostics = run("dump", command, "--format", "json", *options, self.path)
        return lines

    def __repr__(self) -> str:
        return f"etw.dump({self.path!r})"
