"""Exceptions and warnings."""

from __future__ import annotations


class Error(ValueError):
    """Invalid input: a file that is not a trace, or an invalid option.

    The message states the problem and its remedy. ``path`` is the name of the file, if the error is about one.
    """

    def __init__(self, message: str, path: str | None = None) -> None:
        super().__init__(message)
        self.path = path


class ReadError(Error, OSError):
    """A file that cannot be read: it does not exist, or the system denies access. ``errno`` is the number of the error."""

    def __init__(self, message: str, path: str | None = None, code: int | None = None) -> None:
        super().__init__(message, path)
        self.message = message
        self.errno = code
        self.filename = path

    def __str__(self) -> str:
        return self.message


class DamageWarning(UserWarning):
    """Parts of a damaged trace, schemas or payloads were skipped; or no event matches a filter."""
