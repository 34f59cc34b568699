"""Sheets as the database keeps them."""

from dataclasses import asdict
from typing import Any

from django.utils import timezone

from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.actions.kind import SCORING
from benchmark.scoring.models.sheets import ScoreEvent, ScoreSheet
from cqa_site.people.models import Study

from .entries import SheetEntry

State = ScoreSheet.State
REPLACED = (
    "state",
    "points",
    "unable",
    "notes",
    "comment",
    "reason",
    "total",
    "off_scale",
    "given",
)


def made_sheet(
    study: Study,
    rubric: RubricVersion,
    entry: SheetEntry,
    answer: Any,
    rater: Any,
) -> ScoreSheet:
    """A sheet to be written; it has a total if every criterion has points."""
    keys = rubric.rubric.keys
    points = {key: _plain(entry.points[key]) for key in keys if key in entry.points}
    return ScoreSheet(
        study=study,
        answer_id=answer,
        rubric=rubric,
        rater_id=rater,
        source=entry.source,
        position=entry.position,
        replicate=entry.replicate,
        state=State.UNSCORED if entry.reason else State.SUBMITTED,
        points=points,
        unable=dict(entry.unable),
        notes=dict(entry.notes),
        comment=entry.comment,
        off_scale=list(entry.off_scale),
        given=dict(entry.given),
        is_consolidated=entry.is_consolidated,
        total=_total(points, rubric, entry),
        maximum=rubric.rubric.maximum,
        reason=entry.reason,
        is_extra=entry.is_extra,
        submitted_at=entry.submitted_at,
    )


def _total(points: dict[str, float], rubric: RubricVersion, entry: SheetEntry) -> float | None:
    """The sum, slips of consolidated sheets included; none beyond what the rubric can give."""
    if entry.reason or len(points) < len(rubric.rubric.criteria):
        return None
    total = sum(points.values())
    return total if 0 <= total <= rubric.rubric.maximum else None


def _plain(points: float) -> float:
    return int(points) if float(points).is_integer() else float(points)


def replace_sheet(found: ScoreSheet, made: ScoreSheet) -> None:
    """Write another content over an imported sheet; what it said before stays as an event."""
    if not found.events.exists():
        _keep_event(found.pk, ScoreSheet.objects.get(pk=found.pk))
    changes = {name: getattr(made, name) for name in REPLACED}
    ScoreSheet.objects.filter(pk=found.pk).update(**changes)
    _keep_event(found.pk, made)


def _keep_event(sheet_id: int, said: ScoreSheet) -> None:
    ScoreEvent.objects.create(
        sheet_id=sheet_id,
        client_key=f"import:{timezone.now():%Y%m%d%H%M%S%f}",
        content=asdict(SCORING.submitted(said)),
    )
