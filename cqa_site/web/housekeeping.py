"""Chores that delete expired data, and integrity checks for the database."""

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import connection
from django.utils import timezone

# Chores: regular deletion of data, by the app that created it.
#
# An app registers its chores when it is loaded. Each may run at any time and any number of times.
# Workers run all chores, and so does ``manage.py housekeeping``.

log = logging.getLogger(__name__)
Chore = Callable[[], int]
CHORES: dict[str, Chore] = {}


def chore(name: str) -> Callable[[Chore], Chore]:
    """Register ``function()``, which returns the number of objects it deleted."""

    def register(function: Chore) -> Chore:
        CHORES[name] = function
        return function

    return register


def run_chores() -> dict[str, int | None]:
    """Run every chore; return the results by name, with None for a failed chore (see the log)."""
    done = {name: _try(name, function) for name, function in CHORES.items()}
    _try("its record", lambda: chore_record_path().write_text(json.dumps(done), encoding="utf-8"))
    return done


def chore_record_path() -> Path:
    """Return the path of the last run's record; its modification time is the time of the run."""
    return Path(settings.DATA_DIR) / "housekeeping.json"


def _try(name: str, function: Chore) -> int | None:
    try:
        return function()
    except Exception:
        # One unusual file or one bug does not stop the other chores.
        log.exception("housekeeping: %s failed", name)
        return None


@chore("expired sessions")
def clear_sessions() -> int:
    """Delete expired sessions, as Django's ``clearsessions`` does, and return their number."""
    return Session.objects.filter(expire_date__lt=timezone.now()).delete()[0]


# Invariants of the database; every app registers checks for its part.

Check = Callable[[], Iterator[str]]
_CHECKS: list[Check] = []


def register(check: Check) -> None:
    """Register a check that yields one sentence per broken invariant."""
    if check not in _CHECKS:
        _CHECKS.append(check)


def find_violations() -> Iterator[str]:
    """Yield every broken invariant of all apps and of the database file."""
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
