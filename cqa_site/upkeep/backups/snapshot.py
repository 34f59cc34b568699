"""A database as it was at one moment, read while people go on working."""

import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from django.apps import apps
from django.apps.registry import Apps
from django.conf import settings
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.models import Model

from .columns import Table, Value, converted, readers, table_of
from .databases import registered, with_file
from .refusals import BackupRefused

# Who is signed in and which workers live belongs to a machine, not to what a lab has.
LEFT_OUT = {"django_session", "usersessions_usersession", "runs_workerbeat"}
ROWS_AT_ONCE = 2000
COPY = "backing-up-"
Migrations = set[tuple[str, str]]


class Snapshot:
    """Tables and their rows at one moment, by the models that this database was made from."""

    def __init__(self, connection: BaseDatabaseWrapper) -> None:
        self.connection = connection
        self.migrations = applied_in(connection)
        self.tables = [table_of(model) for model in models_at(connection, self.migrations)]
        self.tables = [table for table in self.tables if table.name not in LEFT_OUT]

    def rows(self, table: Table) -> Iterator[list[Value]]:
        """Rows in the order of their key, as JSON has them."""
        return read_rows(self.connection, table)


def read_rows(connection: BaseDatabaseWrapper, table: Table) -> Iterator[list[Value]]:
    """Rows of a table in the order of its key; a cursor of the server keeps memory small."""
    quote = connection.ops.quote_name
    columns = ", ".join(quote(column.name) for column in table.columns)
    order = quote(table.key)
    kinds = {column.name: column.kind for column in table.columns}
    if connection.vendor == "postgresql" and kinds[table.key] == "text":
        order += ' COLLATE "C"'
    converts = readers(table, connection.vendor)
    with connection.chunked_cursor() as cursor:
        # Names are those of our own models.
        cursor.execute(f"SELECT {columns} FROM {quote(table.name)} ORDER BY {order}")  # noqa: S608
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            yield from (converted(row, converts) for row in rows)


def applied_in(connection: BaseDatabaseWrapper) -> Migrations:
    """The migrations a database has; none of them may be unknown here."""
    loader = MigrationLoader(connection)
    applied = set(loader.applied_migrations or ())
    if unknown := sorted(applied - set(loader.disk_migrations or ())):
        app, name = unknown[0]
        raise BackupRefused(
            f"The database has a migration that this version does not know ({app}.{name}). "
            "Start the version that made it, or a later one."
        )
    return applied


def models_at(connection: BaseDatabaseWrapper, migrations: Migrations) -> list[type[Model]]:
    """Every model with a table, as it was after these migrations."""
    loader = MigrationLoader(connection)
    then: Apps = loader.project_state(sorted(migrations)).apps
    # An app without migrations has tables as its models are.
    found = [
        model
        for there, is_asked in ((then, loader.migrated_apps), (apps, loader.unmigrated_apps))
        for model in there.get_models(include_auto_created=True)
        if model._meta.app_label in is_asked
    ]
    own = [each for each in found if each._meta.managed and not each._meta.proxy]
    return sorted(own, key=lambda model: model._meta.db_table)


@contextmanager
def snapshot(alias: str = "default") -> Iterator[Snapshot]:
    """What the database holds now; writers wait for as long as SQLite's file is copied."""
    connection = connections[alias]
    if connection.vendor == "sqlite":
        with _copied(connection) as copy:
            yield Snapshot(copy)
    else:
        with _one_moment(alias) as reader:
            yield Snapshot(reader)


@contextmanager
def _copied(connection: BaseDatabaseWrapper) -> Iterator[BaseDatabaseWrapper]:
    """A copy of a file, made in one step: in several, each write would begin it anew."""
    if connection.in_atomic_block:
        # SQLite would wait for this very transaction.
        raise RuntimeError("A snapshot is taken outside of any transaction.")
    remove_old_copies()
    with _own_file() as path:
        connection.ensure_connection()
        with closing(sqlite3.connect(path)) as copy:
            copy.execute("PRAGMA synchronous=OFF")
            copy.execute("PRAGMA journal_mode=OFF")
            connection.connection.backup(copy)
        with registered("copy", with_file(path)) as alias:
            yield connections[alias]


@contextmanager
def _own_file() -> Iterator[Path]:
    handle, name = tempfile.mkstemp(prefix=COPY, suffix=".sqlite3", dir=settings.DATA_DIR)
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def remove_old_copies(folder: Path | None = None, older_than: float = 24 * 60 * 60) -> None:
    """Delete what a process left that was killed while it read a copy."""
    for path in (folder or Path(settings.DATA_DIR)).glob(f"{COPY}*"):
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > older_than:
                path.unlink()


@contextmanager
def _one_moment(alias: str) -> Iterator[BaseDatabaseWrapper]:
    """A transaction of its own that sees nothing of what others write meanwhile."""
    config: dict[str, Any] = dict(connections.settings[alias])
    config["OPTIONS"] = {k: v for k, v in config["OPTIONS"].items() if k != "pool"}
    with registered("reading", config) as name, transaction.atomic(using=name):
        with connections[name].cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield connections[name]
