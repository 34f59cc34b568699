"""Invariants of the ledger, and of kinds of runs with one row per call."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from .kinds import KINDS, kind_of
from .models import Attempt, Budget, Call, Run

OPEN = Attempt.Outcome.OPEN


def find_violations() -> Iterator[str]:
    """Yield a message for every violated invariant."""
    yield from _attempts_unlike_leases()
    yield from _calls_without_their_attempt()
    yield from _calls_of_ended_runs()
    yield from _wrong_counts()
    yield from _money()
    for run in Run.objects.exclude(state=Run.State.DRAFT).select_related("prompt", "study"):
        if run.kind in KINDS:
            yield from (f"run {run.pk}: {problem}" for problem in kind_of(run).check(run))


def _attempts_unlike_leases() -> Iterator[str]:
    """Check that only leased calls have an open attempt: exactly one, with the call's fence."""
    leased = Call.objects.filter(state=Call.State.LEASED).annotate(
        n=Count("attempts", filter=Q(attempts__outcome=OPEN, attempts__fence=F("fence")))
    )
    for call in leased.exclude(n=1):
        yield f"call {call.pk} is in flight with {call.n} open attempts"
    stray = Attempt.objects.filter(outcome=OPEN).exclude(
        call__state=Call.State.LEASED, call__fence=F("fence")
    )
    for pk in stray.values_list("pk", flat=True):
        yield f"attempt {pk} is open, but its call is not in flight"


def _calls_without_their_attempt() -> Iterator[str]:
    """Check that each answered call has exactly one attempt with the call's fence and reply."""
    answered = (Attempt.Outcome.REPLIED, Attempt.Outcome.REUSED)
    calls = Call.objects.filter(state__in=(Call.State.DONE, Call.State.REPLIED)).annotate(
        n=Count(
            "attempts",
            filter=Q(
                attempts__fence=F("fence"),
                attempts__outcome__in=answered,
                attempts__reply=F("reply"),
            ),
        )
    )
    for call in calls.exclude(n=1):
        yield f"call {call.pk} has {call.n} attempts with its reply"


def _calls_of_ended_runs() -> Iterator[str]:
    ready = Call.objects.filter(state=Call.State.READY, run__state=Run.State.CANCELLED)
    for pk in ready.values_list("pk", flat=True):
        yield f"call {pk} is waiting, but its run is cancelled"
    going = Call.objects.filter(state__in=Call.OPEN, run__state=Run.State.DONE)
    for pk in going.values_list("pk", flat=True):
        yield f"call {pk} has not ended, but its run is done"


def _wrong_counts() -> Iterator[str]:
    runs = Run.objects.annotate(n=Count("calls")).exclude(n=F("planned"))
    for run in runs:
        yield f"run {run.pk} planned {run.planned} calls and has {run.n}"


def _money() -> Iterator[str]:
    """Check that budgets match the totals of their attempts and do not exceed their caps."""
    for budget in Budget.objects.filter(is_study_wide=False).annotate(
        cost=_sum("cost_micro"), reserved=_sum("reserve_micro", outcome=OPEN)
    ):
        if budget.spent_micro != budget.cost:
            yield f"budget {budget.pk} says {budget.spent_micro} spent, attempts {budget.cost}"
        if budget.reserved_micro != budget.reserved:
            yield (
                f"budget {budget.pk} says {budget.reserved_micro} reserved, "
                f"attempts {budget.reserved}"
            )
    passed = Budget.objects.filter(cap_micro__lt=F("spent_micro") + F("reserved_micro"))
    for pk in passed.values_list("pk", flat=True):
        yield f"budget {pk} exceeds its cap"


def _sum(field: str, **filters: str) -> Coalesce:
    own = Q(call__run__budget=OuterRef("pk")) | Q(call__run__budget__parent=OuterRef("pk"))
    rows: QuerySet[Attempt] = Attempt.objects.filter(own, **filters)
    # All runs on a budget belong to one study, so this gives a single total.
    total = rows.order_by().values("call__run__study").annotate(total=Sum(field))
    return Coalesce(Subquery(total.values("total")[:1]), 0)


ENDED = (Call.State.DONE, Call.State.UNSCORED)


def check_places(run: Run, fences: Mapping[int, int], name: str) -> list[str]:
    """Check that every ended call has exactly one row, with the call's fence.

    ``fences`` maps calls to the fences of their rows; ``name`` is the name of a row. A call that
    was reopened, even if later cancelled, keeps its earlier row.
    """
    remainder = dict(fences)
    ended = run.calls.filter(state__in=ENDED).order_by("pk").values_list("pk", "fence")
    problems = [
        f"call {pk} does not have the {name} of its last attempt"
        for pk, fence in ended
        if remainder.pop(pk, None) != fence
    ]
    again = set(run.calls.filter(state__in=Call.OPEN).values_list("pk", flat=True))
    cancelled = run.calls.filter(state=Call.State.CANCELLED, fence__gt=0)
    again |= set(cancelled.values_list("pk", flat=True))
    return problems + [
        f"call {pk} has a {name} but has not ended" for pk in sorted({*remainder} - again)
    ]


def check_rows(
    run: Run, rows: QuerySet[Any], name: str, is_as_said: Callable[[Any, Call], bool]
) -> list[str]:
    """Check rows as `check_places` does, and check that every row matches its call's reply."""
    problems = check_places(run, dict(rows.values_list("call", "fence")), name)
    ended = rows.filter(call__state__in=ENDED).select_related("call__reply").order_by("pk")
    return problems + [
        f"{name} {row.pk} differs from its reply"
        for row in ended.iterator(500)
        if row.fence == row.call.fence and not is_as_said(row, row.call)
    ]
