"""What fields of a form choose among, where that is known only when the form is made."""

from typing import Any

from django.forms import BaseForm, ChoiceField, ModelChoiceField


def offer(form: BaseForm, **offered: Any) -> None:
    """Let fields choose among rows, or among pairs of a value and its words."""
    for name, among in offered.items():
        match form.fields[name]:
            case ModelChoiceField() as field:
                field.queryset = among
            case ChoiceField() as field:
                field.choices = among
            case _:
                raise TypeError(f"{name} is no field to choose in")
