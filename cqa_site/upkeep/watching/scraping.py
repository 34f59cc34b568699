"""One look at all figures: in time whatever the database does, and not too often."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import Error, connection, transaction
from prometheus_client.core import GaugeMetricFamily, Metric

import cqa_site
from cqa_site.web.health import pulse

from . import figures

log = logging.getLogger(__name__)
# Several who scrape, and a page that is reloaded, cost one look.
KEPT_SECONDS = 5.0
# For all statements together.
LIMIT_SECONDS = 2.0
# Lines that SQLite's machine runs between two looks at the clock: about a millisecond.
STEPS = 10_000


class Scrape:
    """Figures and when they were looked up; while that fails, the last ones stand."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.metrics: list[Metric] = []
        self.looked_at = 0.0

    def collect(self) -> Iterator[Metric]:
        """What the site says of itself."""
        build = GaugeMetricFamily("counterpoint_build", "What runs here.", labels=("version",))
        build.add_metric((cqa_site.__version__,), 1)
        yield build
        is_reached = pulse.reaches_database()
        yield GaugeMetricFamily(
            "counterpoint_database_up", "Whether the database answers.", value=is_reached
        )
        with self.lock:
            if is_reached and time.monotonic() - self.looked_at > KEPT_SECONDS:
                self._look()
            yield from self.metrics
            if self.looked_at:
                yield GaugeMetricFamily(
                    "counterpoint_figures_age_seconds",
                    "Since the figures from the database were looked up.",
                    value=time.monotonic() - self.looked_at,
                )

    def _look(self) -> None:
        try:
            with time_limit(LIMIT_SECONDS):
                self.metrics = figures.compute(LIMIT_SECONDS)
        except (Error, TimeoutError):
            log.warning("the figures could not be looked up in time", exc_info=True)
        else:
            self.looked_at = time.monotonic()


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Have the database give up a statement that takes longer."""
    connection.ensure_connection()
    if connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{seconds}s"])
            yield
        return
    ends = time.monotonic() + seconds
    raw = connection.connection
    raw.set_progress_handler(lambda: time.monotonic() > ends, STEPS)
    try:
        yield
    finally:
        raw.set_progress_handler(None, 0)
