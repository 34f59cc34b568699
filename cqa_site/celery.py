"""The Celery app: a doorbell that wakes workers; the work itself is rows in the database."""

import os

from celery import Celery
from celery.signals import worker_ready, worker_shutting_down

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cqa_site.settings")
app = Celery("cqa_site")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_ready.connect
def look_for_work(**_: object) -> None:
    """A worker that starts looks once, instead of waiting for the next message or sweep."""
    from cqa_site.runs import jobs

    jobs.ring()


@worker_shutting_down.connect
def stop_claiming(**_: object) -> None:
    """A worker that is asked to end claims no further calls."""
    from cqa_site.runs import jobs

    jobs.STOP.set()
