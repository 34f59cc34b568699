"""Do background work without Celery: a side-car where brokers may fail, and for scripts."""

import logging
import signal
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import Error, connections

from cqa_site.runs import draining, jobs, provider_batches

log = logging.getLogger(__name__)
POLL = 1.0


class Command(BaseCommand):
    help = "Run due jobs and carry calls, looking for work every second, until SIGTERM."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--until-idle", action="store_true", help="end as soon as nothing is left to do"
        )

    def handle(self, *args: Any, until_idle: bool, **options: Any) -> None:
        signal.signal(signal.SIGTERM, lambda *_: draining.STOP.set())
        while not draining.STOP.is_set():
            try:
                count = jobs.drain() + provider_batches.tend() + draining.drain_runs()
                if until_idle and not count and not draining.has_work():
                    return
            except Error:
                log.warning("the database does not answer", exc_info=True)
                connections.close_all()
                count = 0
            if not count:
                time.sleep(POLL)
