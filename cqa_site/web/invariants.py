"""What must always hold in the database; every app says how to check its part."""

from collections.abc import Callable, Iterator

from django.db import connection

Check = Callable[[], Iterator[str]]
_CHECKS: list[Check] = []


def register(check: Check) -> None:
    """Make known what yields one sentence for every broken invariant, and else nothing."""
    if check not in _CHECKS:
        _CHECKS.append(check)


def find_violations() -> Iterator[str]:
    """Every broken invariant of every app, and of the database file."""
    for check in _CHECKS:
        yield from check()
    yield from _database_faults()


def _database_faults() -> Iterator[str]:
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA integrity_check")
        yield from (f"SQLite: {row[0]}" for row in cursor.fetchall() if row[0] != "ok")
        cursor.execute("PRAGMA foreign_key_check")
        yield from (f"SQLite: dangling reference in {row[0]}" for row in cursor.fetchall())
