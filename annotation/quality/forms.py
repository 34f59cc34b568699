"""Forms for the quality pages: decisions and their reasons."""

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.labelling.models import Exclusion, LabelRound
from cqa_site.web.pages import offer


class ReasonForm(forms.Form):
    """Form for the logged reason to exclude or reinstate a rater."""

    reason = forms.CharField(
        label=_("Reason"),
        max_length=300,
        help_text=_("Recorded in the log with your name and the time."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class BelowForm(forms.Form):
    """Form for the control accuracy below which raters are excluded, and how it is measured."""

    below = forms.FloatField(label=_("Control accuracy below"), min_value=0, max_value=1)
    rule = forms.ChoiceField(label=_("Rule"), choices=Exclusion.Rule.choices)


class ControlChangeForm(ReasonForm):
    """Form for a control item's new known label; if empty, the item is retired."""

    RETIRE = "retire"
    label = forms.ChoiceField(label=_("Known label"), widget=forms.RadioSelect)
    field_order = ("label", "reason")

    def __init__(self, *args, label_round: LabelRound, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        levels = [(str(level["value"]), _level(level)) for level in label_round.guideline.levels]
        offer(self, label=[*levels, (self.RETIRE, _("Retire this control item"))])

    @property
    def new_label(self) -> int | None:
        """Chosen label, or None to retire the item."""
        chosen = self.cleaned_data["label"]
        return None if chosen == self.RETIRE else int(chosen)


def _level(level: dict) -> str:
    return f"{level['value']} · {level['name']}"
