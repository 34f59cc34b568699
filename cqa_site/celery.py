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
# At once and every hour, because a site on somebody's laptop rarely runs for a whole day.
HOUSEKEEPING_SECONDS = 3600.0
# What glibc's malloc.h calls M_ARENA_MAX.
ARENA_MAX = -8
# In a container root is usual; messages are JSON and hold nothing that runs.
warnings.filterwarnings("ignore", "You're running the worker with superuser", SecurityWarning)


@setup_logging.connect
def keep_lines(**_: object) -> None:
    """Keep Celery from changing the log settings: with a receiver it leaves logging alone."""


@celeryd_after_setup.connect
def look_around(instance: Any, **_: object) -> None:
    """Make every worker look for work at once and then regularly.

    A broker that lost its messages or is away, or the table that says where they go, costs
    seconds.
    """
    from cqa_site.runs.jobs import watch_database
    from cqa_site.runs.tasks import housekeeping, wake

    _share_arenas()
    watch_database()
    _every(settings.SWEEP_SECONDS, wake, instance.pool.apply_async)
    # Beside the pool, where work of hours would keep it waiting.
    _every(HOUSEKEEPING_SECONDS, housekeeping, _in_place)


@worker_shutting_down.connect
def stop_claiming(**_: object) -> None:
    """Stop a worker that shuts down from claiming further calls."""
    from cqa_site.runs import jobs

    jobs.STOP.set()


def _share_arenas() -> None:
    """Make all threads use two memory arenas; otherwise each thread keeps memory it has freed."""
    if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):  # glibc has it, musl does not
        mallopt(ARENA_MAX, 2)


def _every(seconds: float, task: Any, apply: Callable[..., Any]) -> None:
    """Run a task at intervals, never twice at a time.

    Celery's own timer stands still while the broker is away.
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
    """Run a task as Celery runs one from a message; a failure does not stop later runs."""
    from django.db import close_old_connections

    try:
        close_old_connections()
        task()
        close_old_connections()
    except Exception:
        log.exception("%s failed", task.name)
