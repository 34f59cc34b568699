"""Forms for a single run in which a model writes answers, and for a launch of several."""

from collections.abc import Mapping
from itertools import product
from typing import Any

from django import forms
from django.utils.translation import gettext as _, gettext_lazy as lazy

from annotation.answers.forms import LabelsField, label_choices
from annotation.answers.reports import whose_labels
from annotation.corpus.models import Argument
from annotation.generation.actions.answer_runs import KIND
from annotation.generation.actions.launches import MOST_RUNS, Matrix, matrix_of
from annotation.generation.actions.prompts import (
    ARGUMENTS,
    MOST_ARGUMENTS,
    MOST_CHOICES,
    SCENARIOS,
    WITH_ARGUMENTS,
    target_of,
)
from cqa_site.people.models import Study, User
from cqa_site.runs.forms.plan import RunPlanForm, differing
from cqa_site.runs.models import PromptVersion
from cqa_site.web.pages import offer

BY_RELEVANCE = [
    ("any", lazy("All, including unlabelled arguments")),
    ("3", lazy("Only label 3")),
    ("2-3", lazy("Labels 2 and 3")),
    ("0-1", lazy("Labels 0 and 1, to test with useless arguments")),
]
BY_FAVOUR = [
    ("any", lazy("All")),
    ("object1", lazy("Only arguments for the first object")),
    ("object2", lazy("Only arguments for the second object")),
]


class GenerationForm(RunPlanForm):
    kind = KIND
    prompt_kinds = tuple(SCENARIOS)
    chosen_by = "questions"
    advanced = ("wordings", "replicates", "labels", "most_arguments", *RunPlanForm.advanced)

    questions = forms.ChoiceField(
        label=lazy("Questions"),
        choices=[
            ("all", lazy("All in the study")),
            ("comparisons", lazy("Questions about the comparisons selected below")),
            ("sample", lazy("A random sample")),
        ],
        initial="all",
        widget=forms.RadioSelect,
    )
    comparisons: forms.ModelMultipleChoiceField = forms.ModelMultipleChoiceField(
        label=lazy("Comparisons"),
        queryset=None,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    uses_aspect: forms.Field | None = forms.BooleanField(
        label=lazy("Include the aspect, if the question has one"), required=False, initial=True
    )
    uses_wording: forms.Field | None = forms.BooleanField(
        label=lazy("Include the question’s own wording, if it has one"),
        required=False,
        initial=True,
        help_text=lazy(
            "In the paper, answers to specific wordings left the choice to the reader more often "
            "(about 13 %)."
        ),
    )
    relevance = forms.ChoiceField(
        label=lazy("Arguments by final label"), choices=BY_RELEVANCE, initial="any"
    )
    labels = LabelsField(
        help_text=lazy("Used if arguments are filtered by label. The run records the source.")
    )
    favoured = forms.ChoiceField(
        label=lazy("Arguments by the object they favour"),
        choices=BY_FAVOUR,
        initial="any",
        help_text=lazy(
            "A test for bias. A rule decides from the wording which object an argument "
            "favours. If it cannot decide, the argument is left out and counted."
        ),
    )
    most_arguments = forms.IntegerField(
        label=lazy("Maximum arguments per question"),
        initial=ARGUMENTS,
        min_value=1,
        max_value=MOST_ARGUMENTS,
        help_text=lazy(
            "If there are more, the seed selects which to use. It also sets their order."
        ),
    )
    prompt = differing("prompt", label=lazy("Scenario"))
    temperature = differing(
        "temperature",
        initial=None,
        help_text=lazy("Leave empty for the endpoint's default, as in the paper."),
    )
    max_tokens = differing(
        "max_tokens",
        initial=1_500,
        help_text=lazy(
            "300 words and a list of arguments take about 900 tokens; reasoning models need "
            "far more. A truncated reply is never used as an answer; the request is sent once "
            "more with twice the limit."
        ),
    )
    seed = differing(
        "seed",
        help_text=lazy(
            "Determines the sample, the arguments and their order, and the pre-flight requests."
        ),
    )
    reuse = differing(
        "reuse", help_text=lazy("Stored replies cost nothing. Clear this box to get new texts.")
    )
    replicates = forms.IntegerField(
        label=lazy("Answers per question"),
        initial=3,
        min_value=1,
        max_value=MOST_CHOICES,
        help_text=lazy("Each answer is a separate request with the same arguments."),
    )

    def __init__(self, *args: Any, study: Study, actor: User, **kwargs: Any) -> None:
        super().__init__(*args, study=study, actor=actor, **kwargs)
        offer(self, labels=label_choices(study))
        comparisons = study.comparisons.filter(questions__isnull=False).distinct()
        offer(self, comparisons=comparisons)

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if data.get("questions") == "comparisons" and not data.get("comparisons"):
            self.complain("comparisons", _("Choose at least one comparison."))
        return data

    @property
    def target(self) -> dict[str, Any]:
        """Selected questions, and the filters for arguments if the scenario shows arguments."""
        return self.target_for(self.cleaned_data["prompt"], self.cleaned_data)

    def target_for(self, prompt: PromptVersion, probe: Mapping[str, Any]) -> dict[str, Any]:
        """Return the target for a prompt, with these filters and wording options."""
        data = {**self.cleaned_data, **probe}
        chosen = data["comparisons"] if data["questions"] == "comparisons" else ()
        filters = {name: data[name] for name in ("relevance", "favoured", "most_arguments")}
        filters["labels"] = whose_labels(self.study, data["labels"])
        return target_of(
            questions=data["questions"],
            comparisons=[str(comparison.public_id) for comparison in chosen],
            sample=data["sample"] or 0 if data["questions"] == "sample" else 0,
            uses_aspect=data["uses_aspect"],
            uses_wording=data["uses_wording"],
            **(filters if prompt.kind in WITH_ARGUMENTS else {}),
        )


WORDINGS: dict[str, dict[str, bool]] = {
    "both": {"uses_aspect": True, "uses_wording": True},
    "aspect": {"uses_aspect": True, "uses_wording": False},
    "wording": {"uses_aspect": False, "uses_wording": True},
    "neither": {"uses_aspect": False, "uses_wording": False},
}


class MatrixForm(GenerationForm):
    """Form for several runs; each part of a condition or system can have several values."""

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
        label=lazy("Question content"),
        choices=[
            ("both", lazy("Aspect and the question's own wording, if any")),
            ("aspect", lazy("Aspect, without the question's own wording")),
            ("wording", lazy("The question's own wording, but not its aspect")),
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
        # Only arguments about a comparison with questions can be shown.
        has_arguments = Argument.objects.filter(
            comparison__study=self.study, comparison__questions__isnull=False
        ).exists()
        prompt.label = _("Scenarios")
        prompt.help_text = _(
            "Scenarios 1 and 3 need no arguments; scenarios 2 and 4 use the study's arguments."
        )
        # Preselect one scenario and one endpoint, as in the form for a single run; without
        # arguments, a scenario that shows none.
        for field, has_all in ((prompt, has_arguments), (endpoint, True)):
            if isinstance(field, forms.ModelChoiceField) and field.queryset is not None:
                rows = field.queryset
                first = (rows if has_all else rows.exclude(kind__in=WITH_ARGUMENTS)).first()
                field.initial = [first.pk] if first else []
        if not has_arguments:
            prompt.help_text += " " + _("The study has no arguments for its questions yet.")

    def clean(self) -> dict[str, Any]:
        """Validate the combinations and limit their number."""
        data = super().clean()
        if not self.errors and self._count(data) > MOST_RUNS:
            text = _(
                "You chose %(found)d combinations, but you can start at most %(most)d at once."
            )
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
        """Runs for all selected combinations; equivalent combinations are merged."""
        plans = []
        for endpoint, prompt, relevance, favoured, wording in product(
            *self._axes(self.cleaned_data)
        ):
            probe = {"relevance": relevance, "favoured": favoured, **wording}
            plans.append(self.plan_for(endpoint, prompt, self.target_for(prompt, probe)))
        data = self.cleaned_data
        return matrix_of(self.study, plans, cap_micro=data["cap"], name=data["name"])
