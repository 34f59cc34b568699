"""Prometheus metrics for the whole site, computed within a time limit."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, cast

from django.db import Error, connection, transaction
from django.db.models import Count, ExpressionWrapper, F, FloatField, Max, Min, Q, QuerySet, Sum
from django.db.models.functions import Now
from django.utils import timezone
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

import cqa_site
from cqa_site.rounds.kind import kinds
from cqa_site.runs.jobs import ALIVE
from cqa_site.runs.models import Attempt, Budget, Call, Job, Run, WorkerBeat
from cqa_site.upkeep.backups.backup import newest
from cqa_site.web.outages import pulse

# Figures from the database, with few statements that all use an index.
#
# Labels are names of kinds and states, and public ids of studies and endpoints, but never identify
# people or items.

log = logging.getLogger(__name__)
# Calls per state in each run that has ended, by run and end time; they no longer change.
_ENDED: dict[tuple[int, datetime | None], dict[str, int]] = {}


def jobs() -> Iterator[Metric]:
    family = GaugeMetricFamily(
        "counterpoint_jobs", "Jobs that are waiting, running or failed.", labels=("kind", "state")
    )
    # One part per index, combined in a single statement.
    parts = [
        Job.objects.filter(state=state).order_by().values_list("kind", "state")
        for state in (Job.State.READY, Job.State.LEASED, Job.State.FAILED)
    ]
    counted = [part.annotate(n=Count("pk")) for part in parts]
    for kind, state, count in counted[0].union(*counted[1:], all=True):
        family.add_metric((kind, state), count)
    yield family
    due = Job.objects.filter(state=Job.State.READY, run_after__lte=Now())
    first = due.aggregate(first=Min("run_after"))["first"]
    yield GaugeMetricFamily(
        "counterpoint_oldest_waiting_job_seconds",
        "Waiting time of the oldest job that is due.",
        value=_age(first) or 0,
    )


def leases() -> Iterator[Metric]:
    """Yield the number of jobs and calls taken back from lost workers."""
    family = CounterMetricFamily(
        "counterpoint_leases_taken_back",
        "Jobs and calls taken back from a worker that died or hung.",
        labels=("what",),
    )
    lost = Job.objects.filter(losses__gt=0).aggregate(n=Sum("losses"))["n"] or 0
    family.add_metric(("job",), lost)
    family.add_metric(("call",), Attempt.objects.filter(outcome=Attempt.Outcome.LOST).count())
    yield family


def runs() -> Iterator[Metric]:
    family = GaugeMetricFamily("counterpoint_runs", "Runs.", labels=("kind", "state"))
    for kind, state, count in _counts(Run.objects.values_list("kind", "state")):
        family.add_metric((kind, state), count)
    yield family
    calls = GaugeMetricFamily(
        "counterpoint_calls", "Requests to models, in all runs.", labels=("endpoint", "state")
    )
    for (endpoint, state), count in _calls().items():
        calls.add_metric((endpoint, state), count)
    yield calls


def money() -> Iterator[Metric]:
    """Yield the cost of runs in the currency of their study's prices."""
    spent = CounterMetricFamily(
        "counterpoint_spend", "Cost in the study's currency.", labels=("study", "kind")
    )
    tokens = CounterMetricFamily(
        "counterpoint_tokens", "Tokens reported in replies.", labels=("study", "kind", "direction")
    )
    rows = (
        Run.objects.order_by()
        .values_list("study__public_id", "kind")
        .annotate(Sum("budget__spent_micro"), Sum("budget__tokens_in"), Sum("budget__tokens_out"))
    )
    for study, kind, micro, tokens_in, tokens_out in rows:
        spent.add_metric((str(study), kind), micro / 1e6)
        tokens.add_metric((str(study), kind, "in"), tokens_in)
        tokens.add_metric((str(study), kind, "out"), tokens_out)
    yield from (spent, tokens, _of_limit())


def people() -> Iterator[Metric]:
    family = CounterMetricFamily(
        "counterpoint_submissions",
        "Submitted labels and score sheets, including changes.",
        labels=("kind",),
    )
    for kind in kinds():
        family.add_metric((kind.name,), kind.Event._default_manager.count())
    yield family


def workers() -> Iterator[Metric]:
    """Yield the number of live workers and the age of the last heartbeat."""
    beats = WorkerBeat.objects.aggregate(
        last=Max("seen_at"), alive=Count("pk", filter=Q(seen_at__gt=Now() - ALIVE))
    )
    yield GaugeMetricFamily(
        "counterpoint_workers_alive", "Workers seen within the last minute.", value=beats["alive"]
    )
    yield from _age_of(
        "counterpoint_worker_beat_age_seconds", "Time since a worker was last seen.", beats["last"]
    )


def backups() -> Iterator[Metric]:
    yield from _age_of(
        "counterpoint_backup_age_seconds", "Time since the newest complete backup.", newest()
    )


ALL: tuple[Callable[[], Iterator[Metric]], ...] = (
    jobs, leases, runs, money, people, workers, backups,
)  # fmt: skip


def compute(seconds: float) -> list[Metric]:
    """Compute all figures, or raise TimeoutError if this takes too long in total."""
    ends = time.monotonic() + seconds
    metrics: list[Metric] = []
    for figures in ALL:
        if time.monotonic() > ends:
            raise TimeoutError
        metrics += _without_faults(figures)
    return metrics


def _without_faults(figures: Callable[[], Iterator[Metric]]) -> list[Metric]:
    """Return all figures of a kind, or an empty list after an error outside the database."""
    try:
        return list(figures())
    except Error:
        raise
    except Exception:
        log.exception("the figures of %s could not be computed", figures.__name__)
        return []


def _calls() -> Counter[tuple[str, str]]:
    """Count calls by endpoint and state, and cache the counts of runs that have ended."""
    known = list(Run.objects.values_list("pk", "ended_at", "endpoint__public_id"))
    for gone in _ENDED.keys() - {(pk, ended) for pk, ended, _endpoint in known}:
        del _ENDED[gone]
    moving = [pk for pk, ended, _endpoint in known if (pk, ended) not in _ENDED]
    fresh: dict[int, dict[str, int]] = {pk: {} for pk in moving}
    of_moving = Call.objects.filter(run__in=moving).values_list("run", "state")
    for pk, state, count in _counts(of_moving):
        fresh[pk][state] = count
    total: Counter[tuple[str, str]] = Counter()
    for pk, ended, endpoint in known:
        counts = fresh[pk] if pk in fresh else _ENDED[pk, ended]
        if ended:
            _ENDED[pk, ended] = counts
        for state, count in counts.items():
            total[str(endpoint), state] += count
    return total


def _of_limit() -> Metric:
    """Return how close each study is to a spending limit, whether its own or a run's."""
    family = GaugeMetricFamily(
        "counterpoint_spend_of_limit_ratio",
        "Share of the nearest limit that is spent or reserved.",
        labels=("study",),
    )
    used = ExpressionWrapper(
        (F("spent_micro") + F("reserved_micro")) * 1.0 / F("cap_micro"), FloatField()
    )
    counts = Q(is_study_wide=True) | Q(run__state__in=Run.ACTIVE)
    counts |= Q(parts__run__state__in=Run.ACTIVE)
    limited = Budget.objects.filter(counts, cap_micro__gt=0).order_by()
    for study, ratio in limited.values_list("study__public_id").annotate(ratio=Max(used)):
        family.add_metric((str(study),), ratio)
    return family


def _counts(rows: QuerySet[Any, Any]) -> Iterable[Any]:
    """Return each distinct row with its frequency."""
    return cast(Iterable[Any], rows.order_by().annotate(n=Count("pk")))


def _age_of(name: str, words: str, moment: datetime | None) -> Iterator[Metric]:
    """Yield the age of an event, or nothing if it never happened; alerts detect missing ages."""
    if (age := _age(moment)) is not None:
        yield GaugeMetricFamily(name, words, value=age)


def _age(moment: datetime | None) -> float | None:
    return None if moment is None else max(0.0, (timezone.now() - moment).total_seconds())


# Computation of all figures, limited in time and frequency.

# Lifetime of the figures, so that several scrapers or reloads cause only one computation.
KEPT_SECONDS = 5.0
# Time limit for all statements together.
LIMIT_SECONDS = 2.0
# SQLite instructions between two checks of the clock, about a millisecond.
STEPS = 10_000


class Scrape:
    """The figures and the time of their computation; after a failure, the old figures remain."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.metrics: list[Metric] = []
        self.looked_at = 0.0

    def collect(self) -> Iterator[Metric]:
        build = GaugeMetricFamily("counterpoint_build", "Running version.", labels=("version",))
        build.add_metric((cqa_site.__version__,), 1)
        yield build
        is_reached = pulse.reaches_database()
        yield GaugeMetricFamily(
            "counterpoint_database_up", "Whether the database responds.", value=is_reached
        )
        with self.lock:
            if is_reached and time.monotonic() - self.looked_at > KEPT_SECONDS:
                self._look()
            yield from self.metrics
            if self.looked_at:
                yield GaugeMetricFamily(
                    "counterpoint_figures_age_seconds",
                    "Time since the figures were computed from the database.",
                    value=time.monotonic() - self.looked_at,
                )

    def _look(self) -> None:
        try:
            with time_limit(LIMIT_SECONDS):
                self.metrics = compute(LIMIT_SECONDS)
        except (Error, TimeoutError):
            log.warning("the figures could not be computed in time", exc_info=True)
        else:
            self.looked_at = time.monotonic()


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Make the database abort statements that exceed the time limit."""
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
