"""Forms of scoring rounds and of the scoring form itself."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from annotation.answers.forms.conditions import (
    ConditionsField,
    ScenariosField,
    SystemsField,
    condition_choices,
)
from annotation.editing.models import plain_lines
from benchmark.rubrics.actions import default_rubric
from benchmark.rubrics.methods.rubric import MOST_CRITERIA
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.actions.kind import SCORING, ScoreContent
from benchmark.scoring.actions.rounds import (
    MOST_ANSWERS,
    WITH,
    WITHOUT,
    Plan,
    matching_answers,
    plan_round,
)
from benchmark.scoring.methods.drawing import overlap_of
from benchmark.scoring.models.sheets import ScoreSheet
from cqa_site.people.models import Study
from cqa_site.rounds.forms.extent import Extent
from cqa_site.rounds.forms.plan import PlanForm, skip_share_field
from cqa_site.rounds.forms.save import SaveForm
from cqa_site.rounds.progress import seconds_each
from cqa_site.web.choices import offer

LONGEST_NOTE = 2_000
# Every note and the comment at their longest, each letter encoded as three bytes of three.
LONGEST_FORM = 9 * LONGEST_NOTE * (MOST_CRITERIA + 1) + 10_000
ASPECTS = [
    ("", lazy("With and without an aspect")),
    (WITH, lazy("With an aspect")),
    (WITHOUT, lazy("Without an aspect")),
]


class RoundForm(PlanForm):
    """Everything that a draft round decides."""

    kind = SCORING
    planned = staticmethod(plan_round)
    groups = (
        (
            lazy("Which answers"),
            (
                ("systems", "scenarios"),
                ("conditions",),
                ("aspect", "choice"),
                ("size", "seed"),
                ("is_balanced",),
                ("leave_out_used",),
            ),
        ),
        (
            lazy("How they are scored"),
            (
                ("rubric",),
                ("overlap_share", "overlap_raters"),
                ("repeat_share", "lease_minutes"),
                ("pass_mark", "skip_share"),
                ("shows_hints", "shows_arguments"),
                ("instructions",),
            ),
        ),
    )

    rubric = forms.ModelChoiceField(
        label=lazy("Rubric"),
        queryset=RubricVersion.objects.none(),
        to_field_name="public_id",
        empty_label=None,
    )
    systems = SystemsField(label=lazy("Only answers of"), to_field_name="public_id")
    scenarios = ScenariosField(label=lazy("Only scenarios"))
    conditions = ConditionsField()
    aspect = forms.ChoiceField(
        label=lazy("Questions"),
        choices=ASPECTS,
        required=False,
    )
    choice = forms.IntegerField(
        label=lazy("Only choice number"),
        required=False,
        min_value=1,
        max_value=32_767,
        help_text=lazy("Where a system answered several times. Empty means any."),
    )
    leave_out_used = forms.BooleanField(
        label=lazy("Leave out answers that another round holds"), required=False
    )
    size = forms.IntegerField(
        label=lazy("How many answers"),
        required=False,
        min_value=1,
        max_value=MOST_ANSWERS,
        help_text=lazy(
            "Empty takes all that match. A number draws them at random and keeps the chance each "
            "of them had, so that a leaderboard can be calibrated by it."
        ),
    )
    is_balanced = forms.BooleanField(
        label=lazy("Draw the same number from every system under every condition"),
        required=False,
        initial=True,
    )
    overlap_share = forms.FloatField(
        label=lazy("Share of answers that several people score"),
        min_value=0,
        max_value=1,
        initial=0.2,
        help_text=lazy("From 0 to 1. Without overlap there is no agreement to look at."),
    )
    overlap_raters = forms.IntegerField(
        label=lazy("People for each of these"), min_value=2, max_value=20, initial=2
    )
    skip_share = skip_share_field()
    shows_hints = forms.BooleanField(
        label=lazy("Show what code can count, as a hint"),
        required=False,
        initial=True,
        help_text=lazy("Sentences, repetitions, citations. People decide, not the hint."),
    )
    shows_arguments = forms.BooleanField(
        label=lazy("Show cited arguments"),
        required=False,
        initial=True,
        help_text=lazy(
            "The numbered arguments an answer was written from stand beside it, without labels "
            "and sources."
        ),
    )
    pass_mark = forms.FloatField(
        label=lazy("Pass mark of the qualification"),
        min_value=0,
        max_value=1,
        initial=0.7,
        help_text=lazy(
            "Share of the examples' criteria that must agree with their key. Without examples "
            "nobody is asked to qualify."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        study = self.study
        offer(self, rubric=study.rubric_versions.all(), systems=study.systems.all())
        offer(self, conditions=condition_choices(study))

    @classmethod
    def usual(cls, study: Study) -> dict[str, Any]:
        """The study's rubric."""
        return {"rubric": default_rubric(study).public_id}

    def plan(self) -> Plan:
        """The cleaned fields as the action takes them."""
        data = {"name": "", **self.cleaned_data}
        data["systems"] = tuple(data["systems"])
        data["scenarios"] = tuple(data["scenarios"])
        data["conditions"] = tuple(data["conditions"])
        return Plan(**data)

    def measure(self) -> Extent:
        """What matches, as many as are drawn; a share of them goes to several people."""
        plan = self.plan()
        found = matching_answers(study=self.study, plan=plan, round_=self.round).count()
        items = found if plan.size is None else min(found, plan.size)
        again = overlap_of(items, plan.overlap_share) * (plan.overlap_raters - 1)
        return Extent(
            items=items,
            answers=items + again,
            people=plan.overlap_raters if again else 1,
            seconds=seconds_each(SCORING, self.study),
        )


class ScoreForm(SaveForm):
    """Reads points, reasons, notes and comment.

    Fields are named ``points-C1`` (a number, ``x`` for "cannot judge", or nothing),
    ``unable-C1`` (a code) and ``note-C1``.
    """

    longest = LONGEST_FORM

    def read(self, data: QueryDict, sheet: ScoreSheet) -> ScoreContent:
        """Points that the rubric does not have are refused, each with its criterion."""
        points: dict[str, int] = {}
        unable: dict[str, str] = {}
        notes: dict[str, str] = {}
        for criterion in sheet.rubric.rubric.criteria:
            key = criterion.key
            given = data.get(f"points-{key}", "").strip()
            if given == "x":
                unable[key] = self._code(key, data.get(f"unable-{key}", ""))
            elif given in {str(level.points) for level in criterion.levels}:
                points[key] = int(given)
            elif given:
                self.wrong[key] = _("%(key)s takes 0 to %(most)d points.") % {
                    "key": key,
                    "most": criterion.maximum,
                }
            if note := self._text(key, data.get(f"note-{key}", "")):
                notes[key] = note
        comment = self._text("comment", data.get("comment", ""))
        return ScoreContent(points, unable, notes, comment)

    def _code(self, key: str, code: str) -> str:
        if code in ScoreSheet.Unable.values:
            return code
        if code:
            self.wrong[key] = _("Choose why you cannot judge %s.") % key
        return str(ScoreSheet.Unable.UNCLEAR)

    def _text(self, key: str, text: str) -> str:
        text = plain_lines(text)
        if len(text) > LONGEST_NOTE or "\x00" in text:
            self.wrong[key] = _("The note is longer than %d characters.") % LONGEST_NOTE
            return text.replace("\x00", "")[:LONGEST_NOTE]
        return text if text.strip() else ""
