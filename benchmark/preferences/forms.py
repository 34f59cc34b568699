"""Forms for preference rounds, for comparing pairs, and for runs by a model."""

from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _, gettext_lazy as lazy

from annotation.answers.forms import (
    ConditionsField,
    ScenariosField,
    SystemsField,
    condition_choices,
)
from annotation.editing.models import plain_lines
from benchmark.preferences.actions import MOST_PAIRS, PreferencePlan, free_pairs, plan_round
from benchmark.preferences.kind import (
    KIND,
    PREFERRING,
    PROMPT,
    PreferenceContent,
    target_of,
    turned,
)
from benchmark.preferences.methods.pairs import OUTCOME_OF
from benchmark.preferences.models import PreferenceRound, PreferenceSheet
from cqa_site.people.models import Study
from cqa_site.rounds.forms import Extent, RoundPlanForm, SaveForm
from cqa_site.rounds.progress import seconds_each
from cqa_site.runs.forms.plan import RunPlanForm
from cqa_site.web.pages import offer
from cqa_site.web.rest.queries import id_from

LONGEST_REASON = 2_000
MOST_CONTROLS = 200


class PairsField(forms.CharField):
    """Field with two different ids per line; programs send lists of pairs."""

    def prepare_value(self, value: Any) -> Any:
        """Return pairs as lines."""
        if isinstance(value, str | None):
            return value
        return "\n".join(" ".join(map(str, pair)) for pair in value)

    def clean(self, value: Any) -> tuple[tuple[UUID, UUID], ...]:
        """Return the pairs; refuse a pair that is listed twice."""
        lines = [line.split() for line in super().clean(self.prepare_value(value)).splitlines()]
        pairs = [tuple(id_from(word) for word in line) for line in lines if line]
        if any(None in pair or len(set(pair)) != 2 or len(pair) != 2 for pair in pairs):
            raise ValidationError(
                _("Each line must contain the IDs of two answers and nothing else.")
            )
        if len({frozenset(pair) for pair in pairs}) < len(pairs):
            raise ValidationError(_("A pair is listed twice."))
        return tuple((first_id, other) for first_id, other in pairs if first_id and other)


class PreferenceRoundForm(RoundPlanForm):
    kind = PREFERRING
    planned = staticmethod(plan_round)
    advanced = (
        "scenarios", "conditions", "is_mixed", "leave_out_used", "control_gap", "asks_reason",
        *RoundPlanForm.advanced,
    )  # fmt: skip
    groups = (
        (
            lazy("Pairs"),
            (
                ("systems", "scenarios"),
                ("conditions",),
                ("size", "seed"),
                ("is_mixed",),
                ("leave_out_used",),
            ),
        ),
        (lazy("Control pairs"), (("control_share", "control_gap"), ("controls",))),
        (
            lazy("Comparison"),
            (("raters", "lease_minutes"), ("repeat_share",), ("asks_reason",), ("instructions",)),
        ),
    )

    systems = SystemsField(
        label=lazy("Systems"),
        to_field_name="public_id",
        help_text=lazy("Choose at least two, or none for all."),
    )
    scenarios = ScenariosField(
        label=lazy("Scenarios"),
        help_text=lazy(
            "Default: all. Answers are paired only within a scenario and condition, "
            "unless mixing is allowed."
        ),
    )
    conditions = ConditionsField()
    size = forms.IntegerField(
        label=lazy("Number of pairs"),
        min_value=1,
        max_value=MOST_PAIRS,
        initial=100,
        help_text=lazy(
            "The first pairs link all systems; the next are the most informative, from systems "
            "that are close or have few comparisons so far."
        ),
    )
    is_mixed = forms.BooleanField(
        label=lazy("Pair answers across scenarios and conditions"),
        required=False,
        help_text=lazy(
            "Needed to compare models with people or a search engine, whose answers have no "
            "scenario."
        ),
    )
    leave_out_used = forms.BooleanField(
        label=lazy("Leave out pairs already in another round"), required=False, initial=True
    )
    raters = forms.IntegerField(
        label=lazy("People per pair"), min_value=1, max_value=20, initial=2
    )
    control_share = forms.FloatField(
        label=lazy("Share of control pairs"),
        min_value=0,
        max_value=0.5,
        initial=0,
        help_text=lazy(
            "Control pairs look like any other pair and do not affect the ranking; the round's "
            "page shows how many each person judged correctly. They are drawn from answers with "
            "known points."
        ),
    )
    control_gap = forms.FloatField(
        label=lazy("Point difference in a control pair"), min_value=0.5, max_value=100, initial=5
    )
    controls = PairsField(
        label=lazy("Your own control pairs"),
        required=False,
        max_length=MOST_CONTROLS * 75,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=lazy("One pair per line: the IDs of two answers, the better one first."),
    )
    asks_reason = forms.BooleanField(
        label=lazy("Ask for an optional reason"), required=False, initial=True
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, systems=self.study.systems.all(), conditions=condition_choices(self.study))

    def clean_systems(self) -> Any:
        """Refuse a single system, because there is nothing to compare it with."""
        systems = self.cleaned_data["systems"]
        if len(systems) == 1:
            raise ValidationError(_("Choose at least two systems, or none for all."))
        return systems

    def plan(self) -> PreferencePlan:
        """Return the cleaned fields as a `PreferencePlan`."""
        several = {
            name: tuple(self.cleaned_data[name]) for name in ("systems", "scenarios", "conditions")
        }
        return PreferencePlan(**self.plan_values | several)

    def measure(self) -> Extent:
        """Return the round's extent: all requested pairs that are possible, including controls."""
        plan = self.plan()
        free = free_pairs(study=self.study, plan=plan, round_=self.round)
        items = min(plan.size, free)
        return Extent(
            items=items,
            answers=items * plan.raters,
            people=plan.raters,
            known=min(plan.n_controls, items),
            seconds=seconds_each(PREFERRING, self.study),
        )


class PreferForm(SaveForm):
    """Form that reads ``verdict`` (left, right, tie, both_bad or empty) and ``comment``."""

    longest = 9 * LONGEST_REASON + 1_000

    def read(self, data: QueryDict, sheet: PreferenceSheet) -> PreferenceContent:
        """Read the form; only here are sides converted to the pair's first and second answer."""
        verdict = data.get("verdict", "")
        if verdict and verdict not in OUTCOME_OF:
            self.wrong["verdict"] = _("The verdict must be “left”, “right”, “tie” or “both_bad”.")
            verdict = ""
        reason = plain_lines(data.get("comment", ""))
        if len(reason) > LONGEST_REASON or "\x00" in reason:
            self.wrong["comment"] = _("The reason is longer than %d characters.") % LONGEST_REASON
            reason = reason.replace("\x00", "")[:LONGEST_REASON]
        return PreferenceContent(turned(verdict, is_swapped=sheet.is_swapped), reason.strip())


class PreferringRunForm(RunPlanForm):
    kind = KIND
    prompt_kinds = (PROMPT,)
    # Fields in their own part of the page, beside the prompt.
    asks = ("choice", "preference_round", "sample")

    choice = forms.ChoiceField(
        label=lazy("Pairs"),
        choices=[
            ("all", lazy("All pairs in rounds")),
            ("judged", lazy("Pairs compared by people")),
            ("round", lazy("Pairs of one round")),
            ("sample", lazy("A random sample")),
        ],
        initial="all",
        widget=forms.RadioSelect,
    )
    preference_round: forms.ModelChoiceField = forms.ModelChoiceField(
        label=lazy("Round"),
        queryset=None,
        required=False,
        empty_label=lazy("none"),
        help_text=lazy("Only for the pairs of one round. A draft round is enough."),
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, study=study, **kwargs)
        offer(self, preference_round=PreferenceRound.objects.filter(study=study))
        # Each pair is asked in both orders; several replies in one order would be a single
        # verdict.
        vars(self.fields["replicates"]).update(max_value=1)
        self.fields["replicates"].widget = forms.HiddenInput()
        self.fields["max_tokens"].help_text = lazy(
            "The default is enough for a two-sentence reason and a verdict; reasoning "
            "models need more. A truncated reply is requested once more with twice as "
            "many tokens."
        )

    def clean_replicates(self) -> int:
        """Check that there is one reply in each order."""
        if self.cleaned_data["replicates"] != 1:
            raise forms.ValidationError(_("Each pair is compared once in each order."))
        return 1

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if data.get("choice") == "round" and not data.get("preference_round"):
            self.complain("preference_round", _("Choose a round."))
        return data

    @property
    def target(self) -> dict[str, Any]:
        data = self.cleaned_data
        round_ = data["preference_round"]
        return target_of(
            choice=data["choice"],
            round_=round_.public_id if data["choice"] == "round" else "",
            sample=data["sample"] or 0,
        )
