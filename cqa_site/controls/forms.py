"""Forms of a known answer and of how far a right answer may be from it."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from cqa_site.rounds.kind import sheet_kind_of


class KnownForm(forms.Form):
    """The known answer of an item, with the fields of the round's kind."""

    def __init__(self, data: Any = None, *, round_: Any, known: Any = None) -> None:
        super().__init__(data, initial=known)
        self.fields |= sheet_kind_of(round_).answer_fields(round_)


class ToleranceForm(forms.Form):
    """How far an answer may be from the known one; only of kinds whose answers are numbers."""

    tolerance = forms.FloatField(
        label=lazy("Tolerance"), min_value=0, max_value=1_000, required=False
    )

    def __init__(self, data: Any = None, *, round_: Any) -> None:
        super().__init__(data, initial={"tolerance": round_.control_tolerance})
        self.has_tolerance = sheet_kind_of(round_).tolerance is not None
        self.fields["tolerance"].help_text = str(sheet_kind_of(round_).tolerance_text)

    def clean_tolerance(self) -> float | None:
        """Check that the answers are numbers: any tolerance would make every choice right."""
        tolerance: float | None = self.cleaned_data["tolerance"]
        if tolerance is not None and not self.has_tolerance:
            raise forms.ValidationError(_("An answer of this kind is the known one or is wrong."))
        return tolerance
