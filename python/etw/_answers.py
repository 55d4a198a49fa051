"""Answers of the program about whole traces: sums, differences, the time line, profiles and reports."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias

from . import _etw
from ._errors import DamageWarning, Error
from ._options import Paths, checked, options_of, paths_of, run
from ._types import Filter, Note

Path: TypeAlias = "str | os.PathLike[str]"
Row: TypeAlias = dict[str, "int | float | str | None"]


class Top:
    """Sums by keys: the output of ``etw etl top``. ``etw.top`` and ``Trace.top`` return it.

    It is a table for other libraries (``__arrow_c_stream__``), whose columns have the same types for each trace.
    """

    def __init__(self, document: dict[str, Any], table: _etw.Batch) -> None:
        self.what: str = document["what"]
        self.by: list[str] = document["by"]
        self.seconds: float = document["seconds"]
        """The time that the trace covers."""
        self.sessions: int = document["sessions"]
        self.events: int = document["events"]
        """Number of events of the trace."""
        self.total: dict[str, int | float] = document["total"]
        self.rows: list[Row] = document["rows"]
        """The rows, the largest first. Times are in milliseconds, sizes in bytes."""
        self.notes: list[Note] = document["notes"]
        """What is missing, inferred or left out, and how often."""
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<etw.Top {self.what} by {', '.join(self.by)}, {len(self)} rows>"


class Comparison:
    """Differences of sums: the output of ``etw etl compare``. :func:`compare` returns it."""

    def __init__(self, rows: list[Row], notes: list[dict[str, Any]]) -> None:
        self.rows = rows
        """The rows that differ, the largest difference first, with the amounts per second of trace."""
        self.summary = next(note for note in notes if "runs_before" in note)
        """Question, keys, measure, unit, runs, totals, and the number of rows."""
        self.notes = [note for note in notes if note is not self.summary]
        """Diagnostics and notes."""

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<etw.Comparison of {self.summary['what']}, {len(self)} rows>"


class Timeline(Iterator[dict[str, Any]]):
    """What happened, in the order of time: the output of ``etw etl timeline``, an entry for each thing. :func:`timeline` returns it."""

    def __init__(self, entries: Iterator[dict[str, Any]], notes: list[dict[str, Any]]) -> None:
        self._entries = entries
        self.summary = next(note for note in notes if "entries" in note)
        """The numbers of events and entries, and of what is not listed."""
        self.notes = [note for note in notes if note is not self.summary]
        """Diagnostics and notes."""

    def __iter__(self) -> Timeline:
        return self

    def __next__(self) -> dict[str, Any]:
        return next(self._entries)


def compare(
    before: Paths,
    after: Paths,
    *,
    what: str = "cpu",
    by: str | Sequence[str] = (),
    measure: str | None = None,
    filter: Filter | None = None,
    symbol_path: str | None = None,
    manifests: Paths = (),
    tmf: Paths = (),
) -> Comparison:
    """Compares the sums of :func:`top` in two traces, or in two groups of traces: files, or folders to search for ``*.etl``.

    >>> etw.compare("before.etl", "after.etl", what="disk", by="file", measure="bytes").rows
    """
    keys = [by] if isinstance(by, str) else list(by)
    words = [f"--baseline={path}" for path in checked(before)]
    words += [f"--what={what}", *_option("--by", ",".join(keys)), *_option("--measure", measure)]
    lines, notes = _run("compare", after, words, filter, symbol_path, manifests, tmf)
    return Comparison(list(lines), notes)


def timeline(
    paths: Paths,
    *,
    kind: str | Sequence[str] = (),
    all: bool = False,
    host: str | None = None,
    form: Literal["plain", "ecs", "ocsf"] = "plain",
    filter: Filter | None = None,
    manifests: Paths = (),
    tmf: Paths = (),
) -> Timeline:
    """Lists what happened in traces, or in the traces in folders: processes, files, connections and more, as dictionaries.

    >>> for entry in etw.timeline("boot.etl", kind="process_started"):
    ...     print(entry["time_utc"], entry["message"])

    The traces are read before the first entry is returned. Entries wait in memory, and beyond 16 MiB in a temporary file.
    """
    words = [f"--form={form}", *_option("--host", host), *(["--all"] if all else [])]
    words += [f"--kind={name}" for name in ([kind] if isinstance(kind, str) else kind)]
    return Timeline(*_run("timeline", paths, words, filter, None, manifests, tmf))


def profile(
    paths: Paths,
    output: Path,
    *,
    format: Literal["firefox", "speedscope", "pprof", "folded"] = "firefox",
    of: Literal["samples", "waits", "events"] | None = None,
    weight: str | None = None,
    mark: str | Sequence[str] = (),
    filter: Filter | None = None,
    symbol_path: str | None = None,
    manifests: Paths = (),
    tmf: Paths = (),
) -> list[dict[str, Any]]:
    """Writes a profile of traces to a new file, for the Firefox Profiler and other viewers: the output of ``etw etl profile``.

    >>> etw.profile("boot.etl", "profile.json", filter={"process": 1234})

    Returns diagnostics and notes: what is in the profile, what is left out, and the images without functions.
    """
    words = [f"--output={_file(output)}", f"--format={format}", *_option("--of", of), *_option("--weight", weight)]
    words += [f"--mark={name}" for name in ([mark] if isinstance(mark, str) else mark)]
    return _run("profile", paths, words, filter, symbol_path, manifests, tmf)[1]


def report(
    paths: Paths,
    output: Path,
    *,
    format: Literal["html", "json"] = "html",
    symbol_path: str | None = None,
    manifests: Paths = (),
    tmf: Paths = (),
) -> list[dict[str, Any]]:
    """Writes a report of traces to a new file, as a web page or its data: the output of ``etw etl report``.

    >>> etw.report("boot.etl", "report.html")

    Returns diagnostics and notes.
    """
    words = [f"--output={_file(output)}", f"--format={format}"]
    return _run("report", paths, words, None, symbol_path, manifests, tmf)[1]


def _file(path: Path) -> str:
    """A path that does not mean standard output."""
    name = os.fspath(path)
    return os.path.join(".", name) if name.startswith("-") else name


def _option(name: str, value: str | None) -> list[str]:
    return [f"{name}={value}"] if value else []


def _run(
    command: str,
    paths: Paths,
    words: list[str],
    filter: Filter | None,
    symbol_path: str | None,
    manifests: Paths,
    tmf: Paths,
) -> tuple[Iterator[dict[str, Any]], list[dict[str, Any]]]:
    """Runs a command on traces. Warns about diagnostics."""
    if command in ("compare", "timeline"):
        words = [*words, "--format=json"]
    if symbol_path is not None:
        words = [*words, f"--symbol-path={symbol_path}"]
    # The other options of a command are parameters of its function.
    options, known = options_of(filter), Filter.__annotations__
    unknown = next((name for name, _ in options if name not in known), None)
    if unknown is not None:
        raise Error(f"unknown option `{unknown}`; known options: {', '.join(known)}")
    words = [*words, *(f"--{name}={value}" for name, value in options)]
    words += [f"--manifests={path}" for path in paths_of(manifests)]
    words += [f"--tmf={path}" for path in paths_of(tmf)]
    files = checked(paths)
    if not files:
        raise Error("no trace files: the list is empty; name a file")
    lines, notes = run("etl", command, *words, "--", *files)
    found = [note for note in notes if "kind" in note and not note.get("is_note")]
    if found:
        count = sum(1 + note.get("more", 0) for note in found)
        text = f"{files[0]}{' and more' if len(files) > 1 else ''}: {count} diagnostics: parts of the trace may be missing; see the notes"
        warnings.warn(text, DamageWarning, stacklevel=3)
    return lines, notes
