"""Export of score sheets as rows that can be imported into this or another study.

Another study matches answers by their subject and text, or creates them.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from annotation.answers.models import ALL, under
from benchmark.rubrics.methods.rubric import Rubric
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.models import ScoreSheet
from cqa_site.people.models import Rater
from .sheets import counted_sheets

FETCH = 2_000
_BEFORE: dict[str, type] = {
    "sheet": str,
    "answer": str,
    "object1": str,
    "object2": str,
    "aspect": str,
    "system": str,
    "scenario": int,
    "condition": str,
    "condition_name": str,
    "is_plain": bool,
    "edited_from": str,
    "choice": int,
    "source": str,
    "position": int,
    "rater": str,
    "rater_kind": str,
    "rater_name": str,
    "replicate": int,
    "rubric": str,
    "rubric_sha256": str,
    "origin": str,
    "state": str,
    "reason": str,
    "is_counted": bool,
}
_AFTER: dict[str, type] = {
    "total": float,
    "off_scale": str,
    "given": str,
    "is_consolidated": bool,
    "unable": str,
    "notes": str,
    "comment": str,
    "submitted_at": datetime,
}
_FIELDS = (
    "pk",
    "public_id",
    "answer__public_id",
    "answer__question__comparison__object1",
    "answer__question__comparison__object2",
    "answer__question__aspect",
    "answer__system__name",
    "answer__scenario",
    "answer__condition",
    "answer__condition__public_id",
    "answer__condition__is_plain",
    "answer__revision__sheet__answer__public_id",
    "answer__choice",
    "answer__source",
    "answer__position",
    "rater__public_id",
    "rater__kind",
    "rater__name",
    "replicate",
    "round_id",
    "run_id",
    "state",
    "reason",
    "points",
    "total",
    "off_scale",
    "given",
    "is_consolidated",
    "unable",
    "notes",
    "comment",
    "submitted_at",
)
Row = dict[str, Any]
# Imported people may have their real names, so only machines keep their names.
_NAMED = (Rater.Kind.MODEL, Rater.Kind.CLASSIFIER)


def export_types(rubric: Rubric, *, with_texts: bool) -> dict[str, type]:
    """Return the columns in order with their types, with one column for each criterion."""
    points = dict.fromkeys(rubric.keys, float)
    return _BEFORE | points | _AFTER | ({"text": str} if with_texts else {})


def exported_sheets(version: RubricVersion, *, only_counted: bool) -> QuerySet[ScoreSheet]:
    """Return the sheets under a rubric version in creation order, without drafts."""
    if only_counted:
        return counted_sheets(version)
    return ScoreSheet.objects.filter(study=version.study_id, rubric=version).exclude(
        state=ScoreSheet.State.OPEN
    )


def export_rows(
    version: RubricVersion,
    *,
    only_counted: bool,
    with_texts: bool,
    conditions: Iterable[str] = (ALL,),
) -> Iterator[tuple[Any, ...]]:
    """Yield cells in the order of `export_types`, with three queries and little memory.

    See `annotation.answers.models.under` for ``conditions``.
    """
    counted = set(counted_sheets(version).values_list("pk", flat=True))
    every = exported_sheets(version, only_counted=only_counted)
    sheets = under(every, conditions, "answer__")
    under_names = {condition.pk: condition.name for condition in version.study.conditions.all()}
    fields = (*_FIELDS, "answer__text") if with_texts else _FIELDS
    keys, name = version.rubric.keys, str(version)
    for row in sheets.order_by("pk").values_list(*fields).iterator(FETCH):
        record = dict(zip(_FIELDS, row, strict=False))
        points = record["points"]
        yield (
            *_before(record, under_names, name, version.sha256, record["pk"] in counted),
            *(points.get(key) for key in keys),
            *_after(record),
            *row[len(_FIELDS) :],
        )


def _before(
    row: Row, under_names: dict[int, str], version: str, sha256: str, is_counted: bool
) -> tuple[Any, ...]:
    origin = "round" if row["round_id"] else "run" if row["run_id"] else "file"
    return (
        str(row["public_id"]),
        str(row["answer__public_id"]),
        row["answer__question__comparison__object1"],
        row["answer__question__comparison__object2"],
        row["answer__question__aspect"],
        row["answer__system__name"],
        row["answer__scenario"],
        str(row["answer__condition__public_id"]),
        under_names[row["answer__condition"]],
        row["answer__condition__is_plain"],
        str(row["answer__revision__sheet__answer__public_id"] or ""),
        row["answer__choice"],
        row["answer__source"],
        row["answer__position"],
        str(row["rater__public_id"]),
        row["rater__kind"],
        row["rater__name"] if row["rater__kind"] in _NAMED else "",
        row["replicate"],
        version,
        sha256,
        origin,
        row["state"],
        row["reason"],
        is_counted,
    )


def _after(row: Row) -> tuple[Any, ...]:
    at = row["submitted_at"]
    return (
        row["total"],
        " ".join(row["off_scale"]),
        _json(row["given"]),
        row["is_consolidated"],
        _json(row["unable"]),
        _json(row["notes"]),
        row["comment"],
        # To the minute, as everywhere, because a more precise time could identify the person.
        at and at.replace(second=0, microsecond=0),
    )


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, sort_keys=True) if content else ""
