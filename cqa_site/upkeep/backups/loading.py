"""Rows of one database into another, by the models they were written with, and the proof of it."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Protocol

from django.core.management import call_command
from django.core.management.color import no_style
from django.db import Error, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.graph import MigrationGraph
from django.db.models import Model

from .archive import Say
from .columns import Table, Value, converted, table_of, writers
from .contents import Contents
from .refusals import BackupRefused, why
from .snapshot import LEFT_OUT, ROWS_AT_ONCE, Migrations, models_at, read_rows


class Source(Protocol):
    """Where rows come from: a backup, or another database."""

    @property
    def migrations(self) -> Migrations:
        """Those that made the tables."""

    @property
    def tables(self) -> list[Table]:
        """All tables with rows to take over."""

    def rows(self, table: Table) -> Iterator[list[Value]]:
        """In the order of their key."""


def load(source: Source, alias: str, say: Say) -> dict[str, Contents]:
    """Make the tables as they were, fill them, and compare what they hold; contents by name."""
    connection = connections[alias]
    migrate_to(connection, source.migrations)
    models = models_at(connection, source.migrations)
    _refuse_others(source.tables, models)
    loaded, total = {}, len(source.tables)
    with connection.constraint_checks_disabled(), transaction.atomic(using=alias):
        _empty(connection, [model._meta.db_table for model in models])
        for done, table in enumerate(source.tables):
            say(done, total, table.name)
            loaded[table.name] = _load_table(connection, source, table)
    for statement in connection.ops.sequence_reset_sql(no_style(), models):
        _execute(connection, statement)
    return loaded


def _refuse_others(tables: list[Table], models: list[type[Model]]) -> None:
    """Refuse all names but those of the models: a backup is a file that somebody may have made."""
    known = {table.name: table for table in map(table_of, models)}
    for table in tables:
        if known.pop(table.name, None) != table:
            raise BackupRefused(
                f"The backup has a table that its migrations do not make, or not so: "
                f"{table.name!r}. Nothing was restored from it."
            )
    if missing := sorted(known.keys() - LEFT_OUT):
        raise BackupRefused(f"The backup lacks the table {missing[0]}. Nothing was restored.")


def migrate_to(connection: BaseDatabaseWrapper, wanted: Migrations) -> None:
    """Bring an empty database to exactly these migrations."""
    executor = MigrationExecutor(connection)
    if unknown := sorted(wanted - set(executor.loader.disk_migrations or ())):
        app, name = unknown[0]
        raise BackupRefused(
            f"The backup needs a migration that is not here ({app}.{name}): it was made by "
            "another version, or with an app that is not installed."
        )
    applied = set(executor.loader.applied_migrations or ())
    if applied == wanted:
        return
    if applied - wanted:
        executor.migrate([(app, None) for app in sorted({app for app, _name in applied})])
        executor.loader.build_graph()
    executor.migrate(_last_of_each_app(executor.loader.graph, wanted))


def _last_of_each_app(graph: MigrationGraph, wanted: Migrations) -> list[tuple[str, str]]:
    """Those that no later one of the app stands on: Django takes back what follows a target."""
    followed = {
        parent.key
        for each in wanted
        for parent in graph.node_map[each].parents
        if parent.key[0] == each[0]
    }
    return sorted(wanted - followed)


def migrate_on(alias: str) -> None:
    """Bring what was loaded to the newest migrations, with what Django makes after them."""
    if connections[alias].vendor == "postgresql":
        # It changes no table whose constraints are still to be checked.
        _execute(connections[alias], "SET CONSTRAINTS ALL IMMEDIATE")
    call_command("migrate", database=alias, interactive=False, verbosity=0)
    call_command("createcachetable", database=alias, verbosity=0)


def _load_table(connection: BaseDatabaseWrapper, source: Source, table: Table) -> Contents:
    read = Contents(table)
    try:
        _write(connection, table, read.counted(source.rows(table)))
    except Error as problem:
        raise BackupRefused(
            f"This database does not take the rows of {table.name}: {why(problem)}."
        ) from problem
    except (ValueError, TypeError, OverflowError) as problem:
        raise BackupRefused(
            f"A row of {table.name} has a value of another kind than its column."
        ) from problem
    stored = Contents.of(table, read_rows(connection, table))
    if stored.sha256 != read.sha256:
        raise BackupRefused(
            f"{table.name} holds something else after it was written ({stored.rows:,} rows, "
            f"{stored.sha256[:12]}) than before ({read.rows:,} rows, {read.sha256[:12]})."
        )
    return stored


def _write(connection: BaseDatabaseWrapper, table: Table, rows: Iterable[list[Value]]) -> None:
    quote, converts = connection.ops.quote_name, writers(table, connection.vendor)
    columns = ", ".join(quote(column.name) for column in table.columns)
    ready = (converted(row, converts) for row in rows)
    place = f"{quote(table.name)} ({columns})"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            copying = cursor.copy(f"COPY {place} FROM STDIN")
            with connection.wrap_database_errors, copying as copy:
                for row in ready:
                    copy.write_row(row)
            return
        marks = ", ".join(["%s"] * len(table.columns))
        while several := list(islice(ready, ROWS_AT_ONCE)):
            # Names are those of our own models; see `_refuse_others`.
            cursor.executemany(f"INSERT INTO {place} VALUES ({marks})", several)  # noqa: S608


def _empty(connection: BaseDatabaseWrapper, tables: list[str]) -> None:
    """Take out what came with the tables; the rows to come have all of it."""
    for statement in connection.ops.sql_flush(no_style(), tables):
        _execute(connection, statement)


def _execute(connection: BaseDatabaseWrapper, statement: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
