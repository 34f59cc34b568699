"""Search form for the arguments in a study."""

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.corpus.models import Comparison
from cqa_site.web.pages import offer


class ArgumentSearchForm(forms.Form):
    """Form to search the arguments in a study."""

    q = forms.CharField(label=_("Sentence contains"), required=False, max_length=200)
    comparison = forms.ModelChoiceField(
        label=_("Comparison"),
        required=False,
        queryset=Comparison.objects.none(),
        to_field_name="public_id",
        empty_label=_("All comparisons"),
    )

    def __init__(self, *args, study, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        offer(self, comparison=study.comparisons.all())
