"""Why a backup cannot be made, read or restored: words for the person who asked."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import Error

# What Django says of SQLite's rows, and PostgreSQL of what is copied into it, quotes values.
MISSING = re.compile(r"invalid foreign key: (\S+) contains")
COLUMN = re.compile(r"^COPY \S+, line \d+, column (\w+)")
# The class of PostgreSQL's errors whose messages quote a value.
DATA = "22"


class BackupRefused(Exception):
    """What was asked for cannot be done; the message says why, and what to do."""


class Damaged(BackupRefused):
    """A backup is not what was written; `part` names where."""

    def __init__(self, part: str, why: str = "") -> None:
        self.part = part
        super().__init__(
            f"The backup is damaged: {part}{f' ({why})' if why else ''}. "
            "Nothing was restored from it; take another backup, or copy this one again."
        )


@contextmanager
def in_words(what: str) -> Iterator[None]:
    """Have what a disk or a database refuses told to the person who asked; `what` failed."""
    try:
        yield
    except (OSError, sqlite3.Error, Error) as problem:
        raise BackupRefused(f"{what}: {why(problem)}.") from problem


def why(problem: Exception) -> str:
    """What a disk or a database said; of a row at most the column, never what it holds."""
    if isinstance(problem, OSError):
        said = problem.strerror or str(problem)
        return f"{problem.filename}: {said}" if problem.filename else said
    if found := MISSING.search(str(problem)):
        return f"{found[1]} names a row that is missing"
    cause = problem.__cause__
    about = getattr(cause, "diag", None)
    if about is None or not about.sqlstate:
        return str(problem).rstrip(".")
    said = type(cause).__name__ if about.sqlstate.startswith(DATA) else about.message_primary
    found = COLUMN.match(about.context or "")
    column = about.column_name or (found[1] if found else "")
    return f"{said} (column {column})" if column else str(said)
