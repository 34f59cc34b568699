"""Forms for scoring: sheets, rounds, keys of examples and exports."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _, gettext_lazy as lazy

from annotation.answers.forms import (
    ConditionsField,
    ScenariosField,
    SystemsField,
    condition_choices,
)
from annotation.answers.models import ALL
from annotation.editing.models import plain_lines
from benchmark.rubrics.methods.rubric import MOST_CRITERIA
from benchmark.rubrics.models import RubricVersion, default_rubric
from benchmark.scoring.actions import (
    MOST_ANSWERS,
    SCORING,
    WITH,
    WITHOUT,
    ScoreContent,
    ScoringPlan,
    matching_answers,
    plan_round,
)
from benchmark.scoring.methods import overlap_of
from benchmark.scoring.models import ScoreSheet
from cqa_site.people.models import Study
from cqa_site.rounds.forms import Extent, RoundPlanForm, SaveForm, skip_share_field
from cqa_site.rounds.progress import seconds_each
from cqa_site.web.pages import offer

LONGEST_NOTE = 2_000
# All notes and the comment at maximum length, with 9 characters per letter after encoding.
LONGEST_FORM = 9 * LONGEST_NOTE * (MOST_CRITERIA + 1) + 10_000
ASPECTS = [
    ("", lazy("With and without an aspect")),
    (WITH, lazy("With an aspect")),
    (WITHOUT, lazy("Without an aspect")),
]


class ScoringRoundForm(RoundPlanForm):
    kind = SCORING
    planned = staticmethod(plan_round)
    advanced = (
        "scenarios", "conditions", "aspect", "is_balanced", "leave_out_used", "pass_mark",
        "shows_hints", "shows_arguments", *RoundPlanForm.advanced,
    )  # fmt: skip
    groups = (
        (
            lazy("Answers"),
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
            lazy("Scoring"),
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
    systems = SystemsField(label=lazy("Systems"), to_field_name="public_id")
    scenarios = ScenariosField(label=lazy("Scenarios"))
    conditions = ConditionsField()
    aspect = forms.ChoiceField(label=lazy("Questions"), choices=ASPECTS, required=False)
    choice = forms.IntegerField(
        label=lazy("Choice number"),
        required=False,
        min_value=1,
        max_value=32_767,
        help_text=lazy(
            "For systems that answered a question several times. Leave empty to include every "
            "answer."
        ),
    )
    leave_out_used = forms.BooleanField(
        label=lazy("Leave out answers already in another round"), required=False
    )
    size = forms.IntegerField(
        label=lazy("Number of answers"),
        required=False,
        min_value=1,
        max_value=MOST_ANSWERS,
        help_text=lazy(
            "Leave empty to include all matching answers. A number draws a random sample and "
            "stores each answer's chance of being drawn, so that a leaderboard can be calibrated "
            "with the sample."
        ),
    )
    is_balanced = forms.BooleanField(
        label=lazy("Draw the same number from each system and condition"),
        required=False,
        initial=True,
    )
    overlap_share = forms.FloatField(
        label=lazy("Share of answers scored by several people"),
        min_value=0,
        max_value=1,
        initial=0.2,
        help_text=lazy(
            "From 0 to 1. Default: 0.2. Without overlap, agreement cannot be computed."
        ),
    )
    overlap_raters = forms.IntegerField(
        label=lazy("People per shared answer"), min_value=2, max_value=20, initial=2
    )
    skip_share = skip_share_field()
    shows_hints = forms.BooleanField(
        label=lazy("Show automatic counts as hints"),
        required=False,
        initial=True,
        help_text=lazy("Counts of sentences, repetitions and citations. The rater decides."),
    )
    shows_arguments = forms.BooleanField(
        label=lazy("Show cited arguments"),
        required=False,
        initial=True,
        help_text=lazy(
            "Shows the numbered arguments that the answer is based on, without their labels and "
            "sources."
        ),
    )
    pass_mark = forms.FloatField(
        label=lazy("Qualification pass mark"),
        min_value=0,
        max_value=1,
        initial=0.7,
        help_text=lazy(
            "Share of the examples' criteria that must match the key. Default: 0.7. Without "
            "examples there is no qualification."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        study = self.study
        offer(self, rubric=study.rubric_versions.all(), systems=study.systems.all())
        offer(self, conditions=condition_choices(study))

    @classmethod
    def usual(cls, study: Study) -> dict[str, Any]:
        """Return the initial values, with the study's default rubric."""
        return {"rubric": default_rubric(study).public_id}

    def plan(self) -> ScoringPlan:
        """Return the cleaned fields as a `ScoringPlan`."""
        data = self.plan_values
        data["systems"] = tuple(data["systems"])
        data["scenarios"] = tuple(data["scenarios"])
        data["conditions"] = tuple(data["conditions"])
        return ScoringPlan(**data)

    def measure(self) -> Extent:
        """Return the round's extent: the matching answers, up to the sample size.

        A share of them is scored by several people.
        """
        plan = self.plan()
        total = matching_answers(study=self.study, plan=plan, round_=self.round).count()
        items = total if plan.size is None else min(total, plan.size)
        again = overlap_of(items, plan.overlap_share) * (plan.overlap_raters - 1)
        return Extent(
            items=items,
            answers=items + again,
            people=plan.overlap_raters if again else 1,
            seconds=seconds_each(SCORING, self.study),
        )


class ScoreForm(SaveForm):
    """Form that reads points, reasons, notes and comment.

    Fields are named ``points-C1`` (a number, ``x`` for "cannot judge", or nothing),
    ``unable-C1`` (a code) and ``note-C1``.
    """

    longest = LONGEST_FORM

    def read(self, data: QueryDict, sheet: ScoreSheet) -> ScoreContent:
        """Read the form; points that the rubric does not allow are errors on their criterion."""
        points: dict[str, int] = {}
        unable: dict[str, str] = {}
        notes: dict[str, str] = {}
        for criterion in sheet.rubric.rubric.criteria:
            key = criterion.key
            choice = data.get(f"points-{key}", "").strip()
            if choice == "x":
                unable[key] = self._code(key, data.get(f"unable-{key}", ""))
            elif choice in {str(level.points) for level in criterion.levels}:
                points[key] = int(choice)
            elif choice:
                self.wrong[key] = _("%(key)s allows 0 to %(most)d points.") % {
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


FORMATS = {"csv": "CSV", "jsonl": "JSON Lines", "parquet": "Parquet"}


class SheetExportForm(forms.Form):
    rubric = forms.ModelChoiceField(
        label=lazy("Rubric"),
        queryset=RubricVersion.objects.none(),
        to_field_name="public_id",
        empty_label=None,
    )
    sheets = forms.ChoiceField(
        label=lazy("Sheets"),
        choices=[
            ("counted", lazy("Counted sheets")),
            ("all", lazy("All submitted sheets, including void, extra and example sheets")),
        ],
    )
    conditions = ConditionsField(
        label=lazy("Conditions of the answers"), help_text=lazy("Default: all.")
    )
    format = forms.ChoiceField(label=lazy("Format"), choices=list(FORMATS.items()))
    with_texts = forms.BooleanField(
        label=lazy("Include the texts of the answers"),
        required=False,
        help_text=lazy("Only needed to import the file into another study."),
    )
    is_raw = forms.BooleanField(
        label=lazy("CSV without protection against formulas in spreadsheets"), required=False
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, rubric=study.rubric_versions.order_by("name", "-number"))
        offer(self, conditions=condition_choices(study))

    def clean_conditions(self) -> list[str]:
        """Return the chosen conditions, or all conditions if none are chosen."""
        return self.cleaned_data["conditions"] or [ALL]
