"""The doorbell: it wakes a worker, or has the work done in place. It knows nothing of the work."""

import logging
from collections.abc import Callable

from celery import current_app
from django.conf import settings

log = logging.getLogger(__name__)
WAKE = "cqa_site.runs.tasks.wake"
# What is done where work runs in place, in this order; whoever does it puts it in.
INLINE: list[Callable[[], object]] = []


def ring() -> None:
    """Wake a worker; a broker that does not answer costs only the time until one looks itself."""
    if settings.JOBS_INLINE:
        for work in INLINE:
            work()
        return
    try:
        send()
    except Exception:
        log.warning("broker unreachable; a worker will find the work", exc_info=True)


def send() -> None:
    """One message; it says nothing, and after a minute nobody needs it."""
    current_app.send_task(WAKE, expires=60, ignore_result=True, retry=False)
