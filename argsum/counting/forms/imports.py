"""What a file of counts asks: into which dataset its sets go, and whose the counts are."""

from django import forms
from django.utils.translation import gettext_lazy as _

from argsum.counting.imports.entries import LONGEST_NAME


class CountImportForm(forms.Form):
    """Dataset and rater."""

    dataset = forms.CharField(
        label=_("Name of the dataset"),
        max_length=LONGEST_NAME,
        help_text=_(
            "Topics are found in it by their text and stance. A dataset that does not exist is "
            "made, with the topics and references of the file and without arguments."
        ),
    )
    rater = forms.CharField(
        label=_("Whose counts"),
        max_length=LONGEST_NAME,
        help_text=_("A short name that says nothing about the person, such as A1."),
    )
    references = forms.ChoiceField(
        label=_("References worded otherwise than in the dataset"),
        required=False,
        choices=[
            ("", _("Taken where it is clear which is which; the dry run names them")),
            ("same", _("Refused")),
            ("order", _("Taken in the order of the file: the first for the first")),
        ],
    )
