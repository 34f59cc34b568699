"""Form field for the final labels that a figure or a run uses."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from annotation.answers.methods.conditions import NEWEST
from annotation.answers.reports import labelled_rounds, labels_name
from cqa_site.people.models import Study


class LabelsField(forms.ChoiceField):
    """Choice of labels: the study's choice, one round's, or the newest of each sentence."""

    # Of ids; and what a program sends.
    longest = 36
    sent = "The id of a round, or newest; empty for the study's choice."

    def __init__(self, **kwargs) -> None:
        usual: dict[str, Any] = {"label": lazy("Labels from"), "required": False}
        super().__init__(**usual | kwargs)


def label_choices(study: Study) -> list[tuple[str, str]]:
    """Return the choices of labels as (value, name), the study's own choice first."""
    named = [
        (str(label_round.public_id), label_round.name) for label_round in labelled_rounds(study)
    ]
    return [
        ("", _("Study's choice: %s") % labels_name(study)),
        *named,
        (NEWEST, _("Each sentence's newest")),
    ]
