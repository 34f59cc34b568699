"""Choosing systems, scenarios and conditions; without a choice, all, but plain conditions only."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.answers.models.answers import Answer, System
from annotation.answers.reports.conditions import ALL, used_conditions
from cqa_site.people.models import Study

ALL_MEANT = _("None chosen means all.")
PLAIN_ONLY = _("Plain ones only")
MIXED = _("All, mixed with each other")


class SystemsField(forms.ModelMultipleChoiceField):
    """Some systems of a study."""

    widget = forms.CheckboxSelectMultiple

    def __init__(self, **kwargs) -> None:
        usual: dict[str, Any] = {"label": _("Systems"), "required": False, "help_text": ALL_MEANT}
        super().__init__(System.objects.none(), **usual | kwargs)


class ScenariosField(forms.TypedMultipleChoiceField):
    """Some scenarios, as numbers."""

    widget = forms.CheckboxSelectMultiple

    def __init__(self, **kwargs) -> None:
        usual: dict[str, Any] = {
            "label": _("Scenarios"),
            "required": False,
            "help_text": ALL_MEANT,
        }
        super().__init__(choices=Answer.Scenario.choices, coerce=int, **usual | kwargs)


class ConditionsField(forms.MultipleChoiceField):
    """Some conditions of a study, or all of them."""

    widget = forms.CheckboxSelectMultiple
    # Of ids; and what a program sends.
    longest = 36
    sent = "The ids of conditions, or all."

    def __init__(self, **kwargs) -> None:
        usual: dict[str, Any] = {
            "label": _("Only conditions"),
            "required": False,
            "help_text": _(
                "None chosen means the plain ones: answers written with filters of arguments or "
                "with less of the question are left out, because mixed they say nothing about "
                "either."
            ),
        }
        super().__init__(**usual | kwargs)


class ConditionField(forms.ChoiceField):
    """One condition of a study, the plain ones, or all."""

    longest = 36
    sent = "The id of a condition, or all; empty for the plain ones."

    def __init__(self, **kwargs) -> None:
        usual: dict[str, Any] = {"label": _("Only condition"), "required": False}
        super().__init__(**usual | kwargs)


def condition_choices(study: Study) -> list[tuple[str, Any]]:
    """The study's conditions, and all of them."""
    return [*((str(each.public_id), each.name) for each in used_conditions(study)), (ALL, MIXED)]


def one_condition(study: Study) -> list[tuple[str, Any]]:
    """The plain ones, or one of these."""
    return [("", PLAIN_ONLY), *condition_choices(study)]
