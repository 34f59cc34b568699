"""The Celery app: a doorbell that wakes workers; the work itself is rows in the database."""

import logging
import os
import threading
import warnings
from collections.abc import Callable
from typing import Any

from celery import Celery
from celery.exceptions import SecurityWarning
from celery.signals import setup_logging, worker_ready, worker_shutting_down
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cqa_site.settings")
log = logging.getLogger(__name__)
app = Celery("cqa_site")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# At once and every hour, because a site on somebody's laptop rarely runs for a whole day.
HOUSEKEEPING_SECONDS = 3600.0
# In a container root is usual; messages are JSON and hold nothing that runs.
warnings.filterwarnings("ignore", "You're running the worker with superuser", SecurityWarning)


@setup_logging.connect
def keep_lines(**_: object) -> None:
    """With a listener here Celery leaves its log lines to the site's own settings."""


@worker_ready.connect
def look_around(sender: Any, **_: object) -> None:
    """Every worker looks for work itself, at once and then again and again.

    A broker that lost its messages, or the table that says where they go, costs seconds.
    """
    from cqa_site.runs.tasks import housekeeping, wake

    _every(settings.SWEEP_SECONDS, wake, sender.timer, sender.pool.apply_async)()
    # Beside the pool, where work of hours would keep it waiting.
    _every(HOUSEKEEPING_SECONDS, housekeeping, sender.timer, _in_a_thread)()


@worker_shutting_down.connect
def stop_claiming(**_: object) -> None:
    """A worker that is asked to end claims no further calls."""
    from cqa_site.runs import jobs

    jobs.STOP.set()


def _every(seconds: float, task: Any, timer: Any, apply: Callable[..., Any]) -> Callable[[], None]:
    """Have a task done now and then, never twice at a time; return one turn."""
    is_idle = threading.Lock()

    def turn() -> None:
        if is_idle.acquire(blocking=False):
            apply(_do, (task,), callback=lambda _result: is_idle.release())

    timer.call_repeatedly(seconds, turn)
    return turn


def _in_a_thread(
    function: Callable[..., object], arguments: tuple[Any, ...], callback: Callable[[object], None]
) -> None:
    """What a pool does, in a thread that ends with the process."""
    from django.db import connections

    def run() -> None:
        callback(function(*arguments))
        connections.close_all()

    threading.Thread(target=run, name="housekeeping", daemon=True).start()


def _do(task: Any) -> None:
    """What Celery does around a task that came as a message; a turn that fails is not the last."""
    from django.db import close_old_connections

    try:
        close_old_connections()
        task()
        close_old_connections()
    except Exception:
        log.exception("%s failed", task.name)
