from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import IO, Any, final

from ._types import Diagnostic, Info, Process

__all__ = ["Batch", "Batches", "Event", "Events", "Trace", "batches", "command", "layout", "memory", "program", "structures"]

_Options = list[tuple[str, str]]

@final
class Trace:
    def __new__(cls, files: Sequence[tuple[str | bytes, str]], manifests: Sequence[str], tmf: Sequence[str]) -> Trace: ...
    @property
    def name(self) -> str: ...
    @property
    def info(self) -> Info: ...
    @property
    def diagnostics(self) -> list[Diagnostic]: ...
    def processes(self) -> list[Process]: ...
    def top(self, what: str, by: Sequence[str], symbol_path: str | None, options: _Options) -> tuple[dict[str, Any], Batch]: ...
    def events(self, options: _Options, order: str) -> Events: ...

@final
class Events(Iterator[Event]):
    """An iterator over events."""
    def __iter__(self) -> Events: ...
    def __next__(self) -> Event: ...

@final
class Event:
    """An event. Values are decoded on access. Names are the keys of ``etw etl events --format json``."""
    @property
    def file(self) -> str:
        """Name of the trace."""
    @property
    def buffer(self) -> int:
        """Index of the buffer in the file."""
    @property
    def buffer_offset(self) -> int:
        """Offset of the buffer in the file."""
    @property
    def offset(self) -> int:
        """Offset in the decompressed buffer."""
    @property
    def time(self) -> int | None:
        """Time in units of 100 ns since 1601."""
    @property
    def time_utc(self) -> datetime | None:
        """Time, rounded down to microseconds."""
    @property
    def processor(self) -> int: ...
    @property
    def process(self) -> int | None:
        """ID of the process that did it: that in a field, or in the header, or that of the thread."""
    @property
    def thread(self) -> int | None:
        """ID of the thread that did it: that in a field, or in the header."""
    @property
    def header_process(self) -> int | None:
        """Process ID in the header."""
    @property
    def header_thread(self) -> int | None:
        """Thread ID in the header."""
    @property
    def kernel_time(self) -> int | None:
        """Time that the thread in the header has run in kernel mode so far, in units of 100 ns."""
    @property
    def user_time(self) -> int | None:
        """Time that the thread in the header has run in user mode so far, in units of 100 ns."""
    @property
    def process_name(self) -> str | None:
        """File name of the image of the process that did it."""
    @property
    def process_by(self) -> str | None:
        """How the process that did it is known: ``header``, or the name of a field."""
    @property
    def subject(self) -> int | None:
        """Process that it is about, such as the one that is started."""
    @property
    def subject_name(self) -> str | None:
        """File name of the image of the process that it is about."""
    @property
    def subject_by(self) -> str | None:
        """How the process that it is about is known: the name of a field."""
    @property
    def stack(self) -> list[int] | None:
        """Return addresses of the call stack, the innermost first, those of the kernel before those of user mode."""
    @property
    def provider(self) -> str | None:
        """GUID of the provider."""
    @property
    def provider_name(self) -> str | None: ...
    @property
    def event(self) -> str | None:
        """Name such as ``Process/Start``."""
    @property
    def id(self) -> int | None: ...
    @property
    def version(self) -> int | None: ...
    @property
    def opcode(self) -> int | None: ...
    @property
    def level(self) -> int | None: ...
    @property
    def keyword(self) -> int | None: ...
    @property
    def task(self) -> int | None: ...
    @property
    def channel(self) -> int | None: ...
    @property
    def activity(self) -> str | None: ...
    @property
    def related(self) -> str | None:
        """ID of the activity that started this one."""
    @property
    def size(self) -> int: ...
    @property
    def payload_size(self) -> int: ...
    @property
    def payload(self) -> bytes: ...
    @property
    def fields(self) -> dict[str, Any]:
        """The fields of the payload by name; empty without a schema."""
    def __getitem__(self, name: str, /) -> Any:
        """A field."""
    def to_dict(self) -> dict[str, Any]:
        """The event as in a line of ``etw etl events --payload fields --format json``."""

@final
class Batches(Iterator[Batch]):
    """Events as Arrow record batches: see ``etw.Trace.batches``."""
    def __iter__(self) -> Batches: ...
    def __next__(self) -> Batch: ...
    @property
    def counts(self) -> dict[str, int]:
        """The numbers of events, rows and diagnostics so far."""
    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Payloads that could not be decoded completely, with their places."""
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

@final
class Batch:
    """Rows of a table."""
    @property
    def table(self) -> str:
        """``events``, ``stacks``, ``traces``, ``sums``, or the name of an event."""
    @property
    def columns(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

def batches(
    traces: Sequence[Trace], options: _Options, shape: str, order: str, payload: str, table: str | None
) -> Batches: ...
def program(args: Sequence[str]) -> int: ...
def command(args: Sequence[str], file: IO[bytes]) -> list[dict[str, Any]]: ...
def memory(
    args: Sequence[str], read: Callable[[int, int], bytes | None], ranges: Sequence[tuple[int, int]], file: IO[bytes]
) -> list[dict[str, Any]]: ...
def layout(name: str, build: str, arch: str) -> dict[str, Any] | None: ...
def structures() -> list[str]: ...
