"""What the scoring form may know: allow-lists without system, scenario, file and other people."""

import json
from dataclasses import dataclass
from typing import Any

from benchmark.actions.scoring_sheets import Content, content_of
from benchmark.methods.rubric import Criterion, Rubric
from benchmark.methods.score_hints import HINTS, Hint, score_hints
from benchmark.models import KeptDraft, ScoreSheet


@dataclass(frozen=True)
class FormCriterion:
    """One criterion with what was given for it."""

    criterion: Criterion
    points: int | None
    unable: str
    note: str
    hint: Hint | None

    @property
    def is_set(self) -> bool:
        """Whether it has points, or a reason for none."""
        return self.points is not None or bool(self.unable)


@dataclass(frozen=True)
class FormGroup:
    """A group of criteria with its points so far."""

    key: str
    name: str
    maximum: int
    criteria: list[FormCriterion]

    @property
    def points(self) -> int:
        """Points so far."""
        return sum(each.points or 0 for each in self.criteria)


@dataclass(frozen=True)
class Difference:
    """One criterion whose points differ between two contents."""

    key: str
    name: str
    mine: str
    stored: str


def form_groups(rubric: Rubric, content: Content, hints: dict[str, Hint]) -> list[FormGroup]:
    """The rubric with what stands on the form."""
    return [
        FormGroup(
            group.key,
            group.name,
            group.maximum,
            [
                FormCriterion(
                    criterion,
                    content.points.get(criterion.key),
                    content.unable.get(criterion.key, ""),
                    content.notes.get(criterion.key, ""),
                    hints.get(criterion.counted_by or ""),
                )
                for criterion in rubric.of_group(group.key)
            ],
        )
        for group in rubric.groups
    ]


def hints_of(sheet: ScoreSheet) -> dict[str, Hint]:
    """What code counts in the answer, by name; nothing where the round shows no hints."""
    if not sheet.scoring_round.shows_hints:
        return {}
    return {hint.name: hint for hint in score_hints(sheet.answer.text, HINTS)}


def differences(rubric: Rubric, mine: Content, stored: Content) -> list[Difference]:
    """Where a kept draft differs from the stored one."""
    rows = [
        Difference(each.key, each.name, _shown(mine, each.key), _shown(stored, each.key))
        for each in rubric.criteria
    ]
    if mine.comment != stored.comment:
        rows.append(Difference("", "", mine.comment, stored.comment))
    return [row for row in rows if row.mine != row.stored]


def kept_rows(sheet: ScoreSheet) -> list[dict[str, Any]]:
    """Drafts that were kept aside, newest first, with what differs."""
    stored = content_of(sheet)
    return [
        {"kept": kept, "rows": differences(sheet.rubric.rubric, _content(kept), stored)}
        for kept in sheet.kept_drafts.all()
    ]


def page_data(sheet: ScoreSheet, client: str) -> dict[str, object]:
    """What the script starts from."""
    return {
        "user": str(sheet.rater.public_id),
        "sheet": str(sheet.public_id),
        "version": sheet.version,
        "client": client,
        "saved_at": sheet.saved_at.isoformat() if sheet.saved_at else None,
    }


def places_json(hint: Hint) -> str:
    """Passages of a hint for the script that marks them."""
    return json.dumps(hint.places)


def _content(kept: KeptDraft) -> Content:
    return Content(**kept.content)


def _shown(content: Content, key: str) -> str:
    if key in content.points:
        said = str(content.points[key])
    else:
        said = str(ScoreSheet.Unable(content.unable[key]).label) if key in content.unable else "–"
    note = content.notes.get(key, "")
    return f"{said} · {note}" if note else said
