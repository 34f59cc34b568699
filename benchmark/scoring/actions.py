"""Scoring as a round kind, and the planning of scoring rounds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Avg, Count, Exists, Max, OuterRef, Q, QuerySet
from django.forms import Field, FloatField, IntegerField
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from annotation.answers.models import ALL, Answer, System, names_of, under, without_superseded
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.methods import draw_answers, draw_overlap
from benchmark.scoring.models import (
    ConflictingScore,
    ScoreEvent,
    ScoreSheet,
    ScoringItem,
    ScoringRound,
    ScoringSlot,
)
from benchmark.scoring.reports.sheets import proposed_key
from cqa_site.people.models import Rater, Study, User
from cqa_site.rounds.kind import Audit, Card, RoundNotReady, SheetNotValid, Words
from cqa_site.rounds.lifecycle import OneByOne, locked_round
from cqa_site.rounds.models import COUNTED, ORDINARY
from cqa_site.rounds.queue import CHUNK


@dataclass(frozen=True)
class ScoreContent:
    """Content of a form. Keys are criteria; each has points or a reason, but not both."""

    points: dict[str, int] = field(default_factory=dict)
    unable: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    comment: str = ""


class ScoringRoundKind(OneByOne):
    """One answer at a time, scored with the rubric of the round."""

    name = "score"
    audit = Audit(round="scoring_round", person="scorer")
    words = Words(
        rounds=lazy("Scoring rounds"),
        about=lazy(
            "People score answers with a rubric, without seeing who wrote them. Some "
            "answers are scored by several people, the others by one."
        ),
        things=lazy("Answers"),
        results=lazy("Score agreement"),
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
    Conflict = ConflictingScore
    Content = ScoreContent
    settled = ("points", "unable", "notes", "comment", "total")
    # Sheets on which no criterion could be judged.
    skipped = Q(points={})
    # In points, out of the total of all criteria (19 points in the CompQA rubric).
    tolerance = 3
    tolerance_text = lazy(
        "Maximum difference between totals over all criteria, in points. The default is 3."
    )
    value = ("points",)
    figures = {
        "unable": Count("pk", filter=COUNTED & Q(total__isnull=True)),
        "mean": Avg("total", filter=COUNTED),
    }

    def begin(self, round_: ScoringRound, item: ScoringItem, rater: Rater) -> dict[str, Any]:
        """Return the rubric and its maximum, which the database enforces."""
        return {"rubric": round_.rubric, "maximum": round_.rubric.rubric.maximum}

    def submitted(self, sheet: ScoreSheet) -> ScoreContent:
        return ScoreContent(sheet.points, sheet.unable, sheet.notes, sheet.comment)

    def problem(self, sheet: ScoreSheet, content: ScoreContent) -> SheetNotValid | None:
        """Return an error unless each criterion has points or a reason why it cannot be judged."""
        missing = [
            key
            for key in sheet.rubric.rubric.keys
            if key not in content.points and key not in content.unable
        ]
        if missing:
            text = _("Criteria without points: %s. Give points, or choose “I cannot judge this”.")
            return SheetNotValid(text % ", ".join(missing), missing)
        unexplained = [
            key
            for key, code in content.unable.items()
            if code == ScoreSheet.Unable.OTHER and not content.notes.get(key)
        ]
        if unexplained:
            text = _("Explain in a note why you cannot judge: %s.")
            return SheetNotValid(text % ", ".join(unexplained), unexplained)
        return None

    def settle(self, sheet: ScoreSheet, content: ScoreContent) -> None:
        """Copy points and reasons to the sheet and compute the total."""
        sheet.points, sheet.unable = content.points, content.unable
        sheet.notes, sheet.comment = content.notes, content.comment
        sheet.total = sheet.rubric.rubric.total(content.points)

    def mark(self, sheet: ScoreSheet, key: Mapping[str, Any]) -> tuple[int, int]:
        """Count the criteria whose points match the key; criteria without points do not match."""
        met = sum(sheet.points.get(name) == points for name, points in key.items())
        return met, len(key)

    def difference(self, sheet: ScoreSheet, known: Mapping[str, Any]) -> float:
        """Add up the differences over all criteria; a criterion without points adds at least 1."""
        return sum(
            abs(sheet.points[name] - points) if name in sheet.points else max(points, 1)
            for name, points in known.items()
        )

    def answer_fields(self, round_: ScoringRound) -> dict[str, Field]:
        """Return a field for the points of each criterion."""
        rubric = round_.rubric.rubric
        kind: Any = partial(FloatField, step_size=0.5) if rubric.allows_halves else IntegerField
        return {
            criterion.key: kind(
                label=f"{criterion.key} {criterion.name} (0–{criterion.maximum})",
                min_value=0,
                max_value=criterion.maximum,
            )
            for criterion in rubric.criteria
        }

    def answer_of(self, sheet: ScoreSheet) -> dict[str, Any]:
        """Return the points."""
        return sheet.points

    def fits(self, round_: ScoringRound) -> Q:
        """Select sheets and items with the same rubric."""
        return Q(round__rubric=round_.rubric_id)

    def alike(self, round_: ScoringRound) -> Q:
        """Select complete sheets with the same rubric."""
        return self.fits(round_) & Q(total__isnull=False)

    def proposed_answer(self, round_: ScoringRound, item: ScoringItem) -> dict[str, Any]:
        """Return the median of people's points."""
        return proposed_key(item.answer, round_.rubric)

    def slots(self, round_: ScoringRound, items: Iterable[int]) -> dict[int, int]:
        """Return the number of sheets per answer: one, or several for a share of the answers."""
        keys = list(items)
        common = draw_overlap(keys, round_.overlap_share, seed=round_.seed)
        return {pk: round_.overlap_raters if pk in common else 1 for pk in keys}

    def check_opening(self, round_: ScoringRound) -> None:
        """Check that every known answer still fits the rubric, which may have changed."""
        keys = set(round_.rubric.rubric.keys)
        for item in round_.items.exclude(ORDINARY):
            if set(item.key_points or item.known or ()) != keys:
                raise RoundNotReady(
                    _("The known answer to item %d does not match the rubric. Set it again.")
                    % item.position
                )

    def card(self, done: int) -> Card:
        """Return the texts for a person's start page."""
        return Card(
            text=_(
                "Score answers with a rubric, one at a time. Points are saved as you give them."
            ),
            button=_("Continue scoring") if done else _("Start scoring"),
            badge=ngettext("%d scored by you", "%d scored by you", done) % done if done else "",
        )


SCORING = ScoringRoundKind()

# Each rater's order includes all remaining answers, so more would slow down serving.
MOST_ANSWERS = 10_000
WITH, WITHOUT = "with", "without"


@dataclass(frozen=True, kw_only=True)
class ScoringPlan:
    """All settings that decide which answers are scored, and how."""

    name: str
    rubric: RubricVersion
    seed: int
    instructions: str = ""
    systems: tuple[System, ...] = ()
    scenarios: tuple[int, ...] = ()
    # Public ids or `ALL`; empty for plain conditions only.
    conditions: tuple[str, ...] = ()
    aspect: str = ""
    choice: int | None = None
    leave_out_used: bool = False
    # None means every matching answer.
    size: int | None = None
    is_balanced: bool = True
    overlap_share: float = 0.2
    overlap_raters: int = 2
    repeat_share: float = 0.0
    shows_hints: bool = True
    shows_arguments: bool = True
    pass_mark: float = 0.7
    lease_minutes: int = 120
    skip_share: float | None = 0.2

    def recipe(self, total: int, elsewhere: int, names: list[str]) -> dict[str, Any]:
        """Return the recipe stored in the round: public ids and numbers.

        ``elsewhere`` is the number of answers that match except for their condition; ``names`` are
        the names of the chosen conditions.
        """
        return {
            "systems": [str(system.public_id) for system in self.systems],
            "system_names": [system.name for system in self.systems],
            "scenarios": list(self.scenarios),
            "conditions": list(self.conditions),
            "condition_names": names,
            "other_conditions": elsewhere,
            "aspect": self.aspect,
            "choice": self.choice,
            "leave_out_used": self.leave_out_used,
            "size": self.size,
            "is_balanced": self.is_balanced,
            "found": total,
        }


SETTINGS = (
    "name", "rubric", "seed", "instructions", "overlap_share", "overlap_raters", "repeat_share",
    "shows_hints", "shows_arguments", "pass_mark", "lease_minutes", "skip_share",
)  # fmt: skip


@transaction.atomic
def plan_round(
    *, study: Study, plan: ScoringPlan, actor: User, round_: ScoringRound | None = None
) -> ScoringRound:
    """Create a draft round with its answers, or redraw them but keep examples and control items.

    Raise RoundNotReady if no answers match, or if the round would have too many.
    """
    planned = locked_round(round_, ScoringRound.State.DRAFT) if round_ else None
    planned = planned or ScoringRound(study=study, created_by=actor)
    answers = matching_answers(study=study, plan=plan, round_=round_)
    rows = answers.order_by("pk").values_list("pk", "system", "condition")
    strata = {pk: (system, cell) if plan.is_balanced else 0 for pk, system, cell in rows}
    drawn = draw_answers(strata, plan.size, seed=plan.seed)
    if not drawn:
        raise RoundNotReady(_("No answers match."))
    if len(drawn) > MOST_ANSWERS:
        raise RoundNotReady(
            _("%(found)d answers match, but a round can have at most %(most)d. Draw a sample.")
            % {"found": len(drawn), "most": MOST_ANSWERS}
        )
    for name in SETTINGS:
        setattr(planned, name, getattr(plan, name))
    mixed = replace(plan, conditions=(ALL,))
    matching = matching_answers(study=study, plan=mixed, round_=round_).count()
    names = names_of(study, plan.conditions)
    planned.recipe = plan.recipe(len(strata), matching - len(strata), names)
    planned.save()
    planned.items.filter(ORDINARY).delete()
    planned.items.update(is_drawn=False)
    start = planned.items.aggregate(last=Max("position"))["last"] or 0
    ScoringItem.objects.bulk_create(
        (
            ScoringItem(round=planned, answer_id=pk, position=position, probability=probability)
            for position, (pk, probability) in enumerate(drawn.items(), start + 1)
        ),
        batch_size=CHUNK,
    )
    return planned


def matching_answers(
    *, study: Study, plan: ScoringPlan, round_: ScoringRound | None = None
) -> QuerySet[Answer]:
    """Return the answers that match the plan, except known answers in the round."""
    answers = under(without_superseded(study.answers.all()), plan.conditions)
    if plan.systems:
        answers = answers.filter(system__in=plan.systems)
    if plan.scenarios:
        answers = answers.filter(scenario__in=plan.scenarios)
    if plan.choice is not None:
        answers = answers.filter(choice=plan.choice)
    if plan.aspect == WITH:
        answers = answers.exclude(question__aspect="")
    if plan.aspect == WITHOUT:
        answers = answers.filter(question__aspect="")
    used = ScoringItem.objects.filter(answer=OuterRef("pk"), round__study=study)
    if round_ is not None:
        answers = answers.filter(~Exists(used.filter(round=round_).exclude(ORDINARY)))
        used = used.exclude(round=round_)
    return answers.filter(~Exists(used)) if plan.leave_out_used else answers
