"""Invariants of the ledger, checked in the database; each finding is one sentence."""

from collections.abc import Iterator

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from .kinds import KINDS, kind_of
from .models import Attempt, Budget, Call, Run

OPEN = Attempt.Outcome.OPEN


def find_violations() -> Iterator[str]:
    """Yield every broken invariant; nothing when all is well."""
    yield from _attempts_unlike_leases()
    yield from _calls_without_their_attempt()
    yield from _calls_of_ended_runs()
    yield from _wrong_counts()
    yield from _money()
    for run in Run.objects.exclude(state=Run.State.DRAFT).select_related("prompt", "study"):
        if run.kind in KINDS:
            yield from (f"run {run.pk}: {problem}" for problem in kind_of(run).check(run))


def _attempts_unlike_leases() -> Iterator[str]:
    """One open attempt for each leased call, under its fence; none otherwise."""
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
    """A call's reply is that of the attempt with its fence, and there is one such attempt."""
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
        yield f"call {call.pk} has {call.n} attempts that brought its reply"


def _calls_of_ended_runs() -> Iterator[str]:
    ready = Call.objects.filter(state=Call.State.READY, run__state=Run.State.CANCELLED)
    for pk in ready.values_list("pk", flat=True):
        yield f"call {pk} waits, but its run is cancelled"
    going = Call.objects.filter(state__in=Call.OPEN, run__state=Run.State.DONE)
    for pk in going.values_list("pk", flat=True):
        yield f"call {pk} is not over, but its run is done"


def _wrong_counts() -> Iterator[str]:
    runs = Run.objects.annotate(n=Count("calls")).exclude(n=F("planned"))
    for run in runs:
        yield f"run {run.pk} planned {run.planned} calls and has {run.n}"


def _money() -> Iterator[str]:
    """What budgets say is what attempts add up to; nothing passed a cap by more than one batch."""
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
        yield f"budget {pk} passed its cap"


def _sum(field: str, **filters: str) -> Coalesce:
    own = Q(call__run__budget=OuterRef("pk")) | Q(call__run__budget__parent=OuterRef("pk"))
    rows: QuerySet[Attempt] = Attempt.objects.filter(own, **filters)
    # All runs on one budget are of one study, so this is one sum.
    total = rows.order_by().values("call__run__study").annotate(total=Sum(field))
    return Coalesce(Subquery(total.values("total")[:1]), 0)
