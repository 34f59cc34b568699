"""What the scoring form may know: allow-lists without system, scenario, file and other people."""

import json
from dataclasses import dataclass
from functools import lru_cache

from django.template.loader import render_to_string
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from annotation.answers.methods.cited_text import Piece, split_citations
from annotation.answers.reports.beside import ArgumentBeside, arguments_beside, listed_arguments
from benchmark.rubrics.methods.rubric import HINTS, Criterion, Rubric
from benchmark.scoring.actions.kind import ScoreContent
from benchmark.scoring.forms.scoring import LONGEST_NOTE
from benchmark.scoring.methods.hints import Hint, score_hints
from benchmark.scoring.models.sheets import ScoreSheet


@dataclass(frozen=True)
class FormCriterion:
    """One criterion with what was given for it."""

    criterion: Criterion
    points: int | None
    unable: str
    note: str
    hint: Hint | None
    is_open: bool

    @property
    def html(self) -> str:
        """The field as it is on every page on which nothing is given for it; empty elsewhere."""
        is_touched = self.is_set or self.note or self.hint
        return "" if is_touched else _untouched(self.criterion, self.is_open, get_language())

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


@lru_cache(maxsize=1_000)
def _untouched(criterion: Criterion, is_open: bool, language: str | None) -> str:
    # Fifteen of them are most of a page, and on most pages nothing is given yet.
    each = FormCriterion(criterion, None, "", "", None, is_open)
    words = {"reasons": ScoreSheet.Unable.choices, "longest": LONGEST_NOTE}
    shown = words | {"each": each, "is_open": is_open}
    return render_to_string("benchmark/scoring/_score_criterion.html", shown)


def form_groups(
    rubric: Rubric, content: ScoreContent, hints: dict[str, Hint], *, is_open: bool
) -> list[FormGroup]:
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
                    is_open,
                )
                for criterion in rubric.of_group(group.key)
            ],
        )
        for group in rubric.groups
    ]


def hints_of(sheet: ScoreSheet) -> dict[str, Hint]:
    """What code counts in the answer, by name; nothing where the round shows no hints."""
    if sheet.round is None or not sheet.round.shows_hints:
        return {}
    return {hint.name: hint for hint in score_hints(sheet.answer.text, HINTS)}


def answer_shown(sheet: ScoreSheet) -> tuple[list[Piece], list[ArgumentBeside]]:
    """The text in pieces and the arguments of its own list; none where the round shows none."""
    shows = sheet.round is not None and sheet.round.shows_arguments
    entries = listed_arguments(sheet.answer) if shows else []
    pieces = split_citations(sheet.answer.text, {entry.number for entry in entries})
    cited = {piece.number for piece in pieces if piece.is_known and piece.number is not None}
    return pieces, arguments_beside(sheet.answer, entries, cited)


def said(sheet: ScoreSheet, content: ScoreContent) -> dict[str, str]:
    """A content in words, criterion by criterion."""
    points = {
        f"{each.key} {each.name}": _shown(content, each.key)
        for each in sheet.rubric.rubric.criteria
    }
    return points | {_("Comment"): content.comment}


def places_json(hint: Hint) -> str:
    """Passages of a hint for the script that marks them."""
    return json.dumps(hint.places)


def _shown(content: ScoreContent, key: str) -> str:
    if key in content.points:
        said = str(content.points[key])
    else:
        said = str(ScoreSheet.Unable(content.unable[key]).label) if key in content.unable else "–"
    note = content.notes.get(key, "")
    return f"{said} · {note}" if note else said
