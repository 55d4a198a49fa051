"""Options of commands, and files, as the program takes them."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any, TypeAlias, cast

from . import _etw
from ._errors import Error, ReadError

Source: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes]"
Paths: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"


def run(*words: str) -> tuple[Iterator[dict[str, Any]], list[dict[str, Any]]]:
    """Runs a command of the program. Returns its lines of JSON, which wait in memory, and beyond 16 MiB in a temporary file; and the diagnostics and notes."""
    file = SpooledTemporaryFile(max_size=16 << 20)
    try:
        notes = _etw.command(words, file)
    except BaseException:
        file.close()
        raise
    return _lines(file), notes


def _lines(file: SpooledTemporaryFile[bytes]) -> Iterator[dict[str, Any]]:
    with file:
        file.seek(0)
        for line in file:
            yield json.loads(line)


def is_one(source: object) -> bool:
    return isinstance(source, (str, os.PathLike, bytes, bytearray, memoryview)) or hasattr(source, "read")


def file_of(source: Source) -> tuple[str | bytes, str]:
    """A path or bytes, with the name of the file."""
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        if os.path.isdir(name):
            raise ReadError(f"{name}: is a folder; open a file in it, or use etw.batches for all of them", name, errno.EISDIR)
        return name, name
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source), "<bytes>"
    return bytes(source.read()), str(getattr(source, "name", "<file>"))


def found(sources: Paths | Iterable[Source]) -> Iterator[Source]:
    for source in cast("Iterable[Source]", [sources] if is_one(sources) else sources):
        if isinstance(source, (str, os.PathLike)) and os.path.isdir(source):
            yield from sorted(path for path in Path(source).rglob("*") if path.suffix.lower() == ".etl" and path.is_file())
        else:
            yield source


def paths_of(paths: Paths) -> list[str]:
    return [os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]


def options_of(filter: Mapping[str, object] | None) -> list[tuple[str, str]]:
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


def checked(paths: Paths) -> list[str]:
    """The paths, if all exist."""
    names = paths_of(paths)
    for name in names:
        try:
            os.stat(name)
        except OSError as error:
            raise ReadError(f"{name}: {error.strerror}", name, error.errno) from None
    return names
