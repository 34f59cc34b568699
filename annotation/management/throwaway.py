"""A database that exists for one computation and is gone afterwards."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.core.management import call_command
from django.db import connections
from django.db.utils import ConnectionHandler

DEFAULT = "default"


@contextmanager
def throwaway_database() -> Iterator[None]:
    """Put an empty, migrated SQLite database in memory in place of the configured one.

    Only this thread sees it. The configured database is neither read nor
    written, and background work runs in place instead of ringing a worker.
    """
    configured, inline = connections[DEFAULT], settings.JOBS_INLINE
    handler = ConnectionHandler(
        {DEFAULT: {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
    )
    connections[DEFAULT] = handler[DEFAULT]
    settings.JOBS_INLINE = True
    try:
        call_command("migrate", run_syncdb=True, interactive=False, verbosity=0)
        yield
    finally:
        settings.JOBS_INLINE = inline
        # Closing the last connection to a database in memory is its end.
        handler[DEFAULT].close()
        connections[DEFAULT] = configured
