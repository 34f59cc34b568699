"""The form of a run in which a model writes answers."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from annotation.answers.forms.labels import LabelsField, label_choices
from annotation.answers.reports.argument_lists import whose_labels
from annotation.generation.actions.argument_drawing import MOST_ARGUMENTS
from annotation.generation.actions.kind import KIND
from annotation.generation.actions.prompts import SCENARIOS, WITH_ARGUMENTS
from annotation.generation.actions.targets import ARGUMENTS, MOST_CHOICES, target_of
from cqa_site.people.models import Study, User
from cqa_site.runs.forms.plan import PlanForm, differing
from cqa_site.runs.models import PromptVersion
from cqa_site.web.choices import offer

BY_RELEVANCE = [
    ("any", lazy("All, also those without a label")),
    ("3", lazy("Only label 3")),
    ("2-3", lazy("Labels 2 and 3")),
    ("0-1", lazy("Labels 0 and 1, a probe with useless arguments")),
]
BY_FAVOUR = [
    ("any", lazy("All")),
    ("object1", lazy("Only those for the first object")),
    ("object2", lazy("Only those for the second object")),
]


class GenerationForm(PlanForm):
    """Which questions are answered, under which scenario, from which arguments, by what."""

    kind = KIND
    prompt_kinds = tuple(SCENARIOS)
    chosen_by = "questions"

    questions = forms.ChoiceField(
        label=lazy("Which questions"),
        choices=[
            ("all", lazy("All of the study")),
            ("comparisons", lazy("Those of the comparisons chosen below")),
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
        label=lazy("Name the aspect of a question that has one"), required=False, initial=True
    )
    uses_wording: forms.Field | None = forms.BooleanField(
        label=lazy("Show a question's own wording where it has one"),
        required=False,
        initial=True,
        help_text=lazy(
            "In the paper, answers to specific wordings left the choice to the reader more often "
            "(about 13 %)."
        ),
    )
    relevance = forms.ChoiceField(
        label=lazy("Arguments by final label"),
        choices=BY_RELEVANCE,
        initial="any",
    )
    labels = LabelsField(
        help_text=lazy("Counts where arguments are filtered by label; the run keeps whose it was.")
    )
    favoured = forms.ChoiceField(
        label=lazy("Arguments by the object they favour"),
        choices=BY_FAVOUR,
        initial="any",
        help_text=lazy(
            "A probe for bias. A rule decides by the wording; where it cannot tell, the argument "
            "is left out and counted."
        ),
    )
    most_arguments = forms.IntegerField(
        label=lazy("Most arguments for a question"),
        initial=ARGUMENTS,
        min_value=1,
        max_value=MOST_ARGUMENTS,
        help_text=lazy("If there are more, the seed draws which. It also draws their order."),
    )
    prompt = differing("prompt", label=lazy("Scenario"))
    temperature = differing(
        "temperature",
        initial=None,
        help_text=lazy("Empty leaves it to the endpoint, as the paper did."),
    )
    max_tokens = differing(
        "max_tokens",
        initial=1_500,
        help_text=lazy(
            "300 words and a list of arguments take about 900; models that think aloud need far "
            "more. A cut reply is asked for once more with twice as many, and is never an answer."
        ),
    )
    seed = differing(
        "seed",
        help_text=lazy(
            "Draws the sample, the arguments with their order, and the requests of the pre-flight."
        ),
    )
    reuse = differing("reuse", help_text=lazy("Costs nothing. Leave it out to get fresh texts."))
    replicates = forms.IntegerField(
        label=lazy("Answers to each question"),
        initial=3,
        min_value=1,
        max_value=MOST_CHOICES,
        help_text=lazy("Each is a request of its own over the same arguments."),
    )

    def __init__(self, *args: Any, study: Study, actor: User, **kwargs: Any) -> None:
        super().__init__(*args, study=study, actor=actor, **kwargs)
        offer(self, labels=label_choices(study))
        asked = study.comparisons.filter(questions__isnull=False).distinct()
        offer(self, comparisons=asked)

    def clean(self) -> dict[str, Any]:
        """What several fields decide together."""
        data = super().clean()
        if data.get("questions") == "comparisons" and not data.get("comparisons"):
            self.complain("comparisons", _("Choose at least one comparison."))
        return data

    @property
    def target(self) -> dict[str, Any]:
        """Which questions, and which arguments where the scenario shows any."""
        return self.target_for(self.cleaned_data["prompt"], self.cleaned_data)

    def target_for(self, prompt: PromptVersion, probe: Mapping[str, Any]) -> dict[str, Any]:
        """The target under a prompt with these filters and this wording."""
        data = {**self.cleaned_data, **probe}
        chosen = data["comparisons"] if data["questions"] == "comparisons" else ()
        filters = {name: data[name] for name in ("relevance", "favoured", "most_arguments")}
        filters["labels"] = whose_labels(self.study, data["labels"])
        return target_of(
            questions=data["questions"],
            comparisons=[str(one.public_id) for one in chosen],
            sample=data["sample"] or 0 if data["questions"] == "sample" else 0,
            uses_aspect=data["uses_aspect"],
            uses_wording=data["uses_wording"],
            **(filters if prompt.kind in WITH_ARGUMENTS else {}),
        )
