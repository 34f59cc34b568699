"""An operation for first migrations, which make many tables at once."""

from collections.abc import Sequence
from typing import Any

from django.db.migrations.operations.base import Operation


class MakeTables(Operation):
    """Several ``CreateModel``, after which the models are built once.

    Django builds every related model anew after each of a hundred operations, which takes most of
    the time in which an empty database gets its tables. Each operation has to hold its table
    whole, with fields, constraints and indexes; they may name each other in any order.
    """

    serialization_expand_args = ["operations"]
    reduces_to_sql = True
    reversible = True

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = operations

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        """As a migration's file writes it."""
        return type(self).__name__, [], {"operations": self.operations}

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Add all models; they are built when somebody asks for one."""
        state.__dict__.pop("apps", None)
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        """Make the tables; keys to those that come later are checked in the end."""
        for operation in self.operations:
            operation.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        """Drop the tables, the last one first."""
        for operation in reversed(self.operations):
            operation.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        """As ``migrate --plan`` says it."""
        return f"Make {len(self.operations)} tables"
