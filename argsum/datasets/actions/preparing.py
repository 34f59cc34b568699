"""Preprocessing of a stored dataset: which arguments take part, and how many each step leaves."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from django.db.models import Count, Q

from argsum.datasets.methods.halves import Half, half_of
from argsum.datasets.methods.preprocessing import (
    HALF,
    KEPT,
    ONE_SENTENCE,
    OTHER_HALF,
    PAPER_STEPS,
    UNIQUE,
    checked_steps,
    first_failed,
    funnel,
)
from argsum.datasets.methods.raw_cells import group_name
from argsum.datasets.models import Cell, CellArgument, Dataset, KeyPointMatch

PIECE = 2_000


def usual_steps(*, has_key_points: bool) -> tuple[str, ...]:
    """The steps of the paper, without the one that needs reference key points where none are."""
    return PAPER_STEPS if has_key_points else (UNIQUE, ONE_SENTENCE)


def stored_half(dataset: Dataset) -> Half | None:
    """The half that its recipe draws, if it does."""
    found = dataset.recipe.get("half")
    return Half(found["part"], found["seed"]) if found else None


def prepare_dataset(
    dataset: Dataset,
    *,
    steps: Iterable[str],
    repeats: Mapping[str, int] | None = None,
    again: Collection[int] | None = None,
    half: Half | None = None,
) -> None:
    """Give every argument the first step it failed, and keep the counts per split.

    ``repeats`` are arguments of each split that were read a second time, ``again`` primary keys of
    those with a match in one more row, ``half`` is what the step of that name draws; what is
    stored of each stays where it is None. Raises ValueError for an unknown step.
    """
    chosen = checked_steps(steps)
    known = dict(dataset.recipe.get("repeats") or {}) if repeats is None else dict(repeats)
    again = dataset.recipe.get("again") or () if again is None else sorted(again)
    half = (half or stored_half(dataset) or Half("test")) if HALF in chosen else None
    reasons = _mark(dataset, chosen, again=frozenset(again), half=half)
    others = {key: said for key, said in dataset.recipe.items() if key not in ("again", "half")}
    dataset.recipe = others | {
        **({"again": list(again)} if again else {}),
        **({"half": half._asdict()} if half else {}),
        "steps": list(chosen),
        "repeats": known,
        "counts": {
            split: funnel(reasons[split], steps=chosen, repeats=known.get(split, 0))
            for split in Cell.Split.values
            if split in reasons
        },
    }
    dataset.save(update_fields=["recipe"])


class _Marked(NamedTuple):
    pk: int
    cell: int
    split: str
    text: str
    stored: str
    reason: str


def _mark(
    dataset: Dataset, steps: tuple[str, ...], *, again: Collection[int], half: Half | None
) -> dict[str, Counter[str]]:
    """Store why each argument is left out, where that changed; counts by split and reason."""
    marked = _first_failed(dataset, steps, again)
    changed: dict[str, list[int]] = defaultdict(list)
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for each in marked if half is None else _halved(dataset, list(marked), half):
        reasons[each.split][each.reason] += 1
        if each.reason != each.stored:
            changed[each.reason].append(each.pk)
    for reason, keys in changed.items():
        for start in range(0, len(keys), PIECE):
            piece = keys[start : start + PIECE]
            CellArgument.objects.filter(pk__in=piece).update(left_out=reason)
    return reasons


def _first_failed(
    dataset: Dataset, steps: tuple[str, ...], again: Collection[int]
) -> Iterator[_Marked]:
    with_key_points = set(
        Cell.objects.filter(dataset=dataset, key_points__isnull=False).values_list("pk", flat=True)
    )
    rows = (
        CellArgument.objects.filter(cell__dataset=dataset)
        .annotate(matched=Count("matches", filter=Q(matches__is_match=True)))
        .order_by()
        .values_list("pk", "cell_id", "cell__split", "text", "left_out", "matched")
    )
    for pk, cell, split, text, stored, matched in rows.iterator(PIECE):
        key_points = matched if cell in with_key_points else None
        reason = first_failed(text, key_points, steps, is_again=pk in again)
        yield _Marked(pk, cell, split, text, stored, reason)


def _halved(dataset: Dataset, marked: list[_Marked], half: Half) -> Iterator[_Marked]:
    """With the reason of those that are kept and belong to the other half."""
    cells = {cell.pk: cell for cell in dataset.cells.all()}
    points: dict[int, list[str]] = defaultdict(list)
    matches = KeyPointMatch.objects.filter(argument__cell__dataset=dataset, is_match=True)
    for argument, text in matches.values_list("argument", "key_point__text"):
        points[argument].append(text)

    def group(one: _Marked) -> str:
        cell = cells[one.cell]
        return group_name(cell.topic, cell.stance, points[one.pk])

    kept = [each for each in marked if each.reason == KEPT]
    drawn = half_of(((group(each), each.text) for each in kept), half)
    others = {each.pk for place, each in enumerate(kept) if place not in drawn}
    for each in marked:
        yield each._replace(reason=OTHER_HALF) if each.pk in others else each
