"""Tables in a backup: columns, checksums, databases, and reasons for refusal."""

import base64
import hashlib
import json
import math
import re
import sqlite3
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import dj_database_url
from django.conf import settings
from django.db import Error, connections
from django.db.models import Field, Model

# Messages to people about failed backups and restores.

# Django's messages on SQLite rows and PostgreSQL's on copied rows quote values.
MISSING = re.compile(r"invalid foreign key: (\S+) contains")
COLUMN = re.compile(r"^COPY \S+, line \d+, column (\w+)")
# Errors raised by disks and databases.
REFUSING = (OSError, sqlite3.Error, Error)
# The class of PostgreSQL errors whose messages quote a value.
DATA = "22"


class BackupRefused(Exception):
    """Raised if a request cannot be carried out, with a message that says why and what to do."""


class DamagedBackup(BackupRefused):
    """Raised if a backup was changed after it was written; `part` is the damaged part."""

    def __init__(self, part: str, why: str = "") -> None:
        self.part = part
        named = repr(part[:200])[1:-1] or "a part without a name"
        super().__init__(
            f"The backup is damaged: {named}{f' ({why})' if why else ''}. "
            "Nothing was restored from it. Use another backup, or copy this file again."
        )


@contextmanager
def in_words(what: str, kinds: tuple[type[Exception], ...] = REFUSING) -> Iterator[None]:
    """Turn disk and database errors into a message that starts with `what`."""
    try:
        yield
    except BackupRefused:
        raise
    except kinds as problem:
        raise BackupRefused(f"{what}: {why(problem)}.") from problem


def why(problem: Exception) -> str:
    """Describe a disk or database error; the text may name a column, but never its values."""
    if isinstance(problem, OSError):
        strerror = problem.strerror or str(problem)
        return f"{problem.filename}: {strerror}" if problem.filename else strerror
    if not isinstance(problem, sqlite3.Error | Error):
        return f"its rows or migrations do not fit this version ({type(problem).__name__})"
    if match := MISSING.search(str(problem)):
        return f"{match[1]} refers to a missing row"
    cause = problem.__cause__
    about = getattr(cause, "diag", None)
    if about is None or not about.sqlstate:
        return str(problem).rstrip(".")
    strerror = type(cause).__name__ if about.sqlstate.startswith(DATA) else about.message_primary
    match = COLUMN.match(about.context or "")
    column = about.column_name or (match[1] if match else "")
    return f"{strerror} (column {column})" if column else str(strerror)


# Conversion of column values to a format that does not depend on the database.
#
# Rows are read and written without the models' own conversion, which is slow and would lose the
# original notation of JSON texts. A backup does not start if a type of field is missing here;
# tests/upkeep checks every field.

Value = Any
Convert = Callable[[Value], Value]
# Values that are not stored as text in a backup; infinite numbers are stored as text.
JSON_TYPES = {"integer": (int,), "boolean": (bool,), "float": (float, str)}
KINDS = {
    "AutoField": "integer",
    "BigAutoField": "integer",
    "SmallAutoField": "integer",
    "IntegerField": "integer",
    "BigIntegerField": "integer",
    "SmallIntegerField": "integer",
    "PositiveIntegerField": "integer",
    "PositiveBigIntegerField": "integer",
    "PositiveSmallIntegerField": "integer",
    "BooleanField": "boolean",
    "FloatField": "float",
    "DecimalField": "decimal",
    "CharField": "text",
    "TextField": "text",
    "SlugField": "text",
    "FileField": "text",
    "GenericIPAddressField": "text",
    "DateTimeField": "time",
    "DateField": "date",
    "UUIDField": "uuid",
    "BinaryField": "bytes",
    "JSONField": "json",
}


@dataclass(frozen=True)
class BackupColumn:
    """A column, with the type of its values and the number of decimal places for decimals."""

    name: str
    kind: str
    places: int = 0


@dataclass(frozen=True)
class BackupTable:
    """A table, with its columns and the column that defines the order of its rows."""

    name: str
    key: str
    columns: tuple[BackupColumn, ...]


def table_of(model: type[Model]) -> BackupTable:
    """Return the table of a model, without columns inherited from a parent's table."""
    fields = [field for field in model._meta.local_concrete_fields if not field.generated]
    columns = tuple(_column(field) for field in fields)
    return BackupTable(model._meta.db_table, str(model._meta.pk.column), columns)


def _column(field: "Field[Any, Any]") -> BackupColumn:
    shaped: Any = field
    while shaped.is_relation:
        shaped = shaped.target_field
    kind = KINDS.get(shaped.get_internal_type())
    if kind is None:
        raise BackupRefused(f"Backups do not support the field {field} ({type(field)}).")
    return BackupColumn(str(field.column), kind, getattr(shaped, "decimal_places", 0) or 0)


def readers(table: BackupTable, vendor: str) -> list[Convert | None]:
    """Return a converter from database to JSON for each column, or None if not needed."""
    return [_reader(column, vendor) for column in table.columns]


def writers(table: BackupTable, vendor: str) -> list[Convert | None]:
    """Return a converter from JSON to database for each column, or None if not needed."""
    return [WRITERS[vendor].get(column.kind) for column in table.columns]


def converted(row: tuple[Value, ...] | list[Value], converts: list[Convert | None]) -> list[Value]:
    """Return the row with converted values; None remains None."""
    return [
        convert(value) if convert and value is not None else value
        for value, convert in zip(row, converts, strict=True)
    ]


def _reader(column: BackupColumn, vendor: str) -> Convert | None:
    if column.kind == "decimal":
        return lambda value: f"{Decimal(str(value)):.{column.places}f}"
    return READERS[vendor].get(column.kind)


def _float(value: float) -> float | str:
    """Return a float for JSON, or text for infinity."""
    number = float(value)
    return number if math.isfinite(number) else str(number)


def _utc(value: datetime) -> str:
    moment = value.astimezone(UTC) if value.tzinfo else value
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _finite(decimal: str) -> str:
    if not Decimal(decimal).is_finite():
        raise ValueError("not a number")
    return decimal


EVERYWHERE: dict[str, Convert] = {
    "float": _float,
    "time": _utc,
    "date": date.isoformat,
    "bytes": lambda value: base64.b64encode(value).decode(),
}
READERS: dict[str, dict[str, Convert]] = {
    "sqlite": EVERYWHERE | {"boolean": bool, "uuid": lambda text: str(uuid.UUID(text))},
    "postgresql": EVERYWHERE | {"uuid": str},
}
WRITERS: dict[str, dict[str, Convert]] = {
    "sqlite": {
        "decimal": _finite,
        "float": float,
        "time": lambda value: str(datetime.fromisoformat(value[:-1])),
        "uuid": lambda text: uuid.UUID(text).hex,
        "bytes": base64.b64decode,
    },
    "postgresql": {"decimal": _finite, "bytes": base64.b64decode},
}


# Hash of a table's content, independent of the database.
#
# PostgreSQL stores JSON keys in a different order and numbers in a different notation, so the hash
# of a JSON text depends on its meaning only.


class Contents:
    """The number of rows, and their hash in key order."""

    def __init__(self, table: BackupTable) -> None:
        self.rows = 0
        self._hash = hashlib.sha256()
        self._json = [at for at, column in enumerate(table.columns) if column.kind == "json"]

    @classmethod
    def of(cls, table: BackupTable, rows: Iterable[list[Value]]) -> "Contents":
        """Return the hash and number of the given rows."""
        contents = cls(table)
        for row in rows:
            contents.add(row)
        return contents

    def add(self, row: list[Value], line: bytes = b"") -> None:
        """Add one row; `line` is the result of `as_line`, if already computed."""
        self.rows += 1
        if self._json:
            row = row.copy()
            for at in self._json:
                row[at] = _said(row[at])
            line = as_line(row)
        self._hash.update(line or as_line(row))

    def counted(self, rows: Iterable[list[Value]]) -> Iterator[list[Value]]:
        """Yield the rows, and add each row to the count and the hash."""
        for row in rows:
            self.add(row)
            yield row

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()


def as_line(row: list[Value]) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _said(text: str | None) -> Value:
    return None if text is None else json.dumps(_LOADER.decode(text), sort_keys=True)


def _number(literal: str) -> float | int:
    """Normalize a number as PostgreSQL does: no exponent (1e+16 gets 17 digits) and no -0.0."""
    value = float(literal) + 0.0
    # int() raises OverflowError for infinity; 1e999999999 written out would fill the memory.
    if value and value == int(value) and "e" in literal.lower():
        return int(Decimal(literal))
    return value


_LOADER = json.JSONDecoder(parse_float=_number)

# Databases other than the configured database: a copy to read, a target to fill.

Config = dict[str, Any]
SQLITE = "django.db.backends.sqlite3"
POSTGRESQL = "django.db.backends.postgresql"


def from_url(url: str) -> Config:
    """Return the settings of the database at a URL; raise BackupRefused if the URL is invalid."""
    try:
        config: Config = dict(dj_database_url.parse(url))
    except ValueError as problem:
        raise BackupRefused(f"This is not a database address: {problem}") from problem
    if config["ENGINE"] not in (SQLITE, POSTGRESQL):
        raise BackupRefused("A database address begins with sqlite:// or postgres://.")
    return config


def with_file(path: Path) -> Config:
    """Return settings for a SQLite file that only this process uses."""
    options = {
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA synchronous=OFF;PRAGMA journal_mode=MEMORY",
    }
    return {"ENGINE": SQLITE, "NAME": str(path), "OPTIONS": options}


def configured() -> Config:
    """Return the settings of this site's database, without its connection pool."""
    config = dict(settings.DATABASES["default"])
    return config | {"OPTIONS": {k: v for k, v in config["OPTIONS"].items() if k != "pool"}}


def name_of(config: Config) -> str:
    """Return a name that identifies a database, without its password."""
    return " ".join(str(config.get(key, "")) for key in ("ENGINE", "HOST", "PORT", "NAME"))


@contextmanager
def registered(name: str, config: Config) -> Iterator[str]:
    """Register a database with Django temporarily, and yield its alias."""
    alias = f"{name}-{uuid4().hex}"
    filled = connections.configure_settings({"default": dict(config)})["default"]
    connections.settings[alias] = filled | {"CONN_MAX_AGE": 0}
    try:
        yield alias
    finally:
        connections[alias].close()
        del connections[alias]
        del connections.settings[alias]
