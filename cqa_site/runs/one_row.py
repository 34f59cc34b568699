"""Kinds whose calls have one row each: whether the rows agree with the ledger and the replies."""

from collections.abc import Callable, Mapping
from typing import Any

from django.db.models import QuerySet

from .models import Call, Run

ENDED = (Call.State.DONE, Call.State.UNSCORED)


def check_places(run: Run, fences: Mapping[int, int], name: str) -> list[str]:
    """Every ended call has its one row, under its own fence.

    ``fences`` is call → fence of all rows, ``name`` what a row is called. A call that is open
    again, or was cancelled then, keeps what it had before.
    """
    kept = dict(fences)
    ended = run.calls.filter(state__in=ENDED).order_by("pk").values_list("pk", "fence")
    problems = [
        f"call {pk} has not the one {name} of its last attempt"
        for pk, fence in ended
        if kept.pop(pk, None) != fence
    ]
    again = set(run.calls.filter(state__in=Call.OPEN).values_list("pk", flat=True))
    cancelled = run.calls.filter(state=Call.State.CANCELLED, fence__gt=0)
    again |= set(cancelled.values_list("pk", flat=True))
    return problems + [f"call {pk} has a {name} and is not over" for pk in sorted({*kept} - again)]


def check_rows(
    run: Run, rows: QuerySet[Any], name: str, is_as_said: Callable[[Any, Call], bool]
) -> list[str]:
    """The same, and every row is as its call's reply says."""
    problems = check_places(run, dict(rows.values_list("call", "fence")), name)
    ended = rows.filter(call__state__in=ENDED).select_related("call__reply").order_by("pk")
    return problems + [
        f"{name} {row.pk} is not what its reply says"
        for row in ended.iterator(500)
        if row.fence == row.call.fence and not is_as_said(row, row.call)
    ]
