"""Budgets: reserved before a request leaves, settled when it came back or was lost."""

from collections.abc import Sequence
from decimal import Decimal
from typing import TypedDict

from django.db.models import F, Q

from cqa_site.runs.models import Budget, Run


def budgets_of(run: Run) -> list[Budget]:
    """Locked budgets a run draws on, in the order in which everybody locks them."""
    return list(
        Budget.objects.select_for_update()
        .filter(
            Q(pk=run.budget_id)
            | Q(pk__in=Budget.objects.filter(pk=run.budget_id).values("parent"))
            | Q(study=run.study_id, is_study_wide=True)
        )
        .order_by("pk")
    )


def affordable(budgets: Sequence[Budget], estimates: Sequence[int]) -> int:
    """How many of the estimated calls, taken in order, fit into every budget."""
    left = min(
        (
            b.cap_micro - b.spent_micro - b.reserved_micro
            for b in budgets
            if b.cap_micro is not None
        ),
        default=None,
    )
    if left is None:
        return len(estimates)
    for count, estimate in enumerate(estimates):
        left -= estimate
        if left < 0:
            return count
    return len(estimates)


def reserve(budgets: Sequence[Budget], amount: int) -> bool:
    """Set money aside in every budget; False, with nothing to keep, if one has too little."""
    for budget in budgets:
        fits = Q(cap_micro__isnull=True) | Q(
            cap_micro__gte=F("spent_micro") + F("reserved_micro") + amount
        )
        rows = Budget.objects.filter(fits, pk=budget.pk)
        if rows.update(reserved_micro=F("reserved_micro") + amount) != 1:
            return False
    return True


def settle(
    run: Run, *, released: int, spent: int, tokens_in: int = 0, tokens_out: int = 0
) -> None:
    """Turn reservations into what was really spent."""
    if not any((released, spent, tokens_in, tokens_out)):
        return
    for budget in budgets_of(run):
        Budget.objects.filter(pk=budget.pk).update(
            reserved_micro=F("reserved_micro") - released,
            spent_micro=F("spent_micro") + spent,
            tokens_in=F("tokens_in") + tokens_in,
            tokens_out=F("tokens_out") + tokens_out,
        )


class Prices(TypedDict):
    """Currency units per million tokens."""

    price_in: Decimal
    price_out: Decimal


def prices_of(run: Run) -> Prices:
    """Prices a run was planned with."""
    prices = run.spec["prices"]
    return {"price_in": Decimal(prices["in"]), "price_out": Decimal(prices["out"])}
