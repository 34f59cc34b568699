"""Forms for a known answer and for the tolerance of a round."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _, gettext_lazy as lazy

from cqa_site.rounds.examples import WHERE
from cqa_site.rounds.kind import sheet_kind_of

LONGEST_NOTE = 500


class KnownForm(forms.Form):
    """The known answer to an item, with the fields of the round's kind."""

    def __init__(self, data: Any = None, *, round_: Any, item: Any = None) -> None:
        known: Any = item and item.known_answer
        if item is not None and known is None:
            known = sheet_kind_of(round_).proposed_answer(round_, item)
        super().__init__(data, initial=dict(known or {}))
        self.parts = sheet_kind_of(round_).answer_fields(round_)
        self.fields |= self.parts

    @property
    def values(self) -> dict[str, Any]:
        """The known answer, as keyword arguments of the action that stores it."""
        return {"known": {name: self.cleaned_data[name] for name in self.parts}}


class ExampleForm(KnownForm):
    """A known answer with a reason for each part, and the relevant place in the guideline."""

    where = forms.CharField(
        label=lazy("Reference to the guideline"), max_length=LONGEST_NOTE, required=False
    )

    def __init__(self, data: Any = None, *, round_: Any, item: Any = None) -> None:
        super().__init__(data, round_=round_, item=item)
        notes: Any = item.key_notes if item else {}
        reasons = {f"why-{name}": text for name, text in notes.items()}
        self.initial = {**self.initial, **reasons, WHERE: notes.get(WHERE, "")}
        for name in self.parts:
            label = _("Reason for %s") % name if len(self.parts) > 1 else _("Reason")
            box = forms.Textarea({"rows": 2})
            why = forms.CharField(label=label, max_length=LONGEST_NOTE, required=False, widget=box)
            self.fields[f"why-{name}"] = why

    @property
    def rows(self) -> list[tuple[forms.BoundField, forms.BoundField]]:
        """Each part of the answer with its reason."""
        return [(self[name], self[f"why-{name}"]) for name in self.parts]

    @property
    def values(self) -> dict[str, Any]:
        """The answer, the reasons by part, and the place in the guideline, without empty notes."""
        texts = {name: self.cleaned_data[f"why-{name}"] for name in self.parts}
        texts |= {WHERE: self.cleaned_data[WHERE]}
        return super().values | {"notes": {name: text for name, text in texts.items() if text}}


class ToleranceForm(forms.Form):
    """The tolerance for right answers, only for kinds with numeric answers."""

    tolerance = forms.FloatField(
        label=lazy("Tolerance"), min_value=0, max_value=1_000, required=False
    )

    def __init__(self, data: Any = None, *, round_: Any) -> None:
        super().__init__(data, initial={"tolerance": round_.control_tolerance})
        self.has_tolerance = sheet_kind_of(round_).tolerance is not None
        self.fields["tolerance"].help_text = str(sheet_kind_of(round_).tolerance_text)

    def clean_tolerance(self) -> float | None:
        """Refuse a tolerance for choices, because it would make every choice right."""
        tolerance: float | None = self.cleaned_data["tolerance"]
        if tolerance is not None and not self.has_tolerance:
            raise forms.ValidationError(
                _("Leave this field empty, because answers of this kind have no tolerance.")
            )
        return tolerance
