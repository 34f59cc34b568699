"""A column that came with comments, as the database reads it."""

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
        """By the keys themselves: no path into the JSON names one with a quotation mark."""
        sql, params, name = self._parts(compiler)
        found = f"SELECT value FROM JSON_EACH({sql}) WHERE key = %s"  # noqa: S608 - our own column
        return f"({found})", (*params, name)

    def as_postgresql(self, compiler: Any, connection: Any, **_more: Any) -> Any:
        """With the operator for text."""
        sql, params, name = self._parts(compiler)
        return f"({sql} ->> %s::text)", (*params, name)

    def _parts(self, compiler: Any) -> tuple[str, tuple, str]:
        column, name = self.get_source_expressions()
        sql, params = compiler.compile(column)
        return sql, tuple(params), name.value
