"""The Celery app, which wakes workers; the work itself is stored as rows in the database."""

import ctypes
import logging
import os
import threading
import warnings
from collections.abc import Callable
from typing import Any

from celery import Celery
from celery.exceptions import SecurityWarning
from celery.signals import celeryd_after_setup, setup_logging, worker_shutting_down
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cqa_site.settings")
log = logging.getLogger(__name__)
app = Celery("cqa_site")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# Runs at start-up and then hourly, because a site on a laptop rarely runs for a whole day.
HOUSEKEEPING_SECONDS = 3600.0
# M_ARENA_MAX in glibc's malloc.h.
ARENA_MAX = -8
# Containers usually run as root, and messages are JSON without executable content.
warnings.filterwarnings("ignore", "You're running the worker with superuser", SecurityWarning)


@setup_logging.connect
def keep_lines(**_: object) -> None:
    """Receive this signal, so that Celery does not configure logging."""


@celeryd_after_setup.connect
def look_around(instance: Any, **_: object) -> None:
    """Make every worker look for work at start-up and then regularly.

    If the broker is down or has lost its messages or queue table, work is only delayed by seconds.
    """
    from cqa_site.runs.jobs import watch_database
    from cqa_site.runs.tasks import housekeeping, wake

    _share_arenas()
    watch_database()
    _every(settings.SWEEP_SECONDS, wake, instance.pool.apply_async)
    # Not in the pool, where jobs that take hours would delay it.
    _every(HOUSEKEEPING_SECONDS, housekeeping, _in_place)


@worker_shutting_down.connect
def stop_claiming(**_: object) -> None:
    """Stop a worker from claiming further calls when it shuts down."""
    from cqa_site.runs import jobs

    jobs.STOP.set()


def _share_arenas() -> None:
    """Limit threads to two memory arenas; otherwise each thread keeps the memory it has freed."""
    if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):  # in glibc, but not in musl
        mallopt(ARENA_MAX, 2)


def _every(seconds: float, task: Any, apply: Callable[..., Any]) -> None:
    """Run a task at intervals, never twice at the same time.

    Celery's own timer stops while the broker is down.
    """
    from cqa_site.runs.jobs import STOP

    def turns() -> None:
        while not STOP.is_set():
            is_over = threading.Event()
            apply(_do, (task,), callback=lambda _result, over=is_over: over.set())
            is_over.wait()
            STOP.wait(seconds)

    threading.Thread(target=turns, name=f"every {seconds:g} s", daemon=True).start()


def _in_place(
    function: Callable[..., object], arguments: tuple[Any, ...], callback: Callable[[object], None]
) -> None:
    """Run a function in the calling thread, with a pool's interface."""
    from django.db import connections

    callback(function(*arguments))
    connections.close_all()


def _do(task: Any) -> None:
    """Run a task as Celery would for a message; a failure does not prevent later runs."""
    from django.db import close_old_connections

    try:
        close_old_connections()
        task()
        close_old_connections()
    except Exception:
        log.exception("%s failed", task.name)
