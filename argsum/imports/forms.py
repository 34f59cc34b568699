"""What a file of stored scores asks: which dataset it is about, and what its system is called."""

from typing import Any

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from argsum.imports.actions.entries import LONGEST_NAME, ORDER_NAMES
from cqa_site.people.models import Study
from cqa_site.web.choices import offer


class StoredScoresForm(forms.Form):
    """Dataset and system."""

    dataset: forms.ModelChoiceField = forms.ModelChoiceField(
        label=_("Dataset"), queryset=None, empty_label=None, to_field_name="name"
    )
    system = forms.CharField(
        label=_("Name of the system"),
        max_length=LONGEST_NAME,
        help_text=_("Of a file with runs of one system. Files with soft scores need none."),
    )

    order = forms.ChoiceField(
        label=_("Order of cluster ids"),
        required=False,
        choices=[
            ("", _("Sorted by key point, then text, if the ids show it")),
            # With the word that refusals, the API and the command use.
            *((key, format_lazy("{}: {}", key, name)) for key, name in ORDER_NAMES.items()),
        ],
        help_text=_(
            "Only of clusterings, whose ids stand for arguments that the file does not name. They "
            "are compared with the reference key points, and refused where they follow another "
            "order or do not show which."
        ),
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, dataset=study.argument_datasets.all())

    def clean_dataset(self) -> str:
        """A dataset is kept by its name."""
        return self.cleaned_data["dataset"].name
