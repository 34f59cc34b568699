"""The arguments that requests for key points show."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from argsum.datasets.models import Cell, CellArgument
from argsum.keypoints.models import SummarySet
from argsum.systems.methods.extractive import by_quality
from argsum.systems.methods.mcargsum import members
from argsum.writing.reports import Asked
from cqa_site.runs.kinds import Question
from cqa_site.runs.models import Run

from .prompts import COUNTS, LOCAL, write_request


class Shown(NamedTuple):
    """An argument as a request shows it."""

    text: str
    quality: float | None


Own = Mapping[int, tuple[Shown, str]]


def questions_of(run: Run, asked: Sequence[Asked]) -> list[Question]:
    """The requests of a writing run; three queries."""
    target = run.spec["target"]
    cells = Cell.objects.filter(dataset__study=run.study).in_bulk({each.cell for each in asked})
    arguments = _arguments(cells)
    sets = SummarySet.objects.filter(study=run.study).only("arguments", "clusters")
    found = sets.in_bulk({each.summary_set for each in asked})
    requests = []
    for each in asked:
        own = arguments[each.cell]
        if each.summary_set:
            groups = _clusters(each, found[each.summary_set], own)
        else:
            groups = _whole(each, own, run.prompt.kind)
        best = {group: _best(shown, target["most_arguments"]) for group, shown in groups.items()}
        requests.append(write_request(run.prompt, target, cells[each.cell], best))
    return requests


def _arguments(cells: Mapping[int, Cell]) -> dict[int, dict[int, tuple[Shown, str]]]:
    """Cell → key of an argument → what is shown of it, and why it was left out."""
    found: dict[int, dict[int, tuple[Shown, str]]] = {pk: {} for pk in cells}
    rows = CellArgument.objects.filter(cell__in=cells).order_by("cell", "position")
    for cell, pk, text, quality, left_out in rows.values_list(
        "cell", "pk", "text", "quality", "left_out"
    ):
        found[cell][pk] = Shown(text, quality), left_out
    return found


def _clusters(asked: Asked, made: SummarySet, own: Own) -> dict[int, list[Shown]]:
    """Cluster → its arguments."""
    rows = members(made.clusters or [])
    shown = [own[pk][0] for pk in made.arguments]
    return {cluster: [shown[row] for row in rows[cluster]] for cluster in asked.clusters}


def _whole(asked: Asked, own: Own, prompt: str) -> dict[int, list[Shown]]:
    """All arguments as group 0; dealt into heaps where a prompt about clusters is tried out."""
    kept = [shown for shown, left_out in own.values() if asked.is_unfiltered or not left_out]
    if prompt in COUNTS:
        return {0: kept}
    heaps = asked.clusters[:1] if prompt == LOCAL else asked.clusters
    return {heap: kept[heap :: len(asked.clusters)] for heap in heaps}


def _best(shown: Sequence[Shown], most: int) -> list[str]:
    order = by_quality(range(len(shown)), [one.quality for one in shown])
    return [shown[place].text for place in order[:most]]
