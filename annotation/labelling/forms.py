"""Forms for rounds, guidelines and labels."""

import math
from dataclasses import fields as dataclass_fields
from functools import cached_property
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _, gettext_lazy as lazy

from annotation.corpus.models import Comparison
from annotation.labelling.actions.blocks import LABELS
from annotation.labelling.actions.exercises import USUAL
from annotation.labelling.actions.rounds import (
    EVERY,
    LATER,
    NEW,
    LabelPlan,
    Take,
    arguments_of,
    plan_round,
)
from annotation.labelling.actions.votes import SubmittedLabel
from annotation.labelling.models import (
    Assignment,
    Guideline,
    Item,
    LabelRound,
    ScaleNotValid,
    check_levels,
)
from cqa_site.people.models import Study
from cqa_site.rounds.forms import Extent, Groups, RoundPlanForm, skip_share_field
from cqa_site.rounds.onboarding.steps import can_repeat, exercises_wanted
from cqa_site.web.pages import offer

ROWS_OF_LEVELS = 10
MOST_CONTROLS = 1_000
# Detecting smaller falls would take hundreds of control items. Minus 0.0005 for rounding.
LEAST_FALL = 0.0495
WHICH = [
    (EVERY, lazy("All arguments in the study")),
    (NEW, lazy("Arguments not in any round yet")),
    (LATER, lazy("Choose on the next page")),
]


def agreed_on(study: Study, guideline: Guideline | None) -> list[tuple[int, int]]:
    """Return arguments with labels that people agreed on, on the guideline's scale."""
    if guideline is None or LABELS.agreed is None:
        return []
    return LABELS.agreed(study, guideline.values)


def proposed_controls(arguments: int, known: int) -> dict[str, int]:
    """Return the default plan: one control item per block, as far as known labels suffice."""
    block = LabelRoundForm.base_fields["block_size"].initial
    controls = min(known, math.ceil(arguments / block))
    return {"known": controls, "controls_per_block": 1 if controls else 0}


class LabelRoundForm(RoundPlanForm):
    kind = LABELS
    advanced = (
        "block_size", "share_cap", "min_control_accuracy", "low_accuracy", "usual_accuracy",
        "fallen_accuracy", "on_fall", "expected_seconds",
        "orders_by_uncertainty", *RoundPlanForm.advanced,
    )  # fmt: skip
    correctable = ("name", "guideline", "votes_per_item", "skip_share", "onboarding")
    planned = staticmethod(plan_round)
    groups: ClassVar[Groups] = (
        (
            lazy("Task and votes"),
            (
                ("guideline",),
                ("votes_per_item", "share_cap"),
                ("expected_seconds", "lease_minutes"),
                ("skip_share",),
                ("orders_by_uncertainty",),
                ("seed",),
            ),
        ),
        (
            lazy("Blocks and control items"),
            (
                ("block_size", "controls_per_block"),
                ("min_control_accuracy", "low_accuracy"),
                ("usual_accuracy", "fallen_accuracy", "on_fall"),
            ),
        ),
    )
    # The guideline serves as the instructions, and no item is repeated.
    instructions = repeat_share = None

    guideline = forms.ModelChoiceField(
        label=lazy("Guideline and label scale"),
        queryset=Guideline.objects.none(),
        to_field_name="public_id",
        empty_label=None,
    )
    votes_per_item = forms.IntegerField(
        label=lazy("Votes per item"),
        min_value=1,
        max_value=60,
        initial=3,
        help_text=lazy("How many different people label each ordinary item."),
    )
    block_size = forms.IntegerField(
        label=lazy("Items per block"),
        min_value=2,
        max_value=50,
        initial=5,
        help_text=lazy(
            "Items are assigned in blocks that include control items. The relevance paper "
            "used one control item per block of five."
        ),
    )
    controls_per_block = forms.IntegerField(
        label=lazy("Control items per block"),
        min_value=0,
        max_value=10,
        initial=1,
        help_text=lazy("At random positions in the block. 0 means no control items."),
    )
    min_control_accuracy = forms.FloatField(
        label=lazy("Minimum control accuracy"),
        min_value=0,
        max_value=1,
        initial=0.5,
        help_text=lazy(
            "Between 0 and 1. Checked after every block; the rule applies only when the "
            "answers show a lower accuracy. Of the annotators whose accuracy is exactly at the "
            "minimum, at most 5 % are ever paused or excluded. With a minimum of 0.5, the rule "
            "needs 7 wrong answers out of 7."
        ),
    )
    low_accuracy = forms.ChoiceField(
        label=lazy("Action below the minimum"),
        choices=LabelRound.LowAccuracy,
        initial=LabelRound.LowAccuracy.WARN,
    )
    usual_accuracy = forms.FloatField(
        label=lazy("Usual control accuracy"),
        min_value=0.5,
        max_value=0.99,
        initial=0.92,
        help_text=lazy("Accuracy of attentive annotators, between 0.5 and 0.99."),
    )
    fallen_accuracy = forms.FloatField(
        label=lazy("Control accuracy after a fall"),
        min_value=0.05,
        max_value=0.94,
        initial=0.78,
        help_text=lazy(
            "At least 0.05 below the usual accuracy. The page “Drift” shows annotators whose "
            "accuracy fell to about this value while they worked. For annotators with the "
            "usual accuracy there is at most one false signal in 1,000 control answers, on "
            "average."
        ),
    )
    on_fall = forms.ChoiceField(
        label=lazy("Action if accuracy falls"),
        choices=LabelRound.OnFall,
        initial=LabelRound.OnFall.WARN,
    )
    share_cap = forms.FloatField(
        label=lazy("Maximum share of items per annotator"),
        min_value=0.001,
        max_value=1,
        initial=1,
        help_text=lazy("Between 0 and 1; 1 means no limit."),
    )
    expected_seconds = forms.IntegerField(
        label=lazy("Expected seconds per item"),
        min_value=0,
        max_value=32_767,
        initial=20,
        help_text=lazy("Shown to annotators and used for estimates."),
    )
    lease_minutes = forms.IntegerField(
        label=lazy("Reservation time in minutes"),
        min_value=1,
        # A visible page renews its items long before that.
        max_value=240,
        initial=LabelRound.USUAL["lease_minutes"],
        help_text=lazy(
            "Renewed while the page is visible. When the reservation runs out, others get the "
            "item."
        ),
    )
    skip_share = skip_share_field()
    seed = forms.IntegerField(
        label=lazy("Random seed"),
        min_value=0,
        max_value=2**63 - 1,
        initial=LabelRound.USUAL["seed"],
        help_text=lazy("The same seed gives the same order."),
    )
    orders_by_uncertainty = forms.BooleanField(
        label=lazy("Start with the items that the trained judge is least sure of"),
        required=False,
        help_text=lazy(
            "Uses the study's most recent trained judge when the round opens. Items without a "
            "prediction follow in random order. Annotators do not see this."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, guideline=self.study.guidelines.all())
        if not self.study.guidelines.exists():
            usual = _("Default for 0–3 relevance (becomes version 1)")
            vars(self.fields["guideline"]).update(required=False, empty_label=usual)

    @classmethod
    def usual(cls, study: Study) -> dict[str, Any]:
        """Return the defaults: newest guideline, and no control items until some are marked."""
        newest = study.guidelines.first()
        return {"guideline": newest and newest.public_id, "controls_per_block": 0}

    def clean(self) -> dict[str, Any]:
        """Require room for ordinary items in each block."""
        data = super().clean() or {}
        if data.get("controls_per_block", 0) >= data.get("block_size", 2):
            self.add_error("controls_per_block", _("A block needs at least one ordinary item."))
        if data.get("fallen_accuracy", 0) > data.get("usual_accuracy", 1) - LEAST_FALL:
            self.add_error("fallen_accuracy", _("Must be at least 0.05 below the usual accuracy."))
        if data.get("on_fall") == LabelRound.OnFall.RECHECK and not can_repeat(
            data.get("onboarding")
        ):
            self.add_error("on_fall", _("The round has no steps that people could repeat."))
        return data

    def plan(self) -> LabelPlan:
        """Return the cleaned fields as a plan."""
        data = {"name": "", **self.cleaned_data}
        return LabelPlan(**{field.name: data[field.name] for field in dataclass_fields(LabelPlan)})

    def measure(self) -> Extent:
        """Return the size: ordinary items with their votes, plus their blocks' control items."""
        plan = self.plan()
        ordinary, controls = self.items()
        blocks = math.ceil(ordinary / max(1, plan.block_size - plan.controls_per_block))
        met = min(controls, blocks * plan.controls_per_block)
        return Extent(
            items=ordinary,
            answers=plan.votes_per_item * (ordinary + met),
            people=plan.votes_per_item,
            known=controls,
            seconds=plan.expected_seconds or None,
        )

    def items(self) -> tuple[int, int]:
        """Return the numbers of ordinary and control items in the draft."""
        items = Item.objects.filter(round=self.round)
        controls = items.filter(control_label__isnull=False).count()
        return items.count() - controls, controls


class NewLabelRoundForm(LabelRoundForm):
    """Form for a round and its initial items; API requests and drafts list items individually."""

    groups: ClassVar[Groups] = (
        (lazy("Arguments to label"), (("which", "sample"), ("known",))),
        *LabelRoundForm.groups,
    )

    which = forms.ChoiceField(label=lazy("Arguments"), choices=WHICH, initial=EVERY)
    sample = forms.IntegerField(
        label=lazy("Random sample"),
        required=False,
        min_value=1,
        max_value=1_000_000,
        help_text=lazy("Leave empty for all."),
    )
    known = forms.IntegerField(
        label=lazy("Control items from agreed labels"),
        min_value=0,
        max_value=MOST_CONTROLS,
        initial=0,
        help_text=lazy(
            "Number of control items to draw from arguments that at least two people in this "
            "study labelled, all with the same label. This label becomes the known label."
        ),
    )

    @cached_property
    def agreed(self) -> list[tuple[int, int]]:
        """Arguments with a label that people agreed on."""
        return agreed_on(self.study, self.cleaned_data.get("guideline"))

    def clean(self) -> dict[str, Any]:
        """Allow at most as many control items as there are agreed labels."""
        data = super().clean()
        if data.get("known", 0) > len(self.agreed):
            sentence = _(
                "People agreed on %d arguments under this guideline. Enter at most that number."
            )
            self.add_error("known", sentence % len(self.agreed))
        return data

    @cached_property
    def trained(self) -> int:
        """Number of agreed labels for training, from those not used for control items."""
        data = self.cleaned_data
        if data["onboarding"] is not None:
            wanted = exercises_wanted(data["onboarding"])
        else:
            wanted = USUAL if data["shows_guideline"] else 0
        return wanted if wanted <= len(self.agreed) - data["known"] else 0

    def planned(self, **about: Any) -> LabelRound:
        """Create the round with its items."""
        data = self.cleaned_data
        known = self.agreed if data["known"] or self.trained else ()
        take = Take(data["which"], data["sample"], known, data["known"], self.trained)
        return plan_round(take=take, **about)

    @property
    def picks_later(self) -> bool:
        """Whether the arguments are selected by hand later."""
        return bool(self.cleaned_data["which"] == LATER)

    def items(self) -> tuple[int, int]:
        """Return the numbers of ordinary and control items to draw."""
        controls, sample = self.cleaned_data["known"], self.cleaned_data["sample"]
        arguments = arguments_of(self.study, self.cleaned_data["which"])
        # Arguments drawn as control items or for training are not used again.
        drawn = controls + self.trained
        both = arguments.filter(pk__in=[pk for pk, _label in self.agreed]) if drawn else None
        ordinary = arguments.count() - min(drawn, both.count() if both is not None else 0)
        return min(ordinary, sample or ordinary), controls


class PickForm(forms.Form):
    comparisons = forms.ModelMultipleChoiceField(
        label=lazy("Comparisons"),
        queryset=Comparison.objects.none(),
        required=False,
        help_text=lazy("Leave empty for all."),
        widget=forms.SelectMultiple(attrs={"size": 8}),
    )
    search = forms.CharField(label=lazy("Sentence contains"), required=False, max_length=200)
    only_new = forms.BooleanField(
        label=lazy("Only arguments not in any round yet"), required=False
    )
    sample = forms.IntegerField(
        label=lazy("Random sample"),
        required=False,
        min_value=1,
        max_value=1_000_000,
        help_text=lazy("Leave empty for all matching arguments."),
    )

    def __init__(self, *args, study, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        offer(self, comparisons=study.comparisons.all())


class ControlForm(forms.Form):
    """Form for the known label of an item; empty if it has none."""

    label = forms.TypedChoiceField(
        label=lazy("Known label"), required=False, coerce=int, empty_value=None
    )

    def __init__(self, *args, values: list[int], **kwargs) -> None:
        super().__init__(*args, **kwargs)
        offer(self, label=[("", _("ordinary item")), *((v, v) for v in values)])


class GuidelineForm(forms.ModelForm):
    """Form for the text and label scale; saving always creates a new version."""

    class Meta:
        model = Guideline
        fields = ["title", "body"]
        widgets = {"body": forms.Textarea(attrs={"rows": 18})}

    def __init__(self, *args, levels: list[dict] | None = None, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.level_rows = self._rows(levels or [])
        # Fields for more labels are collapsed.
        self.filled = sum(any(row.values()) for row in self.level_rows)

    def _rows(self, levels: list[dict]) -> list[dict]:
        if self.is_bound:
            return [self._posted(index) for index in range(ROWS_OF_LEVELS)]
        blank = {"value": "", "name": "", "meaning": "", "example": ""}
        return [*levels, *[blank] * (ROWS_OF_LEVELS - len(levels))][:ROWS_OF_LEVELS]

    def _posted(self, index: int) -> dict:
        names = ("value", "name", "meaning", "example")
        return {name: self.data.get(f"level-{index}-{name}", "").strip() for name in names}

    def clean(self) -> dict:
        """Read the rows of the scale, and check that they form a valid scale."""
        data = super().clean() or {}
        filled = [row for row in self.level_rows if any(row.values())]
        try:
            levels = [row | {"value": int(row["value"])} for row in filled]
            check_levels(levels)
        except ValueError as error:
            raise ValidationError(_("Every level needs a label from 0 to 9.")) from error
        except ScaleNotValid as error:
            raise ValidationError(str(error)) from error
        data["levels"] = levels
        return data


class AnswerForm(forms.Form):
    """Form for a label or a reason to skip, with the same fields for scripts and plain forms."""

    item = forms.UUIDField()
    client_key = forms.CharField(max_length=64)
    label = forms.IntegerField(min_value=0, max_value=9, required=False)
    skip_reason = forms.ChoiceField(choices=Assignment.SkipReason, required=False)
    comment = forms.CharField(max_length=1_000, required=False)
    flag = forms.BooleanField(required=False)
    active_ms = forms.IntegerField(required=False)
    # The page still has items, so the response does not need to include any.
    has_enough = forms.BooleanField(required=False)
    known = forms.CharField(max_length=64, required=False)

    def answer(self) -> SubmittedLabel:
        """Return the cleaned fields as an answer."""
        data = self.cleaned_data
        return SubmittedLabel(
            client_key=data["client_key"],
            label=data["label"],
            skip_reason=data["skip_reason"],
            comment=data["comment"],
            is_flagged=data["flag"],
            active_ms=data["active_ms"],
            known=data["known"] if "known" in self.data else None,
        )
