"""Choosing the conditions of answers; without a choice only the plain ones are meant."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.answers.reports.conditions import ALL, used_conditions
from cqa_site.people.models import Study

PLAIN_ONLY = _("Plain ones only")
MIXED = _("All, mixed with each other")


class ConditionsField(forms.MultipleChoiceField):
    """Some conditions of a study, or all of them."""

    widget = forms.CheckboxSelectMultiple

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

    def __init__(self, **kwargs) -> None:
        usual: dict[str, Any] = {"label": _("Only condition"), "required": False}
        super().__init__(**usual | kwargs)


def condition_choices(study: Study) -> list[tuple[str, Any]]:
    """The study's conditions, and all of them."""
    return [*((str(each.public_id), each.name) for each in used_conditions(study)), (ALL, MIXED)]


def one_condition(study: Study) -> list[tuple[str, Any]]:
    """The plain ones, or one of these."""
    return [("", PLAIN_ONLY), *condition_choices(study)]
