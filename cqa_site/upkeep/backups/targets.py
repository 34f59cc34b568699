"""An empty database that is filled completely, or stays as it was."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

from django.apps import apps
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from cqa_site.runs.models import Job

from .databases import SQLITE, Config, registered, with_file
from .refusals import BackupRefused, in_words
from .snapshot import LEFT_OUT

# Rows that are made with the tables.
MADE_WITH_TABLES = {"django_content_type", "auth_permission", "django_site"} | LEFT_OUT
BUILDING = "restoring-"
# What SQLite keeps beside a file has its name and more.
LEFTOVER = re.compile(BUILDING + r"[0-9a-f]{32}\.sqlite3(-journal|-wal|-shm)?")


@contextmanager
def filled(config: Config) -> Iterator[str]:
    """The alias of a database to fill; what was done counts only if nothing is raised.

    SQLite is filled in a file beside the target and copied in one step, because migrations want
    transactions of their own there; in PostgreSQL all of it is one transaction.
    """
    if config["ENGINE"] == SQLITE:
        with _file_beside(Path(config["NAME"])) as alias:
            yield alias
        return
    with registered("target", config) as alias, transaction.atomic(using=alias):
        yield alias
        # Whatever refers to a row that is missing is found here, before anything counts.
        connections[alias].check_constraints()
        with connections[alias].cursor() as cursor:
            # Planned as for empty tables, a query over 100,000 labels took minutes.
            cursor.execute("ANALYZE")


def refuse_full(config: Config) -> None:
    """Refuse a database in which somebody has begun to work, and say what it holds."""
    if config["ENGINE"] == SQLITE and not Path(config["NAME"]).exists():
        return
    with in_words("The database cannot be opened"), registered("asked", config) as alias:
        held = _held_by(connections[alias])
    if held:
        told = ", ".join(f"{count:,} in {table}" for table, count in sorted(held.items())[:5])
        more = f" and {len(held) - 5} more tables" if len(held) > 5 else ""
        raise BackupRefused(
            f"The database is not empty; it holds {sum(held.values()):,} rows ({told}{more}). "
            "Nothing was changed. Name an empty database, or an installation nobody has used."
        )


def _held_by(connection: BaseDatabaseWrapper) -> dict[str, int]:
    """Rows of each table that has some and that people or their work have filled."""
    ours = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    with connection.cursor() as cursor:
        there = set(connection.introspection.table_names(cursor)) & ours - MADE_WITH_TABLES
        counts = {}
        for table in there:
            rows = connection.ops.quote_name(table)
            # Work of the site itself is nobody's: any worker asks for a backup at once.
            rows += " WHERE study_id IS NOT NULL" if table == Job._meta.db_table else ""
            cursor.execute(f"SELECT count(*) FROM {rows}")  # noqa: S608
            counts[table] = cursor.fetchone()[0]
    return {table: count for table, count in counts.items() if count}


@contextmanager
def _file_beside(path: Path) -> Iterator[str]:
    # A process that was killed left its own; nobody else fills this database at the same time.
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
        for each in path.parent.glob(f"{unfinished.name}*"):
            each.unlink()


def _copy(source: Path, target: Path) -> None:
    """In one transaction of the target's: a process that dies leaves what was there."""
    target.touch(mode=0o600)
    with closing(sqlite3.connect(source)) as read, closing(sqlite3.connect(target)) as written:
        written.execute("PRAGMA synchronous=FULL")
        read.backup(written)
