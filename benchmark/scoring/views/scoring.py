"""The scoring form: question and answer on one side, the rubric on the other."""

from typing import Any

from benchmark.scoring.actions.kind import SCORING, ScoreContent
from benchmark.scoring.forms.scoring import LONGEST_NOTE, ScoreForm
from benchmark.scoring.models.rounds import ScoringItem
from benchmark.scoring.models.sheets import ScoreSheet
from cqa_site.rounds.pages.trial import trial_urls
from cqa_site.rounds.pages.work import Face, work_urls
from cqa_site.rounds.saving import is_changeable

from .payload import answer_shown, form_groups, hints_of, places_json, said


def _shown(sheet: ScoreSheet, content: ScoreContent) -> dict[str, Any]:
    """What the form may know: texts and rubric, without system, scenario, file and others."""
    hints = hints_of(sheet)
    is_open = is_changeable(sheet)
    groups = form_groups(sheet.rubric.rubric, content, hints, is_open=is_open)
    pieces, arguments = answer_shown(sheet)
    return {
        "question": sheet.answer.question,
        "column": {"pieces": pieces, "list_place": 1 if arguments else None},
        "arguments": arguments,
        "groups": groups,
        "points": sum(group.points for group in groups),
        "left": sum(not each.is_set for group in groups for each in group.criteria),
        "hints": [(hint, places_json(hint)) for hint in hints.values()],
        "reasons": ScoreSheet.Unable.choices,
        "comment": content.comment,
        "longest": LONGEST_NOTE,
    }


def _answers(sheet: ScoreSheet, item: ScoringItem) -> list[dict[str, Any]]:
    """What was given for an example beside its key."""
    return [
        {
            "criterion": criterion,
            "given": sheet.points.get(criterion.key),
            "key": (item.key_points or {}).get(criterion.key),
            "note": item.key_notes.get(criterion.key, ""),
        }
        for criterion in sheet.rubric.rubric.criteria
    ]


def _told(sheet: ScoreSheet) -> tuple[str, str]:
    points = "" if sheet.total is None else f"{sheet.total:g} / {sheet.maximum}"
    return str(sheet.answer.question), points


FACE = Face(
    kind=SCORING,
    form=ScoreForm,
    shown=_shown,
    said=said,
    told=_told,
    answers=_answers,
    templates="benchmark/scoring/score",
)
ROUNDS = "scoring/<uuid:round_id>/"
urlpatterns = trial_urls(FACE, ROUNDS) + work_urls(
    FACE,
    rounds=ROUNDS,
    sheets="scoring/sheets/<uuid:sheet_id>/",
    kept="kept/<uuid:kept_id>/",
)
