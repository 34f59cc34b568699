"""Fast creation of many tables, in initial migrations and in new databases."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from django.apps import apps
from django.core.management.sql import emit_post_migrate_signal
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations import RunPython
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.operations.base import Operation


def make_all_tables(connection: BaseDatabaseWrapper) -> bool:
    """Create every table of an empty SQLite database directly from the models.

    All migrations are recorded as applied. Running them one by one creates the same tables, but
    takes twenty times as long. For any other database, do nothing and return False.
    """
    if connection.vendor != "sqlite" or connection.introspection.table_names():
        return False
    executor = MigrationExecutor(connection)
    loader, recorder = executor.loader, executor.recorder
    plan = executor.migration_plan(loader.graph.leaf_nodes())
    # A single transaction, so that an interrupted run leaves the database empty.
    with connection.schema_editor() as editor:
        editor.create_model(recorder.Migration)
        for model in apps.get_models():
            is_migrated = model._meta.app_label in loader.migrated_apps
            if is_migrated and model._meta.can_migrate(connection):
                editor.create_model(model)
        # Migration steps in Python, such as creating the full-text index.
        for operation in chain.from_iterable(migration.operations for migration, _back in plan):
            if isinstance(operation, RunPython):
                operation.code(apps, editor)  # type: ignore[arg-type]  # models as they are now
        recorder.migration_qs.bulk_create(
            recorder.Migration(app=app, name=name) for app, name in loader.disk_migrations
        )
        emit_post_migrate_signal(verbosity=0, interactive=False, db=connection.alias)
    return True


class MakeTables(Operation):
    """Several ``CreateModel`` operations, after which the models are built once.

    Django rebuilds all related models after each of a hundred operations; these rebuilds take most
    of the time needed to set up an empty database. Each operation must contain its complete table,
    with fields, constraints and indexes. Operations may refer to each other in any order.
    """

    serialization_expand_args = ["operations"]
    reduces_to_sql = True
    reversible = True

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = operations

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        """Return the operation as it is written in a migration file."""
        return type(self).__name__, [], {"operations": self.operations}

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Add all models; they are built on first use."""
        state.__dict__.pop("apps", None)
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        """Create the tables; foreign keys to later tables are checked at the end."""
        for operation in self.operations:
            operation.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        """Drop the tables, the last one first."""
        for operation in reversed(self.operations):
            operation.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        """Return the text for ``migrate --plan``."""
        return f"Make {len(self.operations)} tables"
