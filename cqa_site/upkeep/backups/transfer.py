"""Transfer of rows between databases, with a snapshot, an empty target and verification."""

import os
import re
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.apps import apps
from django.apps.registry import Apps
from django.conf import settings
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import Error, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.graph import MigrationGraph
from django.db.migrations.loader import MigrationLoader
from django.db.models import Model

from cqa_site.runs.models import Job
from .archive import Archive, Say
from .tables import (
    SQLITE,
    BackupRefused,
    BackupTable,
    Config,
    Contents,
    Value,
    converted,
    in_words,
    readers,
    registered,
    table_of,
    why,
    with_file,
    writers,
)

# Sessions and running workers belong to a machine, not to the lab's data.
LEFT_OUT = {"django_session", "usersessions_usersession", "runs_workerbeat"}
ROWS_AT_ONCE = 2000
COPY = "backing-up-"
Migrations = set[tuple[str, str]]


class DatabaseSnapshot:
    """The tables and rows of a database at one moment, read with the models that created it."""

    def __init__(self, connection: BaseDatabaseWrapper) -> None:
        self.connection = connection
        self.migrations = applied_in(connection)
        self.tables = [table_of(model) for model in models_at(connection, self.migrations)]
        self.tables = [table for table in self.tables if table.name not in LEFT_OUT]

    def rows(self, table: BackupTable) -> Iterator[list[Value]]:
        """Yield the rows in key order, as JSON values."""
        return read_rows(self.connection, table)


def read_rows(connection: BaseDatabaseWrapper, table: BackupTable) -> Iterator[list[Value]]:
    """Yield the rows of a table in key order, with a server-side cursor to save memory."""
    quote = connection.ops.quote_name
    columns = ", ".join(quote(column.name) for column in table.columns)
    order = quote(table.key)
    kinds = {column.name: column.kind for column in table.columns}
    if connection.vendor == "postgresql" and kinds[table.key] == "text":
        order += ' COLLATE "C"'
    converts = readers(table, connection.vendor)
    with connection.chunked_cursor() as cursor:
        # The names come from our own models.
        cursor.execute(f"SELECT {columns} FROM {quote(table.name)} ORDER BY {order}")  # noqa: S608
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            yield from (converted(row, converts) for row in rows)


def applied_in(connection: BaseDatabaseWrapper) -> Migrations:
    """Return the migrations applied in a database; raise BackupRefused if one is unknown."""
    loader = MigrationLoader(connection)
    applied = set(loader.applied_migrations or ())
    if unknown := sorted(applied - set(loader.disk_migrations or ())):
        app, name = unknown[0]
        raise BackupRefused(
            f"The database has a migration that this version does not know ({app}.{name}). "
            "Start the version that created it, or a later version."
        )
    return applied


def models_at(connection: BaseDatabaseWrapper, migrations: Migrations) -> list[type[Model]]:
    """Return all models with a table, in their state after the given migrations."""
    loader = MigrationLoader(connection)
    then: Apps = loader.project_state(sorted(migrations)).apps
    # The tables of an app without migrations match its current models.
    models = [
        model
        for there, is_asked in ((then, loader.migrated_apps), (apps, loader.unmigrated_apps))
        for model in there.get_models(include_auto_created=True)
        if model._meta.app_label in is_asked
    ]
    own = [
        candidate for candidate in models if candidate._meta.managed and not candidate._meta.proxy
    ]
    return sorted(own, key=lambda model: model._meta.db_table)


@contextmanager
def snapshot(alias: str = "default") -> Iterator[DatabaseSnapshot]:
    """Yield the database's current content; with SQLite, writers must wait for the copy."""
    connection = connections[alias]
    if connection.vendor == "sqlite":
        with _copied(connection) as copy:
            yield DatabaseSnapshot(copy)
    else:
        with _one_moment(alias) as reader:
            yield DatabaseSnapshot(reader)


@contextmanager
def _copied(connection: BaseDatabaseWrapper) -> Iterator[BaseDatabaseWrapper]:
    """Yield a copy of the file made in one step, because each write would restart a gradual copy.

    Writers must wait for the copy, which takes a third of a second for 100 MiB.
    """
    if connection.in_atomic_block:
        # SQLite would wait for the current transaction.
        raise RuntimeError("A snapshot cannot be taken inside a transaction.")
    remove_old(Path(settings.DATA_DIR).glob(f"{COPY}*"), 24 * 60 * 60)
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


def remove_old(paths: Iterable[Path], seconds: float) -> None:
    """Delete leftovers of killed processes that have not changed for this many seconds."""
    for path in paths:
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > seconds:
                path.unlink()


@contextmanager
def _one_moment(alias: str) -> Iterator[BaseDatabaseWrapper]:
    """Yield a connection in a separate transaction that does not see concurrent writes."""
    config: dict[str, Any] = dict(connections.settings[alias])
    config["OPTIONS"] = {k: v for k, v in config["OPTIONS"].items() if k != "pool"}
    with registered("reading", config) as name, transaction.atomic(using=name):
        with connections[name].cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield connections[name]


# Filling of an empty database, completely or not at all.

# Tables with rows that Django creates, and tables that are left out.
MADE_WITH_TABLES = {"django_content_type", "auth_permission", "django_site"} | LEFT_OUT
BUILDING = "restoring-"
# SQLite's extra files have the name of the main file with a suffix.
LEFTOVER = re.compile(BUILDING + r"[0-9a-f]{32}\.sqlite3(-journal|-wal|-shm)?")


@contextmanager
def filled(config: Config) -> Iterator[str]:
    """Yield the alias of a database to fill; changes are saved only if nothing is raised.

    For SQLite, a separate file is filled and then copied to the target in one step, because
    migrations need their own transactions there. For PostgreSQL, everything is one transaction.
    """
    if config["ENGINE"] == SQLITE:
        with _file_beside(Path(config["NAME"])) as alias:
            yield alias
        return
    with registered("target", config) as alias, transaction.atomic(using=alias):
        yield alias
        # Find references to missing rows before the transaction is committed.
        connections[alias].check_constraints()
        with connections[alias].cursor() as cursor:
            # Without statistics, a query over 100,000 labels took minutes.
            cursor.execute("ANALYZE")


def refuse_full(config: Config) -> None:
    """Refuse a database in which people have started to work, and list its content."""
    if config["ENGINE"] == SQLITE and not Path(config["NAME"]).exists():
        return
    with in_words("The database cannot be opened"), registered("asked", config) as alias:
        held = _held_by(connections[alias])
    if held:
        tables = ", ".join(f"{count:,} in {table}" for table, count in sorted(held.items())[:5])
        more = f" and {len(held) - 5} more tables" if len(held) > 5 else ""
        raise BackupRefused(
            f"The database is not empty: it has {sum(held.values()):,} rows ({tables}{more}). "
            "Nothing was changed. Use an empty database or an unused installation."
        )


def _held_by(connection: BaseDatabaseWrapper) -> dict[str, int]:
    """Count the rows that people or their work have added to each table."""
    ours = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    with connection.cursor() as cursor:
        there = set(connection.introspection.table_names(cursor)) & ours - MADE_WITH_TABLES
        counts = {}
        for table in there:
            rows = connection.ops.quote_name(table)
            # Jobs of the site itself do not count, because any worker queues a backup at once.
            rows += " WHERE study_id IS NOT NULL" if table == Job._meta.db_table else ""
            cursor.execute(f"SELECT count(*) FROM {rows}")  # noqa: S608
            counts[table] = cursor.fetchone()[0]
    return {table: count for table, count in counts.items() if count}


@contextmanager
def _file_beside(path: Path) -> Iterator[str]:
    # Files of killed processes: no other process fills this database at the same time.
    for leftover in path.parent.glob(f"{BUILDING}*"):
        if LEFTOVER.fullmatch(leftover.name):
            leftover.unlink()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = path.with_name(f"{BUILDING}{uuid4().hex}.sqlite3")
    unfinished.touch(mode=0o600)
    try:
        if path.exists():
            _copy(path, unfinished)
        with registered("target", with_file(unfinished)) as alias:
            yield alias
            connections[alias].check_constraints()
        _copy(unfinished, path)
    finally:
        for file in path.parent.glob(f"{unfinished.name}*"):
            file.unlink()


def _copy(source: Path, target: Path) -> None:
    """Copy a database in one transaction, so that a killed process leaves the target unchanged."""
    target.touch(mode=0o600)
    with closing(sqlite3.connect(source)) as read, closing(sqlite3.connect(target)) as written:
        written.execute("PRAGMA synchronous=FULL")
        read.backup(written)


# Transfer of rows with the models that wrote them, and verification.


def load(source: DatabaseSnapshot | Archive, alias: str, say: Say) -> dict[str, Contents]:
    """Create and fill the tables, and verify their content; return the contents by name."""
    connection = connections[alias]
    migrate_to(connection, source.migrations)
    models = models_at(connection, source.migrations)
    _refuse_others(source.tables, models)
    loaded, total = {}, len(source.tables)
    with connection.constraint_checks_disabled(), transaction.atomic(using=alias):
        # Delete the rows that were created with the tables, because the loaded rows include them.
        tables = [model._meta.db_table for model in models]
        for statement in connection.ops.sql_flush(no_style(), tables):
            _execute(connection, statement)
        for done, table in enumerate(source.tables):
            say(done, total, table.name)
            loaded[table.name] = _load_table(connection, source, table)
    for statement in connection.ops.sequence_reset_sql(no_style(), models):
        _execute(connection, statement)
    return loaded


def _refuse_others(tables: list[BackupTable], models: list[type[Model]]) -> None:
    """Refuse tables that do not match the models, because a backup may have been forged."""
    known = {table.name: table for table in map(table_of, models)}
    for table in tables:
        if known.pop(table.name, None) != table:
            raise BackupRefused(
                f"The backup has a table that does not match its migrations: "
                f"{table.name!r}. Nothing was restored from it."
            )
    if missing := sorted(known.keys() - LEFT_OUT):
        raise BackupRefused(f"The backup lacks the table {missing[0]}. Nothing was restored.")


def migrate_to(connection: BaseDatabaseWrapper, wanted: Migrations) -> None:
    """Migrate an empty database to exactly the given migrations."""
    executor = MigrationExecutor(connection)
    if unknown := sorted(wanted - set(executor.loader.disk_migrations or ())):
        app, name = unknown[0]
        raise BackupRefused(
            f"The backup needs a migration that is missing here ({app}.{name}): it was made by "
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
    """Return each app's last migrations; as targets, earlier ones would reverse later ones."""
    followed = {
        parent.key
        for migration in wanted
        for parent in graph.node_map[migration].parents
        if parent.key[0] == migration[0]
    }
    return sorted(wanted - followed)


def migrate_on(alias: str) -> None:
    """Apply the newest migrations to the loaded data, and create Django's own rows."""
    if connections[alias].vendor == "postgresql":
        # PostgreSQL does not alter a table with unchecked constraints.
        _execute(connections[alias], "SET CONSTRAINTS ALL IMMEDIATE")
    call_command("migrate", database=alias, interactive=False, verbosity=0)
    call_command("createcachetable", database=alias, verbosity=0)


def _load_table(
    connection: BaseDatabaseWrapper, source: DatabaseSnapshot | Archive, table: BackupTable
) -> Contents:
    read = Contents(table)
    try:
        _write(connection, table, read.counted(source.rows(table)))
        stored = Contents.of(table, read_rows(connection, table))
    except Error as problem:
        raise BackupRefused(
            f"The database refuses the rows of {table.name}: {why(problem)}. Nothing was changed."
        ) from problem
    except (ValueError, TypeError, ArithmeticError, RecursionError) as problem:
        raise BackupRefused(
            f"{table.name} contains a value that does not fit its column. Nothing was changed."
        ) from problem
    if stored.sha256 != read.sha256:
        raise BackupRefused(
            f"{table.name} was not stored correctly: {stored.rows:,} rows ({stored.sha256[:12]}) "
            f"instead of {read.rows:,} rows ({read.sha256[:12]})."
        )
    return stored


def _write(
    connection: BaseDatabaseWrapper, table: BackupTable, rows: Iterable[list[Value]]
) -> None:
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
            # The names come from our own models; see `_refuse_others`.
            cursor.executemany(f"INSERT INTO {place} VALUES ({marks})", several)  # noqa: S608


def _execute(connection: BaseDatabaseWrapper, statement: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
