"""The form for a round's rules, with a row of fields for each measure."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext as _, gettext_lazy as lazy

from cqa_site.web.pages import offer
from ..kind import kind_of
from ..progress import HASTY_SHARE
from .actions import RuleAction, actions_of
from .measures import FAST, LEAST_WINDOW, MEASURES, MOST_WINDOW, AnswerMeasure

LEAST_FALL = 0.05


class RulesForm(forms.Form):
    """The action, window and threshold for each measure of the round's kind."""

    def __init__(self, data: Any = None, *, round_: Any) -> None:
        super().__init__(data, initial=values_of(round_))
        self.measures = [MEASURES[name] for name in kind_of(round_).measures(round_)]
        known = {f"{measure.name}_{part}" for measure in self.measures for part in measure.parts}
        for name in [name for name in self.fields if name not in known]:
            del self.fields[name]
        for measure in self.measures:
            actions = [(action.value, action.label) for action in actions_of(round_, measure.name)]
            offer(self, **{f"{measure.name}_action": actions})

    def clean(self) -> dict[str, Any]:
        """Check that the accuracy after a fall is lower than the accuracy before it."""
        data = super().clean() or self.cleaned_data
        if data.get("fall_threshold", 0) > data.get("fall_usual", 1) - LEAST_FALL:
            text = _("Must be at least 0.05 below the usual accuracy.")
            self.add_error("fall_threshold", text)
        return data

    def rows(self) -> Iterator[tuple[AnswerMeasure, list[BoundField]]]:
        """Yield each measure with its fields."""
        for measure in self.measures:
            parts = ("action", "window", "threshold", "usual")
            names = [f"{measure.name}_{part}" for part in parts]
            yield measure, [self[name] for name in names if name in self.fields]

    def rules(self) -> dict[str, Any]:
        """Return the rules that are not off, in the format stored by a round."""
        return {
            measure.name: {
                part: self.cleaned_data.get(f"{measure.name}_{part}", getattr(measure, part, None))
                for part in measure.parts
            }
            for measure in self.measures
            if self.cleaned_data[f"{measure.name}_action"] != RuleAction.OFF
        }


def values_of(round_: Any) -> dict[str, Any]:
    """Return the initial values of the form from the stored rules and the defaults."""
    usual = {name: field.initial for name, field in RulesForm.base_fields.items()}
    if seconds := getattr(kind_of(round_).own(round_), "expected_seconds", None):
        usual[f"{FAST}_threshold"] = round(HASTY_SHARE * seconds, 1)
    stored = {
        f"{name}_{part}": value
        for name, rule in round_.rules.items()
        for part, value in rule.items()
    }
    return usual | stored


for _measure in MEASURES.values():
    RulesForm.base_fields[f"{_measure.name}_action"] = forms.ChoiceField(
        label=lazy("Action"), choices=RuleAction.choices, initial=RuleAction.OFF.value
    )
    if _measure.window:
        RulesForm.base_fields[f"{_measure.name}_window"] = forms.IntegerField(
            label=str(_measure.window_title),
            min_value=LEAST_WINDOW,
            max_value=MOST_WINDOW,
            initial=_measure.window,
        )
    if _measure.limits:
        RulesForm.base_fields[f"{_measure.name}_threshold"] = forms.FloatField(
            label=str(_measure.threshold_title),
            min_value=_measure.limits[0],
            max_value=_measure.limits[1],
            initial=_measure.threshold,
        )
    if _measure.usual:
        RulesForm.base_fields[f"{_measure.name}_usual"] = forms.FloatField(
            label=lazy("Usual accuracy"), min_value=0.1, max_value=0.99, initial=_measure.usual
        )
