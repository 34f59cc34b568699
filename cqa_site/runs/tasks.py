"""The doorbell: messages carry no state, so losing or repeating one changes nothing."""

from celery import shared_task

from . import jobs


@shared_task(ignore_result=True, acks_late=False, expires=60, max_retries=0)
def wake() -> int:
    """Run due jobs for up to 50 seconds; beat sends this as the sweeper, too."""
    return jobs.drain()
