"""Types of dictionaries, for type checkers. The keys are those of the program's JSON output."""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypedDict

Filter = TypedDict(
    "Filter",
    {
        "provider": "str | list[str]",
        "event": "str | list[str]",
        "id": "int | str | list[int | str]",
        "opcode": "int | str | list[int | str]",
        "level": "int | str | list[int | str]",
        "keyword": "int | str | list[int | str]",
        "process": "int | list[int]",
        "thread": "int | list[int]",
        "processor": "int | list[int]",
        "from": "float | str | datetime",
        "to": "float | str | datetime",
    },
    total=False,
)


class Diagnostic(TypedDict, total=False):
    file: str
    kind: str
    is_note: bool
    buffer: int
    buffer_offset: int
    offset: int
    message: str
    more: int


class Image(TypedDict):
    path: str
    base: str
    size: int
    load: int | None
    load_utc: str | None
    unload: int | None
    unload_utc: str | None


class KnownBy(TypedDict, total=False):
    """The event that states each value of a process."""

    parent: str
    start: str
    end: str
    exit_status: str
    session: str
    user: str
    image: str
    path: str
    command_line: str
    package: str


class Process(TypedDict):
    file: str
    files: int
    index: int
    process: int
    key: str | None
    sequence: int | None
    parent: int | None
    parent_index: int | None
    parent_image: str | None
    start: int | None
    start_utc: str | None
    start_known: str | None
    end: int | None
    end_utc: str | None
    end_known: str | None
    exit_status: int | None
    exit_status_name: str | None
    session: int | None
    user: str | None
    user_name: str | None
    image: str | None
    path: str | None
    command_line: str | None
    package: str | None
    known_by: KnownBy
    images: list[Image]


class Note(TypedDict):
    """What is missing, inferred or left out, and how often."""

    note: str
    count: int


Info = dict[str, Any]
