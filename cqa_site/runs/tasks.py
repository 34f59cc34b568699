"""Wake-up messages for workers, which contain no state, so they may be lost or repeated."""

from celery import shared_task

from cqa_site.web.housekeeping import run_chores
from . import jobs
from .carrying import clients, worker


@shared_task(ignore_result=True, acks_late=False, max_retries=0)  # type: ignore[untyped-decorator]  # Celery has no types
def wake() -> int:
    """Run due jobs and calls for up to 50 seconds each, as workers also do unprompted."""
    count = jobs.drain() + clients.tend() + worker.drain_runs()
    worker.carry_on()
    return count


@shared_task(ignore_result=True, acks_late=False, expires=1800, max_retries=0)  # type: ignore[untyped-decorator]  # Celery has no types
def housekeeping() -> None:
    """Delete data that is no longer needed."""
    run_chores()
