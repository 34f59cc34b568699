"""Do background work without Celery, in scripts or as a side-car in case the broker fails."""

import logging
import signal
import threading
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import Error, connections

from cqa_site.runs import jobs
from cqa_site.runs.carrying import clients, worker
from cqa_site.runs.jobs import STOP

log = logging.getLogger(__name__)
POLL = 1.0


class Command(BaseCommand):
    help = "Run due jobs and send calls, looking for work every second, until SIGTERM."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--until-idle", action="store_true", help="end as soon as nothing is left to do"
        )

    def handle(self, *args: Any, until_idle: bool, **options: Any) -> None:
        signal.signal(signal.SIGTERM, lambda *_: STOP.set())
        if until_idle:
            while do_jobs() + worker.drain_runs() or worker.has_work():
                pass
            return
        jobs.watch_database()
        # Planning a run must not wait until another run has sent its calls.
        beside = threading.Thread(target=_until_stopped, args=(do_jobs,), name="jobs")
        beside.start()
        _until_stopped(worker.drain_runs)
        beside.join()


def do_jobs() -> int:
    """Run due jobs and process provider batches; return how many jobs and batches changed."""
    return jobs.drain() + clients.tend()


def _until_stopped(work: Callable[[], int]) -> None:
    while not STOP.is_set():
        try:
            count = work()
        except Error:
            log.warning("the database is not responding", exc_info=True)
            connections.close_all()
            count = 0
        if not count:
            STOP.wait(POLL)
    connections.close_all()
