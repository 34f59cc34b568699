"""The form that starts several runs at once: models × prompts × filters × wording."""

from itertools import product
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from annotation.corpus.models.questions import Argument
from annotation.generation.actions.launches import MOST_RUNS, Matrix, matrix_of
from annotation.generation.actions.prompts import WITH_ARGUMENTS

from .generation import BY_FAVOUR, BY_RELEVANCE, GenerationForm

WORDINGS: dict[str, dict[str, bool]] = {
    "both": {"uses_aspect": True, "uses_wording": True},
    "aspect": {"uses_aspect": True, "uses_wording": False},
    "wording": {"uses_aspect": False, "uses_wording": True},
    "neither": {"uses_aspect": False, "uses_wording": False},
}


class MatrixForm(GenerationForm):
    """As the form of one run, with several choices where a condition or a system differs."""

    uses_aspect = uses_wording = None

    endpoint = forms.ModelMultipleChoiceField(
        label=lazy("Endpoints"), queryset=None, widget=forms.CheckboxSelectMultiple
    )
    prompt = forms.ModelMultipleChoiceField(
        label=lazy("Scenarios"), queryset=None, widget=forms.CheckboxSelectMultiple
    )
    relevance = forms.MultipleChoiceField(
        label=GenerationForm.base_fields["relevance"].label,
        choices=BY_RELEVANCE,
        initial=["any"],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    favoured = forms.MultipleChoiceField(
        label=GenerationForm.base_fields["favoured"].label,
        choices=BY_FAVOUR,
        initial=["any"],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=GenerationForm.base_fields["favoured"].help_text,
    )
    wordings = forms.MultipleChoiceField(
        label=lazy("What of a question is shown"),
        choices=[
            ("both", lazy("Aspect and own wording, where it has them")),
            ("aspect", lazy("Its aspect, not its own wording")),
            ("wording", lazy("Its own wording, not its aspect")),
            ("neither", lazy("The two objects alone")),
        ],
        initial=["both"],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=lazy(
            "In the paper, answers to specific wordings left the choice to the reader more often "
            "(about 13 %)."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        prompt, endpoint = self.fields["prompt"], self.fields["endpoint"]
        # Arguments about something else than the questions ask would show nothing.
        has_arguments = Argument.objects.filter(
            comparison__study=self.study, comparison__questions__isnull=False
        ).exists()
        prompt.label = _("Scenarios")
        prompt.help_text = _("1 and 3 need no arguments; 2 and 4 show those of the study.")
        # One of each to begin with, as where only one can be chosen; one that has what it shows.
        for field, has_all in ((prompt, has_arguments), (endpoint, True)):
            if isinstance(field, forms.ModelChoiceField) and field.queryset is not None:
                rows = field.queryset
                first = (rows if has_all else rows.exclude(kind__in=WITH_ARGUMENTS)).first()
                field.initial = [first.pk] if first else []
        if not has_arguments:
            prompt.help_text += " " + _("No arguments about its questions are here yet.")

    def clean(self) -> dict[str, Any]:
        """Several combinations, and no more than anybody can look at."""
        data = super().clean()
        if not self.errors and self._count(data) > MOST_RUNS:
            text = _("These are %(found)d combinations; one launch takes %(most)d at most.")
            self.complain("prompt", text % {"found": self._count(data), "most": MOST_RUNS})
        return data

    def _axes(self, data: dict[str, Any]) -> list[list[Any]]:
        wordings = [WORDINGS[name] for name in data["wordings"] or ["both"]]
        filters = [data["relevance"] or ["any"], data["favoured"] or ["any"]]
        return [list(data["endpoint"]), list(data["prompt"]), *filters, wordings]

    def _count(self, data: dict[str, Any]) -> int:
        count = 1
        for axis in self._axes(data):
            count *= len(axis)
        return count

    @property
    def matrix(self) -> Matrix:
        """The runs that the choices make; combinations that say the same are one."""
        plans = []
        for endpoint, prompt, relevance, favoured, wording in product(
            *self._axes(self.cleaned_data)
        ):
            probe = {"relevance": relevance, "favoured": favoured, **wording}
            plans.append(self.plan_for(endpoint, prompt, self.target_for(prompt, probe)))
        data = self.cleaned_data
        return matrix_of(self.study, plans, cap_micro=data["cap"], name=data["name"])
