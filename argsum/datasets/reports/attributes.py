"""A column that came with comments, as the database reads it."""

import json
from typing import Any

from django.db.models import BooleanField, F, Func, Value


class HasValue(Func):
    """Whether a column of `Comment.attributes` is this text, whatever the column is called.

    Django's own look-up parses every row twice on SQLite, and takes "2024" for a place in a list.
    """

    output_field = BooleanField()

    def __init__(self, path: str, column: str, value: str) -> None:
        super().__init__(F(path), Value(column), Value(value))

    def as_sqlite(self, compiler: Any, connection: Any, **_more: Any) -> Any:
        """By the keys themselves, where the value stands anywhere in it: to look takes a third.

        No path into the JSON names a key with a quotation mark. `json.dumps` wrote the value.
        """
        column, name, value = self.get_source_expressions()
        sql, params = compiler.compile(column)
        own = f"SELECT value FROM JSON_EACH({sql}) WHERE key = %s"  # noqa: S608 - our own column
        told = (*params, json.dumps(value.value), *params, name.value, value.value)
        return f"(INSTR({sql}, %s) > 0 AND ({own}) = %s)", told

    def as_postgresql(self, compiler: Any, connection: Any, **_more: Any) -> Any:
        """With the operator for text."""
        column, name, value = self.get_source_expressions()
        sql, params = compiler.compile(column)
        return f"(({sql} ->> %s::text) = %s)", (*params, name.value, value.value)
