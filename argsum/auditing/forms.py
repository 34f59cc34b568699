"""Forms for audits: the plan of a round, and the answer about one pair."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _, gettext_lazy as lazy

from annotation.editing.models import plain_lines
from argsum.analysis.models import Analysis
from argsum.auditing.actions import (
    AUDITING,
    GUIDE,
    MOST_PAIRS,
    USUAL_PAIRS,
    AuditContent,
    AuditPlan,
    doubled,
    plan_round,
    sample_of,
)
from argsum.auditing.models import AuditSheet
from cqa_site.people.models import Study
from cqa_site.rounds.forms import Extent, RoundPlanForm, SaveForm
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.progress import seconds_each
from cqa_site.web.pages import offer

LONGEST_NOTE = 1_000


class AuditRoundForm(RoundPlanForm):
    """Settings of a draft round."""

    kind = AUDITING
    planned = staticmethod(plan_round)
    groups = (
        (lazy("Sample"), (("analysis",), ("size", "target"), ("double_share",))),
        (lazy("Answers"), (("lease_minutes", "repeat_share"), ("instructions",))),
    )

    analysis = forms.ModelChoiceField(
        label=lazy("Analysis"), queryset=Analysis.objects.none(), to_field_name="public_id"
    )
    size = forms.IntegerField(
        label=lazy("Number of pairs"),
        min_value=10,
        max_value=MOST_PAIRS,
        initial=USUAL_PAIRS,
        help_text=lazy(
            "Every 10 pairs add a corrected share for one more key point, starting with "
            "the largest. Default: 60."
        ),
    )
    target = forms.FloatField(
        label=lazy("Target: ± percentage points"),
        min_value=1,
        max_value=20,
        required=False,
        help_text=lazy(
            "An alternative to the number of pairs. As many pairs are drawn as the ten "
            "largest key points should need for this precision, judging by the answers so "
            "far."
        ),
    )
    double_share = forms.FloatField(
        label=lazy("Share of pairs answered by two people"),
        min_value=0,
        max_value=1,
        initial=0.2,
        help_text=lazy("These pairs show how far people agree. From 0 to 1. Default: 0.2."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, analysis=self.study.analyses.filter(state=Analysis.State.DONE))

    @classmethod
    def usual(cls, study: Study) -> dict[str, Any]:
        """Return the standard guideline and the newest analysis as defaults."""
        newest = study.analyses.filter(state=Analysis.State.DONE).first()
        return {"instructions": GUIDE} | ({"analysis": newest.public_id} if newest else {})

    def plan(self) -> AuditPlan:
        """Return the cleaned fields as a plan."""
        return AuditPlan(**self.plan_values)

    def measure(self) -> Extent:
        """Return the extent of the round, with no items if no pairs can be drawn."""
        plan = self.plan()
        try:
            pairs = sample_of(plan, self.round).size
        except RoundNotReady:
            pairs = 0
        twice = doubled(pairs, plan.double_share)
        return Extent(
            items=pairs,
            answers=pairs + twice,
            people=1 + bool(twice),
            seconds=seconds_each(AUDITING, self.study),
        )


class PointCheckForm(SaveForm):
    """Form that reads ``answer`` (makes, partly, not, opposite or empty) and ``comment``."""

    longest = 9 * LONGEST_NOTE + 1_000

    def read(self, data: QueryDict, sheet: AuditSheet) -> AuditContent:
        """Read the answer and the note."""
        answer = data.get("answer", "")
        if answer and answer not in AuditSheet.Answer.values:
            self.wrong["answer"] = _("The answer must be “makes”, “partly”, “not” or “opposite”.")
            answer = ""
        note = plain_lines(data.get("comment", ""))
        if len(note) > LONGEST_NOTE or "\x00" in note:
            self.wrong["comment"] = _("The note is longer than %d characters.") % LONGEST_NOTE
            note = note.replace("\x00", "")[:LONGEST_NOTE]
        return AuditContent(answer, note.strip())
