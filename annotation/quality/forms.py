"""Forms of the quality pages: decisions with their reasons."""

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.labelling.models.campaigns import Campaign, Exclusion
from cqa_site.web.pages import offer


class ReasonForm(forms.Form):
    """Why a rater is excluded or reinstated; goes into the log."""

    reason = forms.CharField(
        label=_("Reason"),
        max_length=300,
        help_text=_("Recorded in the log with your name and the time."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class BelowForm(forms.Form):
    """Below which control accuracy everybody is left out, and what that is measured by."""

    below = forms.FloatField(label=_("Control accuracy below"), min_value=0, max_value=1)
    rule = forms.ChoiceField(label=_("Rule"), choices=Exclusion.Rule.choices)


class ControlChangeForm(ReasonForm):
    """Another known label for a control item, or none: the item is retired."""

    RETIRE = "retire"
    label = forms.ChoiceField(label=_("Known label"), widget=forms.RadioSelect)
    field_order = ("label", "reason")

    def __init__(self, *args, campaign: Campaign, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        levels = [(str(level["value"]), _level(level)) for level in campaign.guideline.levels]
        offer(self, label=[*levels, (self.RETIRE, _("Retire this control item"))])

    @property
    def new_label(self) -> int | None:
        """The label chosen; None to retire."""
        chosen = self.cleaned_data["label"]
        return None if chosen == self.RETIRE else int(chosen)


def _level(level: dict) -> str:
    return f"{level['value']} · {level['name']}"
