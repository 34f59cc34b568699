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
        """With a path into the JSON, where the value stands anywhere in it: to look takes a third.

        Both are written by `json.dumps`.
        """
        column, name, value = self.get_source_expressions()
        sql, params = compiler.compile(column)
        told = (json.dumps(value.value), *params, f"$.{json.dumps(name.value)}", value.value)
        return f"(INSTR({sql}, %s) > 0 AND JSON_EXTRACT({sql}, %s) = %s)", (*params, *told)

    def as_postgresql(self, compiler: Any, connection: Any, **_more: Any) -> Any:
        """With the operator for text."""
        column, name, value = self.get_source_expressions()
        sql, params = compiler.compile(column)
        return f"(({sql} ->> %s) = %s)", (*params, name.value, value.value)
