"""The doorbell: messages carry no state, so losing or repeating one changes nothing."""

from celery import shared_task

from . import draining, jobs


@shared_task(ignore_result=True, acks_late=False, expires=60, max_retries=0)
def wake() -> int:
    """Run due jobs and carry calls for up to 50 seconds each; beat sends this as the sweeper."""
    count = jobs.drain() + draining.drain_runs()
    draining.carry_on()
    return count
