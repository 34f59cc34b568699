"""Preprocessing of a stored dataset: which arguments take part, and how many each step leaves."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from django.db.models import Count, Q

from argsum.datasets.methods.preprocessing import (
    ONE_SENTENCE,
    PAPER_STEPS,
    UNIQUE,
    checked_steps,
    first_failed,
    funnel,
)
from argsum.datasets.models import Cell, CellArgument, Dataset

PIECE = 2_000


def usual_steps(*, has_key_points: bool) -> tuple[str, ...]:
    """The steps of the paper, without the one that needs reference key points where none are."""
    return PAPER_STEPS if has_key_points else (UNIQUE, ONE_SENTENCE)


def prepare_dataset(
    dataset: Dataset, *, steps: Iterable[str], repeats: Mapping[str, int] | None = None
) -> None:
    """Give every argument the first step it failed, and keep the counts per split.

    ``repeats`` are arguments of each split that were read a second time; the stored ones stay
    where it is None. Raises ValueError for an unknown step.
    """
    chosen = checked_steps(steps)
    known = dict(dataset.recipe.get("repeats") or {}) if repeats is None else dict(repeats)
    reasons = _mark(dataset, chosen)
    dataset.recipe = dataset.recipe | {
        "steps": list(chosen),
        "repeats": known,
        "counts": {
            split: funnel(reasons[split], steps=chosen, repeats=known.get(split, 0))
            for split in Cell.Split.values
            if split in reasons
        },
    }
    dataset.save(update_fields=["recipe"])


def _mark(dataset: Dataset, steps: tuple[str, ...]) -> dict[str, Counter[str]]:
    """Store why each argument is left out, where that changed; counts by split and reason."""
    with_key_points = set(
        Cell.objects.filter(dataset=dataset, key_points__isnull=False).values_list("pk", flat=True)
    )
    rows = (
        CellArgument.objects.filter(cell__dataset=dataset)
        .annotate(matched=Count("matches", filter=Q(matches__is_match=True)))
        .order_by()
        .values_list("pk", "cell_id", "cell__split", "text", "left_out", "matched")
    )
    changed: dict[str, list[int]] = defaultdict(list)
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for pk, cell, split, text, stored, matched in rows.iterator(PIECE):
        reason = first_failed(text, matched if cell in with_key_points else None, steps)
        reasons[split][reason] += 1
        if reason != stored:
            changed[reason].append(pk)
    for reason, keys in changed.items():
        for start in range(0, len(keys), PIECE):
            piece = keys[start : start + PIECE]
            CellArgument.objects.filter(pk__in=piece).update(left_out=reason)
    return reasons
