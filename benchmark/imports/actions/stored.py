"""The score sheets that a study has on the answers and by the raters of one piece of a file."""

from collections.abc import Iterable

from django.db.models import QuerySet

from benchmark.scoring.models.sheets import ScoreSheet
from cqa_site.people.models import Study

from .entries import SheetEntry

State = ScoreSheet.State
_FIELDS = (
    "public_id",
    "answer_id",
    "rater_id",
    "rubric_id",
    "replicate",
    "state",
    "points",
    "unable",
    "reason",
    "source",
    "position",
)
# Entry, key of its answer, key of its rater; None while these are new and not written.
Found = tuple[SheetEntry, int | None, int | None]


def values_of(sheet: ScoreSheet) -> tuple:
    """As `SheetEntry.values`."""
    return sheet.reason, sheet.points, sheet.unable


class StoredSheets:
    """Sheets by their id, by file, position and rater, and by answer, rater and replicate."""

    def __init__(self, study: Study, entries: Iterable[Found]) -> None:
        known = [found for found in entries if found[2] is not None]
        sheets = ScoreSheet.objects.filter(study=study).only(*_FIELDS).order_by("pk")
        self._load_ids(sheets, {entry.sheet for entry, _answer, _rater in known} - {""})
        raters = {rater for _entry, _answer, rater in known}
        self._by_place: dict[tuple[str, int, int | None], ScoreSheet] = {
            (row.source, row.position, row.rater_id): row
            for row in sheets.filter(
                rater__in=raters,
                source__in={entry.source for entry, _answer, _rater in known},
                position__in={entry.position for entry, _answer, _rater in known},
            )
        }
        self._load_contents(sheets, known, raters)

    def _load_ids(self, sheets: QuerySet[ScoreSheet], ids: set[str]) -> None:
        found = sheets.filter(public_id__in=ids) if ids else ()
        self._by_id = {str(row.public_id): row for row in found}

    def _load_contents(
        self, sheets: QuerySet[ScoreSheet], known: list[Found], raters: set[int | None]
    ) -> None:
        counting = sheets.filter(
            rater__in=raters,
            answer__in={answer for _entry, answer, _rater in known} - {None},
            state__in=(State.SUBMITTED, State.UNSCORED),
            is_example=False,
        )
        self._by_content: dict[tuple, ScoreSheet] = {}
        for row in counting:
            key = (row.rubric_id, row.answer_id, row.rater_id, row.replicate)
            self._by_content.setdefault(key, row)

    def find(self, entry: SheetEntry, answer: int | None, rater: int | None) -> ScoreSheet | None:
        """The stored sheet that this one is, or collides with."""
        content = (entry.rubric.pk, answer, rater, entry.replicate)
        return (
            self._by_id.get(entry.sheet)
            or self._by_place.get((entry.source, entry.position, rater))
            or self._by_content.get(content)
        )
