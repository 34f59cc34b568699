"""How values of every kind of column are written down, the same from and for every database.

Rows are read and written without the models' own conversion, which would lose what a JSON text
looked like, and costs most of the time. A kind of field that is not known here stops a backup
before it begins; tests/upkeep asks about every field there is.
"""

import base64
import math
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from django.db.models import Field, Model

from .refusals import BackupRefused

Value = Any
Convert = Callable[[Value], Value]
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
class Column:
    """A column, the kind of its values, and of decimals how many digits follow the point."""

    name: str
    kind: str
    places: int = 0


@dataclass(frozen=True)
class Table:
    """A table, its columns, and the one that rows are in order of."""

    name: str
    key: str
    columns: tuple[Column, ...]


def table_of(model: type[Model]) -> Table:
    """What is to be read of a model's own table; a child's table has only what is its own."""
    fields = [field for field in model._meta.local_concrete_fields if not field.generated]
    columns = tuple(_column(field) for field in fields)
    return Table(model._meta.db_table, str(model._meta.pk.column), columns)


def _column(field: "Field[Any, Any]") -> Column:
    shaped: Any = field
    while shaped.is_relation:
        shaped = shaped.target_field
    kind = KINDS.get(shaped.get_internal_type())
    if kind is None:
        raise BackupRefused(f"Nobody has said how a backup keeps {field} ({type(field)}).")
    return Column(str(field.column), kind, getattr(shaped, "decimal_places", 0) or 0)


def readers(table: Table, vendor: str) -> list[Convert | None]:
    """For each column what makes a value of a database one for JSON; None where it is one."""
    return [_reader(column, vendor) for column in table.columns]


def writers(table: Table, vendor: str) -> list[Convert | None]:
    """For each column what makes a value from JSON one for a database; None where it is one."""
    return [WRITERS[vendor].get(column.kind) for column in table.columns]


def converted(row: tuple[Value, ...] | list[Value], converts: list[Convert | None]) -> list[Value]:
    """The row with what is there converted."""
    return [
        convert(value) if convert and value is not None else value
        for value, convert in zip(row, converts, strict=True)
    ]


def _reader(column: Column, vendor: str) -> Convert | None:
    if column.kind == "decimal":
        return lambda value: f"{Decimal(str(value)):.{column.places}f}"
    return READERS[vendor].get(column.kind)


def _float(value: float) -> float | str:
    """JSON has no infinity."""
    found = float(value)
    return found if math.isfinite(found) else str(found)


def _bytes(value: bytes | memoryview) -> str:
    return base64.b64encode(value).decode()


def _utc(value: datetime) -> str:
    moment = value.astimezone(UTC) if value.tzinfo else value
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _sqlite_time(value: str) -> str:
    """As Django writes it, so that times compare as texts."""
    return str(datetime.fromisoformat(value[:-1]))


EVERYWHERE: dict[str, Convert] = {
    "float": _float,
    "time": _utc,
    "date": date.isoformat,
    "bytes": _bytes,
}
READERS: dict[str, dict[str, Convert]] = {
    "sqlite": EVERYWHERE | {"boolean": bool, "uuid": lambda text: str(uuid.UUID(text))},
    "postgresql": EVERYWHERE | {"uuid": str},
}
WRITERS: dict[str, dict[str, Convert]] = {
    "sqlite": {
        "float": float,
        "time": _sqlite_time,
        "uuid": lambda text: uuid.UUID(text).hex,
        "bytes": base64.b64decode,
    },
    "postgresql": {"bytes": base64.b64decode},
}
