"""Layouts of ETW's structures in kernel memory, by build and architecture.

>>> from etw import layouts
>>> layouts.select("10.0.19045.3570", "x64")["WMI_LOGGER_CONTEXT"]["LoggerName"].offset
152
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from . import _etw


@dataclass(frozen=True)
class Member:
    """A member of a structure."""

    name: str
    offset: int
    """Offset from the start of the structure, in bytes."""
    size: int
    """Size in bytes; for a bit field, the size of its unit."""
    type: str
    """Type in C."""
    bits: tuple[int, int] | None
    """For a bit field, the lowest bit within the unit, and the number of bits."""
    structure: str | None
    """Name of the structure that the member embeds."""
    is_sure: bool
    """Whether the offset can be used without checking the data: it is sure, or the same in all layouts that the build can have."""


class Layout(Mapping[str, Member]):
    """The layout of a structure: its members by name, in the order of the declaration."""

    def __init__(self, layout: dict[str, Any]) -> None:
        self.name: str = layout["name"]
        self.size: int = layout["size"]
        """Size in bytes."""
        self.align: int = layout["align"]
        """Alignment in bytes."""
        self.confidence: str = layout["confidence"]
        """The evidence for the layout in this build."""
        self.is_sure: bool = layout["is_sure"]
        """Whether symbols of this architecture verify the layout, in this build or in builds before or after it."""
        self._members = {member["name"]: Member(**member) for member in layout["members"]}

    def __getitem__(self, name: str) -> Member:
        return self._members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __repr__(self) -> str:
        return f"<{self.name}, {self.size:#x} bytes, {self.confidence}>"


class Layouts(Mapping[str, Layout]):
    """The structures of a build by name. Layouts are selected on access."""

    def __init__(self, build: str, arch: str) -> None:
        self.build, self.arch = build, arch
        # Report an invalid build or architecture now.
        _etw.layout("", build, arch)

    def __getitem__(self, name: str) -> Layout:
        layout = _etw.layout(name, self.build, self.arch)
        if layout is None:
            raise KeyError(f"{self.build} {self.arch} has no structure {name}")
        return Layout(layout)

    def __iter__(self) -> Iterator[str]:
        return (name for name in _etw.structures() if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"etw.layouts.select({self.build!r}, {self.arch!r})"


def select(build: str, arch: str) -> Layouts:
    """The layouts of a build such as ``10.0.19045.3570``, on ``x86``, ``x64`` or ``arm64``."""
    return Layouts(build, arch)
