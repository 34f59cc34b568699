"""Forms of campaigns and guidelines."""

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from annotation.corpus.models.questions import Comparison
from annotation.labelling.models.campaigns import Campaign, Guideline
from annotation.labelling.models.scales import ScaleNotValid, check_levels
from cqa_site.web.choices import offer

ROWS_OF_LEVELS = 10
# In minutes; a page in view renews its items long before.
LONGEST_LEASE = 240


class CampaignForm(forms.ModelForm):
    """Everything a draft campaign decides, apart from its items."""

    lease_minutes = forms.IntegerField(
        label=_("Minutes an item stays reserved"),
        min_value=1,
        max_value=LONGEST_LEASE,
        help_text=_("Renewed while the page is in view; then others get the item."),
    )

    class Meta:
        model = Campaign
        fields = [
            "name",
            "guideline",
            "votes_per_item",
            "block_size",
            "controls_per_block",
            "min_control_accuracy",
            "low_accuracy",
            "share_cap",
            "expected_seconds",
            "lease_minutes",
            "seed",
            "orders_by_uncertainty",
        ]
        labels = {
            "guideline": _("Guideline and label scale"),
            "seed": _("Seed of every random order"),
        }
        help_texts = {
            "votes_per_item": _("How many different people label each ordinary item."),
            "block_size": _("Items are handed out in blocks; a block mixes in control items."),
            "controls_per_block": _("At random places of the block. 0 switches controls off."),
            "min_control_accuracy": _(
                "Between 0 and 1. Acted on only when the 95 % interval lies wholly below it. "
                "It is looked at after every block, so over many blocks the rule errs "
                "somewhat more often than one look would."
            ),
            "share_cap": _("Between 0 and 1; 1 means no limit."),
            "expected_seconds": _("Shown to annotators and used for estimates."),
            "seed": _("The same seed gives the same order again."),
            "orders_by_uncertainty": _(
                "Uses the newest trained judge of the study when the campaign opens. What it "
                "does not know comes after, in the random order. Annotators see nothing of it."
            ),
        }

    def __init__(self, *args, study, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.instance.study = study
        offer(self, guideline=study.guidelines.all())
        if not study.guidelines.exists():
            usual = _("Our default for 0–3 relevance (becomes version 1)")
            vars(self.fields["guideline"]).update(required=False, empty_label=usual)

    def clean(self) -> dict:
        """Keep room for ordinary items, and names apart within the study."""
        data = super().clean() or {}
        if data.get("controls_per_block", 0) >= data.get("block_size", 2):
            self.add_error("controls_per_block", _("A block needs at least one ordinary item."))
        same_name = Campaign.objects.filter(study=self.instance.study, name=data.get("name"))
        if same_name.exclude(pk=self.instance.pk).exists():
            self.add_error("name", _("Another campaign of this study has this name."))
        return data


class PickForm(forms.Form):
    """Which arguments of the study become items."""

    comparisons = forms.ModelMultipleChoiceField(
        label=_("Comparisons"),
        queryset=Comparison.objects.none(),
        required=False,
        help_text=_("None chosen means all of them."),
        widget=forms.SelectMultiple(attrs={"size": 8}),
    )
    search = forms.CharField(label=_("Sentence contains"), required=False, max_length=200)
    only_new = forms.BooleanField(
        label=_("Only arguments that no campaign holds yet"), required=False
    )
    sample = forms.IntegerField(
        label=_("Random sample of"),
        required=False,
        min_value=1,
        max_value=1_000_000,
        help_text=_("Empty means every argument that matches."),
    )

    def __init__(self, *args, study, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        offer(self, comparisons=study.comparisons.all())


class ControlForm(forms.Form):
    """The known label of one item, or none."""

    label = forms.TypedChoiceField(
        label=_("Known label"), required=False, coerce=int, empty_value=None
    )

    def __init__(self, *args, values: list[int], **kwargs) -> None:
        super().__init__(*args, **kwargs)
        offer(self, label=[("", _("ordinary item")), *((v, v) for v in values)])


class GuidelineForm(forms.ModelForm):
    """Text and label scale; saving always makes a new version."""

    class Meta:
        model = Guideline
        fields = ["title", "body"]
        widgets = {"body": forms.Textarea(attrs={"rows": 18})}

    def __init__(self, *args, levels: list[dict] | None = None, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.level_rows = self._rows(levels or [])

    def _rows(self, levels: list[dict]) -> list[dict]:
        if self.is_bound:
            return [self._posted(index) for index in range(ROWS_OF_LEVELS)]
        blank = {"value": "", "name": "", "meaning": "", "example": ""}
        return [*levels, *[blank] * (ROWS_OF_LEVELS - len(levels))][:ROWS_OF_LEVELS]

    def _posted(self, index: int) -> dict:
        names = ("value", "name", "meaning", "example")
        return {name: self.data.get(f"level-{index}-{name}", "").strip() for name in names}

    def clean(self) -> dict:
        """Read the rows of the scale and check that they form one."""
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
