"""Count sheets of a study, and the requests of a counting run."""

import json
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as lazy

from argsum.counting.methods.counts import Marks, letters, marks_from_json
from argsum.counting.models import CountSheet
from argsum.metrics.models import CountReply
from cqa_site.people.models import Rater, Study
from cqa_site.rounds.models import COUNTED
from cqa_site.runs.kinds import CallSubjects, RequestItem, Titles
from cqa_site.runs.models import Call

FETCH = 2_000
MOST_BESIDE = 12
PEOPLE = (Rater.Kind.PERSON, Rater.Kind.EXPERT)
# Drafts do not count yet.
SHOWN_STATES = (CountSheet.State.SUBMITTED, CountSheet.State.VOID)
RELATED = ("summary_set__cell__dataset", "rater", "round")
TYPES: dict[str, type] = {
    "sheet": str,
    "set": str,
    "dataset": str,
    "topic": str,
    "stance": int,
    "split": str,
    "system": str,
    "setting": str,
    "rater": str,
    "round": str,
    "source": str,
    "position": int,
    "replicate": int,
    "state": str,
    "is_counted": bool,
    "references": int,
    "summaries": int,
    "n_covered": float,
    "n_unique": float,
    "coverage": float,
    "redundancy": float,
    "covered_is_typed": bool,
    "covered_is_unsure": bool,
    "unique_is_typed": bool,
    "unique_is_unsure": bool,
    "marks": str,
    "comment": str,
    "submitted_at": datetime,
}


@dataclass(frozen=True)
class CountSheetQuery:
    """Filters for sheets; None means all."""

    counting_round: uuid.UUID | None = None
    rater: uuid.UUID | None = None
    dataset: uuid.UUID | None = None
    summary_set: uuid.UUID | None = None


def sheets_of_people(sheets: QuerySet[CountSheet]) -> QuerySet[CountSheet]:
    """Return people's sheets that count towards figures, including blind repeats."""
    return sheets.filter(COUNTED, rater__kind__in=PEOPLE)


def shown_sheets(study: Study, query: CountSheetQuery) -> QuerySet[CountSheet]:
    """Return the submitted and void sheets in order of creation."""
    wanted = {
        "round__public_id": query.counting_round,
        "rater__public_id": query.rater,
        "summary_set__cell__dataset__public_id": query.dataset,
        "summary_set__public_id": query.summary_set,
    }
    condition = Q(**{name: value for name, value in wanted.items() if value is not None})
    sheets = study.count_sheets.filter(condition, state__in=SHOWN_STATES)
    return sheets.select_related(*RELATED).order_by("pk")


def rater_name(rater: Rater) -> str:
    """Return a rater's name: the pseudonym of a user, or the name in the file if imported."""
    return rater.pseudonym if rater.user_id else str(rater)


def export_rows(sheets: QuerySet[CountSheet]) -> Iterator[tuple[Any, ...]]:
    """Yield cells in the order of `TYPES`, using one query and keeping few sheets in memory."""
    for sheet in sheets.iterator(FETCH):
        cell = sheet.summary_set.cell
        at = sheet.submitted_at
        yield (
            str(sheet.public_id),
            str(sheet.summary_set.public_id),
            cell.dataset.name,
            cell.topic,
            cell.stance,
            cell.split,
            sheet.summary_set.system,
            sheet.summary_set.setting,
            rater_name(sheet.rater),
            sheet.round.name if sheet.round else "",
            sheet.source,
            sheet.position,
            sheet.replicate,
            sheet.state,
            sheet.is_counted,
            sheet.references,
            sheet.summaries,
            sheet.covered,
            sheet.unique,
            sheet.coverage,
            sheet.redundancy,
            sheet.covered_is_typed,
            sheet.covered_is_unsure,
            sheet.unique_is_typed,
            sheet.unique_is_unsure,
            json.dumps(sheet.marks, sort_keys=True) if sheet.marks else "",
            sheet.comment,
            # To the minute, as in other exports, because a more precise time could identify the
            # person.
            at and at.replace(second=0, microsecond=0),
        )


def sheet_or_404(study: Study, count_id: uuid.UUID) -> CountSheet:
    """Return one submitted sheet of the study."""
    rows = study.count_sheets.filter(state__in=SHOWN_STATES).select_related(*RELATED)
    return get_object_or_404(rows, public_id=count_id)


@dataclass(frozen=True)
class CountColumn:
    """One sheet of the set, as a column of the table."""

    sheet: CountSheet
    name: str
    marks: Marks
    is_this: bool


def beside_sheet(sheet: CountSheet) -> dict[str, Any]:
    """Return the marks of this sheet and of the other sheets for its set, row by row."""
    others = (
        sheet.summary_set.count_sheets.filter(state__in=SHOWN_STATES)
        .exclude(pk=sheet.pk)
        .select_related("rater")
        .order_by("rater", "replicate", "pk")
    )
    sheets = [sheet, *others[:MOST_BESIDE]]
    columns = [
        CountColumn(
            count_sheet,
            rater_name(count_sheet.rater),
            marks_from_json(count_sheet.marks),
            count_sheet.pk == sheet.pk,
        )
        for count_sheet in sheets
    ]
    references = sheet.summary_set.cell.key_points.values_list("text", flat=True)
    summaries = sheet.summary_set.summaries.values_list("text", flat=True)
    return {
        "columns": columns,
        "references": [
            (place + 1, text, [_reference_mark(column.marks, place) for column in columns])
            for place, text in enumerate(references)
        ],
        "summaries": [
            (place + 1, text, [_summary_mark(column.marks, place) for column in columns])
            for place, text in enumerate(summaries)
        ],
    }


def _reference_mark(marks: Marks, place: int) -> tuple[str, str]:
    """Return the level, and the numbers of the summaries that cover the reference."""
    return marks.levels.get(place, ""), ", ".join(
        str(summary + 1) for summary in marks.by.get(place, ())
    )


def _summary_mark(marks: Marks, place: int) -> tuple[str, bool]:
    """Return the statement's letter ("0" if it says nothing) and whether it is partly repeated."""
    if place in marks.empty:
        return "0", False
    names = letters(len(marks.groups))
    letter = next((names[at] for at, group in enumerate(marks.groups) if place in group), "")
    return letter, place in marks.partly


def _items(study: Study, calls: Sequence[Call]) -> dict[int, list[RequestItem | None]]:
    keys = {call.pk: call.subject_ids[0] for call in calls}
    rows = study.summary_sets.select_related("cell").only("system", "setting", "cell")
    sets = rows.in_bulk(set(keys.values()))
    replies = CountReply.objects.filter(call__in=list(keys))
    call_replies = {row.call_id: row for row in replies}
    return {pk: [_item(sets.get(key), call_replies.get(pk))] for pk, key in keys.items()}


def _item(summary_set: Any, row: CountReply | None) -> RequestItem | None:
    if summary_set is None:
        return None
    context = (
        f"{summary_set.system} · {summary_set.setting}"
        if summary_set.setting
        else summary_set.system
    )
    if row is None:
        return RequestItem(str(summary_set.cell), context)
    value = "" if row.count is None else f"{row.count:g}"
    return RequestItem(str(summary_set.cell), context, value, "", row.reason)


COUNTING = CallSubjects(Titles(lazy("Cell and set"), lazy("Count"), lazy("Note")), _items)
