"""Forms for files of stored scores: dataset and system name."""

from typing import Any

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from argsum.datasets.forms import ExistingDatasetForm
from argsum.datasets.models import Cell
from argsum.imports.actions.key_points import NO_ORDER
from argsum.imports.actions.placement import LONGEST_NAME, ORDER_NAMES
from argsum.scorers.models import Scorer
from cqa_site.people.models import Study

ORDERS = [
    # Contains the term that error messages, the API and the command use.
    (key, format_lazy("{}: {}", key, name))
    for key, name in ORDER_NAMES.items()
]


class StoredScoresForm(ExistingDatasetForm):
    system = forms.CharField(
        label=_("System name"),
        max_length=LONGEST_NAME,
        help_text=_("For files with runs of one system. Not needed for soft scores."),
    )

    order = forms.ChoiceField(
        label=_("Order of cluster ids"),
        required=False,
        choices=[("", _("By key point, then by text, if the ids confirm this order")), *ORDERS],
        help_text=_(
            "Only for clusterings, whose ids refer to arguments that the file does not "
            "name. The ids are checked against the reference key points, and rejected if "
            "they follow another order or the order is unclear."
        ),
    )


class SystemKeyPointsForm(ExistingDatasetForm):
    """Dataset and system of key points, and data that the file may lack."""

    system = forms.CharField(
        label=_("System name"),
        max_length=LONGEST_NAME,
        help_text=_("For rows without a system name. A “system” column takes precedence."),
    )
    topic = forms.CharField(
        label=_("Topic"),
        required=False,
        max_length=500,
        help_text=_("Only for files without topics, such as a plain list."),
    )
    stance = forms.ChoiceField(
        label=_("Stance"),
        required=False,
        choices=[
            ("", _("As in the file")),
            *((str(key), name) for key, name in Cell.Stance.choices),
        ],
    )
    scorer = forms.ChoiceField(
        label=_("Match arguments by"),
        required=False,
        help_text=_(
            "Arguments are matched in the background, for key points without arguments in "
            "the file."
        ),
    )
    order = forms.ChoiceField(
        label=_("Order of ids"),
        required=False,
        choices=[
            ("", _("Detect automatically")),
            *ORDERS,
            (NO_ORDER, _("Ignore the ids and match the arguments")),
        ],
        help_text=_(
            "Only for released summary files, whose “sum_ids” refer to arguments by number."
        ),
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, study=study, **kwargs)
        ready = study.scorers.filter(task=Scorer.Task.MATCH, state=Scorer.State.READY)
        names = [(name, name) for name in ready.values_list("name", flat=True)]
        choices = [("", _("Default match scorer")), *names, ("none", _("Do not match now"))]
        self.fields["scorer"].choices = choices  # type: ignore[attr-defined]
