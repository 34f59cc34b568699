"""A column that came with comments, as the database reads it."""

import json
from typing import Any

from django.db.models import F, Func, TextField, Value


class Attribute(Func):
    """The text of one column of `Comment.attributes`, whatever the column is called.

    Django's own look-up parses every row twice on SQLite, and takes "2024" for a place in a list.
    """

    output_field = TextField()

    def __init__(self, path: str, column: str) -> None:
        super().__init__(F(path), Value(column))

    def as_sqlite(self, compiler: Any, connection: Any, **_more: Any) -> Any:
        """With a path into the JSON."""
        column, name = self.get_source_expressions()
        sql, params = compiler.compile(column)
        return f"JSON_EXTRACT({sql}, %s)", (*params, f"$.{json.dumps(name.value)}")

    def as_postgresql(self, compiler: Any, connection: Any, **_more: Any) -> Any:
        """With the operator for text."""
        column, name = self.get_source_expressions()
        sql, params = compiler.compile(column)
        return f"({sql} ->> %s)", (*params, name.value)
