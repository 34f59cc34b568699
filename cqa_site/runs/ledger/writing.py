"""Writing many rows, each with values of its own, without building each statement anew."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from django.db import connections, models, router
from django.db.models.expressions import DatabaseDefault

AT_ONCE = 500


def _fields(row: models.Model, names: Sequence[str]) -> list[Any]:
    """The columns of a table by their names."""
    known = {field.name: field for field in row._meta.concrete_fields}
    return [known[name] for name in names]


def write_each(rows: Iterable[models.Model], names: Sequence[str]) -> None:
    """Update the named fields of every row by its primary key.

    `bulk_update` puts all rows into one statement of as many conditions, which costs a
    millisecond a row to build; the same short statement for each costs a fiftieth of that.
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

    For rows nobody needs the primary keys of. `bulk_create` works out every field of every
    row anew; here the shared ones are worked out once.
    """
    meta = row._meta
    connection = connections[router.db_for_write(type(row))]
    own = _fields(row, names)
    # What the database fills in by itself is not mentioned.
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
        same + [one(value, connection) for one, value in zip(prepare, each, strict=True)]
        for each in values
    )
    with connection.cursor() as cursor:
        while block := list(islice(rows, AT_ONCE)):
            cursor.executemany(sql, block)
