"""Count sheets of a file as the database keeps them, and those that are there."""

from collections.abc import Iterable
from typing import Any

from argsum.counting.methods.released_rows import CountedSet
from argsum.counting.models import CountSheet
from argsum.keypoints.models import SummarySet
from cqa_site.people.models import Study

from .entries import CountEntry

REPLACED = (
    "covered",
    "covered_is_unsure",
    "covered_is_typed",
    "unique",
    "unique_is_unsure",
    "unique_is_typed",
    "coverage",
    "redundancy",
)


def made_sheet(study: Study, entry: CountEntry, summary_set: SummarySet, rater: Any) -> CountSheet:
    """A sheet to be written: its counts are typed, because the file has no marks."""
    counted = entry.counted
    covered, unique = _covered(counted), _unique(counted)
    return CountSheet(
        study=study,
        summary_set=summary_set,
        rater_id=rater,
        source=entry.source,
        position=entry.row,
        state=CountSheet.State.SUBMITTED,
        covered=covered,
        covered_is_typed=covered is not None,
        covered_is_unsure=covered is None,
        unique=unique,
        unique_is_typed=unique is not None,
        unique_is_unsure=unique is None,
        references=len(counted.references),
        summaries=len(counted.summaries),
        coverage=counted.coverage,
        redundancy=counted.redundancy,
    )


def values_of(sheet: CountSheet) -> tuple[float | None, float | None]:
    """What makes two sheets say the same."""
    return sheet.coverage, sheet.redundancy


def stored_sheets(
    study: Study, sets: Iterable[SummarySet], raters: Iterable[int]
) -> dict[tuple[int, int], CountSheet]:
    """Imported sheets by set and rater; one query."""
    rows = CountSheet.objects.filter(
        study=study, summary_set__in=list(sets), rater__in=list(raters)
    ).exclude(source="")
    return {(row.summary_set_id, row.rater_id): row for row in rows.order_by("-pk")}


class FreePlaces:
    """Places in one file that no sheet of a rater has yet; one query.

    A row keeps its number unless an earlier version of the file, or its import into another
    dataset, left a sheet of another set there: then it comes after all of them. Sheets are known
    by set and rater, so a second import of the same rows still adds nothing.
    """

    def __init__(self, study: Study, source: str, rater: int | None) -> None:
        rows = CountSheet.objects.filter(study=study, source=source, rater=rater)
        self._taken = set(rows.values_list("position", flat=True)) if rater else set()

    def take(self, row: int) -> int:
        """The row's own number if it is free, else the next one after the last."""
        place = row if row not in self._taken else max(self._taken) + 1
        self._taken.add(place)
        return place


def _covered(counted: CountedSet) -> float | None:
    if counted.coverage is None:
        return None
    return _half_step(counted.coverage * len(counted.references))


def _unique(counted: CountedSet) -> float | None:
    if counted.redundancy is None:
        return None
    return _half_step((1 - counted.redundancy) * len(counted.summaries))


def _half_step(count: float) -> float:
    """The half step that a share was made from; a share of something else stays as it is."""
    near = round(2 * count) / 2
    return near if abs(near - count) < 1e-6 else count
