"""One score sheet with the others of its answer, criterion by criterion."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.shortcuts import get_object_or_404

from benchmark.scoring.models.sheets import ScoreSheet
from cqa_site.people.models import Rater, Study

MOST_BESIDE = 12
# People stand under pseudonyms wherever their points are shown.
NAMED = (Rater.Kind.PERSON, Rater.Kind.EXPERT)


@dataclass(frozen=True)
class Column:
    """One sheet of the answer as a column of the table."""

    sheet: ScoreSheet
    name: str
    is_this: bool


def sheet_or_404(study: Study, sheet_id: uuid.UUID) -> ScoreSheet:
    """One sheet with its answer, question and where it comes from; drafts are nobody's yet."""
    rows = study.score_sheets.exclude(state=ScoreSheet.State.OPEN).select_related(
        "rater",
        "rubric",
        "round",
        "run",
        "call",
        "answer__system",
        "answer__question__comparison",
        "answer__question__study",
    )
    return get_object_or_404(rows, public_id=sheet_id)


def rater_name(sheet: ScoreSheet) -> str:
    """A person's pseudonym, or the name of a judge or of an imported table."""
    return sheet.rater.pseudonym if sheet.rater.kind in NAMED else str(sheet.rater)


def beside_sheet(sheet: ScoreSheet) -> dict[str, Any]:
    """The sheet first, then the others of its answer by the same rubric, as a table."""
    others = (
        sheet.answer.score_sheets.filter(rubric=sheet.rubric_id, study=sheet.study_id)
        .exclude(pk=sheet.pk)
        .exclude(state=ScoreSheet.State.OPEN)
        .select_related("rater")
        .order_by("rater__kind", "rater", "replicate", "pk")
    )
    shown = list(others[:MOST_BESIDE])
    columns = [Column(each, rater_name(each), each is sheet) for each in (sheet, *shown)]
    rubric = sheet.rubric.rubric
    return {
        "columns": columns,
        "left_out": others.count() - len(shown) if len(shown) == MOST_BESIDE else 0,
        "groups": [_group(rubric, group, columns) for group in rubric.groups],
    }


def _group(rubric: Any, group: Any, columns: list[Column]) -> dict[str, Any]:
    criteria = rubric.of_group(group.key)
    sums = [_sum([column.sheet.points.get(each.key) for each in criteria]) for column in columns]
    this = columns[0].sheet
    return {
        "group": group,
        "sums": sums,
        "rows": [
            {
                "criterion": each,
                "note": this.notes.get(each.key, ""),
                "cells": [_cell(column.sheet, each.key) for column in columns],
            }
            for each in criteria
        ],
    }


def _cell(sheet: ScoreSheet, key: str) -> dict[str, Any]:
    """Points, or why there are none: a reason is no 0."""
    reason = sheet.unable.get(key, "")
    words = dict(ScoreSheet.Unable.choices)
    return {
        "points": sheet.points.get(key),
        "reason": words.get(reason, reason),
        "is_off_scale": key in sheet.off_scale,
    }


def _sum(points: list[float | None]) -> float | None:
    known = [each for each in points if each is not None]
    return sum(known) if len(known) == len(points) else None
