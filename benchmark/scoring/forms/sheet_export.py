"""What an export of score sheets holds."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.answers.forms.conditions import ConditionsField, condition_choices
from annotation.answers.reports.conditions import ALL
from benchmark.rubrics.models import RubricVersion
from cqa_site.people.models import Study
from cqa_site.web.choices import offer

FORMATS = {"csv": "CSV", "jsonl": "JSON Lines", "parquet": "Parquet"}


class SheetExportForm(forms.Form):
    """Which sheets, in which format."""

    rubric = forms.ModelChoiceField(
        label=_("Scored by the rubric"),
        queryset=RubricVersion.objects.none(),
        to_field_name="public_id",
        empty_label=None,
    )
    sheets = forms.ChoiceField(
        label=_("Which sheets"),
        choices=[
            ("counted", _("Those that count")),
            ("all", _("All that were submitted, also void, extra and example ones")),
        ],
    )
    conditions = ConditionsField(
        label=_("Only of answers under"), help_text=_("None chosen means all.")
    )
    format = forms.ChoiceField(label=_("Format"), choices=list(FORMATS.items()))
    with_texts = forms.BooleanField(
        label=_("With the texts of the answers"),
        required=False,
        help_text=_("Needed only to import the file into another study."),
    )
    is_raw = forms.BooleanField(
        label=_("CSV without protection against formulas in spreadsheets"), required=False
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, rubric=study.rubric_versions.order_by("name", "-number"))
        offer(self, conditions=condition_choices(study))

    def clean_conditions(self) -> list[str]:
        """A file leaves nothing out in silence: without a choice it has every condition."""
        return self.cleaned_data["conditions"] or [ALL]
