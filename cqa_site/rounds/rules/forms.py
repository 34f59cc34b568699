"""The form of a round's rules: a row of fields for each measure."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext_lazy as lazy

from cqa_site.web.pages import offer

from ..kind import kind_of
from ..progress import HASTY_SHARE
from .actions import RuleAction, actions_of
from .measures import FAST, LEAST_WINDOW, MEASURES, MOST_WINDOW, PARTS, AnswerMeasure


class RulesForm(forms.Form):
    """Action, window and threshold of each measure of the round's kind."""

    def __init__(self, data: Any = None, *, round_: Any) -> None:
        super().__init__(data, initial=values_of(round_))
        self.measures = [MEASURES[name] for name in kind_of(round_).measures(round_)]
        known = {f"{measure.name}_{part}" for measure in self.measures for part in PARTS}
        for name in [name for name in self.fields if name not in known]:
            del self.fields[name]
        actions = [(action.value, action.label) for action in actions_of(round_)]
        offer(self, **{f"{measure.name}_action": actions for measure in self.measures})

    def rows(self) -> Iterator[tuple[AnswerMeasure, list[BoundField]]]:
        """Yield each measure with its fields."""
        for measure in self.measures:
            names = [f"{measure.name}_{part}" for part in ("action", *PARTS[:-1])]
            yield measure, [self[name] for name in names if name in self.fields]

    def rules(self) -> dict[str, Any]:
        """Return the rules that are not off, as a round stores them."""
        return {
            measure.name: {
                part: self.cleaned_data.get(f"{measure.name}_{part}", measure.threshold)
                for part in PARTS
            }
            for measure in self.measures
            if self.cleaned_data[f"{measure.name}_action"] != RuleAction.OFF
        }


def values_of(round_: Any) -> dict[str, Any]:
    """Return initial values of the form: the stored rules, and defaults."""
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
    RulesForm.base_fields[f"{_measure.name}_window"] = forms.IntegerField(
        label=lazy("Last answers"),
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
