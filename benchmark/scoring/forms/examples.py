"""The key of an example: points and a reason for every criterion."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _

from benchmark.rubrics.methods.rubric import Rubric

from .scoring import LONGEST_NOTE


class KeyForm(forms.Form):
    """One field of points and one of words for each criterion of a rubric."""

    def __init__(self, *args, rubric: Rubric, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.rubric = rubric
        for criterion in rubric.criteria:
            levels = [
                (str(each.points), f"{each.points}: {each.text}") for each in criterion.levels
            ]
            self.fields[f"points-{criterion.key}"] = forms.ChoiceField(
                label=_("Points for %s") % criterion.key,
                choices=[("", _("Choose")), *levels],
            )
            self.fields[f"note-{criterion.key}"] = forms.CharField(
                label=_("Why, for %s") % criterion.key, required=False, max_length=LONGEST_NOTE
            )

    def rows(self) -> list[dict[str, Any]]:
        """Each criterion with its two fields."""
        return [
            {
                "criterion": criterion,
                "points": self[f"points-{criterion.key}"],
                "note": self[f"note-{criterion.key}"],
            }
            for criterion in self.rubric.criteria
        ]

    def key_points(self) -> dict[str, float]:
        """Criterion → points."""
        return {key: int(self.cleaned_data[f"points-{key}"]) for key in self.rubric.keys}

    def key_notes(self) -> dict[str, str]:
        """Criterion → why; only those with words."""
        notes = {key: self.cleaned_data[f"note-{key}"] for key in self.rubric.keys}
        return {key: text for key, text in notes.items() if text}
