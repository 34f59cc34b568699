"""Scoring as a kind of work: points, reasons and notes by a rubric."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Avg, Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from benchmark.scoring.methods.drawing import draw_overlap
from benchmark.scoring.models.rounds import ScoringItem, ScoringRound, ScoringSlot
from benchmark.scoring.models.sheets import KeptScore, ScoreEvent, ScoreSheet
from cqa_site.people.models import Rater
from cqa_site.rounds.kind import Audit, Card, RoundNotReady, SheetNotValid, Words
from cqa_site.rounds.models import COUNTED
from cqa_site.rounds.policies import OneByOne


@dataclass(frozen=True)
class ScoreContent:
    """What stands on a form; keys are criteria, and none has both points and a reason."""

    points: dict[str, int] = field(default_factory=dict)
    unable: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    comment: str = ""


class Scoring(OneByOne):
    """One answer at a time, scored by the rubric of the round."""

    name = "score"
    audit = Audit(round="scoring_round", person="scorer")
    words = Words(
        rounds=lazy("Scoring rounds"),
        about=lazy(
            "People score answers by a rubric, blind to who wrote them: some answers go to "
            "several people, the others to one."
        ),
        things=lazy("Answers"),
        results=lazy("Agreement of scores"),
    )
    section = "score"
    results_page = "score_agreement"
    terms = ("rubric version", "score sheet", "blind repeat", "qualification")
    work_page = "score"
    sheet_page = "score_form"
    takes_crowd = True
    subject = "answer"
    needed = ("answer__question__comparison", "rubric")
    item_needed = (
        "round",
        "answer__question__comparison",
        "answer__system",
        "answer__condition",
        "answer__study",
    )
    Round = ScoringRound
    Item = ScoringItem
    Slot = ScoringSlot
    Sheet = ScoreSheet
    Event = ScoreEvent
    Kept = KeptScore
    Content = ScoreContent
    settled = ("points", "unable", "notes", "comment", "total")
    # Not one criterion could be judged.
    skipped = Q(points={})
    figures = {
        "unable": Count("pk", filter=COUNTED & Q(total__isnull=True)),
        "mean": Avg("total", filter=COUNTED),
    }

    def begin(self, round_: ScoringRound, item: ScoringItem, rater: Rater) -> dict[str, Any]:
        """The rubric, and its maximum, which the database guards."""
        return {"rubric": round_.rubric, "maximum": round_.rubric.rubric.maximum}

    def submitted(self, sheet: ScoreSheet) -> ScoreContent:
        """What was submitted last, empty before that."""
        return ScoreContent(sheet.points, sheet.unable, sheet.notes, sheet.comment)

    def problem(self, sheet: ScoreSheet, content: ScoreContent) -> SheetNotValid | None:
        """Every criterion needs points, or a reason why it cannot be judged."""
        missing = [
            key
            for key in sheet.rubric.rubric.keys
            if key not in content.points and key not in content.unable
        ]
        if missing:
            text = _("Without points: %s. Set them, or say that you cannot judge.")
            return SheetNotValid(text % ", ".join(missing), missing)
        unexplained = [
            key
            for key, code in content.unable.items()
            if code == ScoreSheet.Unable.OTHER and not content.notes.get(key)
        ]
        if unexplained:
            text = _("Write a note that says why you cannot judge: %s.")
            return SheetNotValid(text % ", ".join(unexplained), unexplained)
        return None

    def settle(self, sheet: ScoreSheet, content: ScoreContent) -> None:
        """Points and reasons as given; the total is ours."""
        sheet.points, sheet.unable = content.points, content.unable
        sheet.notes, sheet.comment = content.notes, content.comment
        sheet.total = sheet.rubric.rubric.total(content.points)

    def mark(self, sheet: ScoreSheet, key: Mapping[str, Any]) -> tuple[int, int]:
        """Criteria whose points equal the key; one without points does not."""
        met = sum(sheet.points.get(name) == points for name, points in key.items())
        return met, len(key)

    def slots(self, round_: ScoringRound, items: Iterable[int]) -> dict[int, int]:
        """One sheet each; a share of the answers goes to several people."""
        keys = list(items)
        common = draw_overlap(keys, round_.overlap_share, seed=round_.seed)
        return {pk: round_.overlap_raters if pk in common else 1 for pk in keys}

    def check_opening(self, round_: ScoringRound) -> None:
        """Every key must fit the rubric, which may have been changed since."""
        keys = set(round_.rubric.rubric.keys)
        for item in round_.items.filter(key_points__isnull=False):
            if set(item.key_points or ()) != keys:
                raise RoundNotReady(
                    _("The key of example %d does not fit the rubric; set it again.")
                    % item.position
                )

    def card(self, done: int) -> Card:
        """Words for a person's first page."""
        return Card(
            text=_(
                "Score answers by a rubric, one at a time. Every point is saved as you set it."
            ),
            button=_("Go on scoring") if done else _("Start scoring"),
            badge=ngettext("%d scored by you", "%d scored by you", done) % done if done else "",
        )


SCORING = Scoring()
