"""Database access for frequent queries and for writes of many rows."""

import uuid
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import islice
from types import SimpleNamespace
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, models, router
from django.db.models.expressions import DatabaseDefault
from django.db.models.query import ModelIterable
from django.db.transaction import TransactionManagementError

# Queries that run for every label. Their SQL is compiled once per process.
#
# Django takes longer to compile a query with many joins than the database takes to answer it.

# Placeholder values for compiling the SQL, different from everything else in a query.
_SAMPLES: dict[str, Callable[[int], Any]] = {
    "UUIDField": lambda _place: uuid.uuid4(),
    "BigAutoField": lambda place: 2_000_111_000 + place,
}


@dataclass(frozen=True)
class _CompiledQuery:
    """A compiled query; ``places`` contains each parameter's name, or None for constants."""

    compiler: Any
    sql: str
    params: tuple[Any, ...]
    places: tuple[str | None, ...]


class PreparedQuery:
    """A query that is compiled once, with placeholders for values.

    Parameters
    ----------
    build
        Function that returns the queryset for named values.
    fields
        A model field (UUID or key) for each name, which converts its values for the database.

    Examples
    --------
    ``PreparedQuery(lambda item: Assignment.objects.filter(public_id=item), item=UUIDField())`` is
    called with ``item=…`` and returns a list of rows.
    """

    def __init__(
        self, build: Callable[..., models.QuerySet[Any]], **fields: "models.Field[Any, Any]"
    ) -> None:
        self._build, self._fields = build, fields
        self._made: dict[str, _CompiledQuery] = {}

    def __call__(self, **values: Any) -> list[Any]:
        """Return the rows for these values, as the queryset would."""
        connection: Any = connections[DEFAULT_DB_ALIAS]
        statement = self._made.get(connection.vendor)
        if statement is None:
            statement = self._made[connection.vendor] = self._make(connection)
        if statement.compiler.query.select_for_update and connection.get_autocommit():
            raise TransactionManagementError("rows can be locked only inside a transaction")
        db_values = {
            name: field.get_db_prep_value(values[name], connection)
            for name, field in self._fields.items()
        }
        slots = zip(statement.places, statement.params, strict=True)
        params = tuple(db_values[name] if name else fixed for name, fixed in slots)
        compiler = copy(statement.compiler)
        compiler.connection = connection
        compiler.as_sql = lambda *_args, **_kwargs: (statement.sql, params)
        query = SimpleNamespace(get_compiler=lambda **_about: compiler)
        attributes = {"db": connection.alias, "query": query, "_known_related_objects": {}}
        source: Any = SimpleNamespace(**attributes)
        return list(ModelIterable(source))

    def _make(self, connection: Any) -> _CompiledQuery:
        samples = {
            name: _SAMPLES[field.get_internal_type()](place)
            for place, (name, field) in enumerate(self._fields.items())
        }
        compiler = self._build(**samples).query.get_compiler(connection=connection)
        sql, params = compiler.as_sql()
        written = {
            field.get_db_prep_value(samples[name], connection): name
            for name, field in self._fields.items()
        }
        places = tuple(written.get(param) for param in params)
        if set(places) - {None} != set(self._fields):
            raise ValueError(f"a value of {sorted(self._fields)} does not reach the query")
        return _CompiledQuery(compiler, sql, tuple(params), places)


# Writes of many rows with different values, without building each statement anew.

AT_ONCE = 500


def _fields(row: models.Model, names: Sequence[str]) -> list[Any]:
    """Return the fields of a model by name."""
    known = {field.name: field for field in row._meta.concrete_fields}
    return [known[name] for name in names]


def write_each(rows: Iterable[models.Model], names: Sequence[str]) -> None:
    """Update the named fields of every row by its primary key.

    `bulk_update` builds one statement with a condition for each row, which takes a millisecond per
    row; one short statement for all rows takes a fiftieth of that.
    """
    rows = list(rows)
    if not rows:
        return
    meta = rows[0]._meta
    key, *fields = _fields(rows[0], [meta.pk.name, *names])
    connection = connections[router.db_for_write(type(rows[0]))]
    quote = connection.ops.quote_name
    changes = ", ".join(f"{quote(field.column)} = %s" for field in fields)
    sql = f"UPDATE {quote(meta.db_table)} SET {changes} WHERE {quote(key.column)} = %s"  # noqa: S608 - names of our own tables
    values = [
        [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]
        + [row.pk]
        for row in rows
    ]
    with connection.cursor() as cursor:
        cursor.executemany(sql, values)


def insert_like(row: models.Model, names: Sequence[str], values: Iterable[Sequence[Any]]) -> None:
    """Insert copies of an unsaved row, each with its own values in the named fields.

    Use it only if the new primary keys are not needed. `bulk_create` computes every field of every
    row; this function computes the shared fields once.
    """
    meta = row._meta
    connection = connections[router.db_for_write(type(row))]
    own = _fields(row, names)
    # Fields that the database fills in are left out.
    shared = [
        field
        for field in meta.concrete_fields
        if not field.primary_key
        and field not in own
        and not isinstance(getattr(row, field.attname), DatabaseDefault)
    ]
    same = [field.get_db_prep_save(field.pre_save(row, add=True), connection) for field in shared]
    quote = connection.ops.quote_name
    columns = ", ".join(quote(field.column) for field in (*shared, *own))
    marks = ", ".join(["%s"] * (len(shared) + len(own)))
    sql = f"INSERT INTO {quote(meta.db_table)} ({columns}) VALUES ({marks})"  # noqa: S608 - names of our own tables
    prepare = [field.get_db_prep_save for field in own]
    rows = (
        same + [adapter(value, connection) for adapter, value in zip(prepare, record, strict=True)]
        for record in values
    )
    with connection.cursor() as cursor:
        while block := list(islice(rows, AT_ONCE)):
            cursor.executemany(sql, block)
