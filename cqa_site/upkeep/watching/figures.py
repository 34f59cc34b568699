"""Prometheus figures of the whole site, computed within a time limit."""

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

# Figures of the whole site, from the database: few statements, each by an index.
#
# Labels are names of kinds and states, and public ids of studies and endpoints: never of people or
# of what they work on.

log = logging.getLogger(__name__)
# How often each state of calls occurs in a run that ended then: it does not change any more.
_ENDED: dict[tuple[int, datetime | None], dict[str, int]] = {}


def jobs() -> Iterator[Metric]:
    family = GaugeMetricFamily(
        "counterpoint_jobs", "Jobs that wait, run or failed.", labels=("kind", "state")
    )
    # One part for each index, all in one statement.
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
        "How long the oldest job that could run has waited.",
        value=_age(first) or 0,
    )


def leases() -> Iterator[Metric]:
    """Yield how many jobs and calls were taken back from lost workers."""
    family = CounterMetricFamily(
        "counterpoint_leases_taken_back",
        "Jobs and calls that were taken from a worker that died or hung.",
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
    """Yield the cost of runs, in the currency of the study's prices."""
    spent = CounterMetricFamily(
        "counterpoint_spend", "Spent, in the study's currency.", labels=("study", "kind")
    )
    tokens = CounterMetricFamily(
        "counterpoint_tokens", "Tokens by replies.", labels=("study", "kind", "direction")
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
        "Labels and sheets handed in, a changed mind once more.",
        labels=("kind",),
    )
    for kind in kinds():
        family.add_metric((kind.name,), kind.Event._default_manager.count())
    yield family


def workers() -> Iterator[Metric]:
    """Yield the number of live workers and the age of the last beat."""
    beats = WorkerBeat.objects.aggregate(
        last=Max("seen_at"), alive=Count("pk", filter=Q(seen_at__gt=Now() - ALIVE))
    )
    yield GaugeMetricFamily(
        "counterpoint_workers_alive", "Workers seen within a minute.", value=beats["alive"]
    )
    yield from _age_of(
        "counterpoint_worker_beat_age_seconds", "Since a worker was last seen.", beats["last"]
    )


def backups() -> Iterator[Metric]:
    yield from _age_of(
        "counterpoint_backup_age_seconds", "Since the newest whole backup.", newest()
    )


ALL: tuple[Callable[[], Iterator[Metric]], ...] = (
    jobs, leases, runs, money, people, workers, backups,
)  # fmt: skip


def compute(seconds: float) -> list[Metric]:
    """Compute every figure; raises TimeoutError if all together take too long."""
    ends = time.monotonic() + seconds
    metrics: list[Metric] = []
    for figures in ALL:
        if time.monotonic() > ends:
            raise TimeoutError
        metrics += _without_faults(figures)
    return metrics


def _without_faults(figures: Callable[[], Iterator[Metric]]) -> list[Metric]:
    """Return all figures of a kind, or none after an error; database errors are raised."""
    try:
        return list(figures())
    except Error:
        raise
    except Exception:
        log.exception("the figures of %s could not be computed", figures.__name__)
        return []


def _calls() -> Counter[tuple[str, str]]:
    """Count calls by endpoint and state; counts of ended runs are cached."""
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
    """Return how close each study is to a limit that would stop it: its own or a run's."""
    family = GaugeMetricFamily(
        "counterpoint_spend_of_limit_ratio",
        "Spent and set aside, of the limit that is nearest.",
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
    """Return each distinct row of names with its frequency."""
    return cast(Iterable[Any], rows.order_by().annotate(n=Count("pk")))


def _age_of(name: str, words: str, moment: datetime | None) -> Iterator[Metric]:
    """Yield the age of an event; nothing if it never happened, so that alerts test for absence."""
    if (age := _age(moment)) is not None:
        yield GaugeMetricFamily(name, words, value=age)


def _age(moment: datetime | None) -> float | None:
    return None if moment is None else max(0.0, (timezone.now() - moment).total_seconds())


# One look at all figures: in time whatever the database does, and not too often.

# Several who scrape, and a page that is reloaded, cost one look.
KEPT_SECONDS = 5.0
# Time for all statements together.
LIMIT_SECONDS = 2.0
# Lines that SQLite's machine runs between two looks at the clock: about a millisecond.
STEPS = 10_000


class Scrape:
    """Figures with the time of their computation. While it fails, the last ones are used."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.metrics: list[Metric] = []
        self.looked_at = 0.0

    def collect(self) -> Iterator[Metric]:
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
                self.metrics = compute(LIMIT_SECONDS)
        except (Error, TimeoutError):
            log.warning("the figures could not be looked up in time", exc_info=True)
        else:
            self.looked_at = time.monotonic()


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Make the database abort statements that take longer."""
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
