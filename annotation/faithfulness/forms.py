"""Forms for faithfulness: choice of embeddings, and answers for a coherence run."""

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as lazy

from annotation.answers.forms import (
    ConditionsField,
    ScenariosField,
    SystemsField,
    condition_choices,
)
from annotation.faithfulness.actions.coherence import KIND, target_of
from cqa_site.people.models import Study
from cqa_site.runs.forms.plan import RunPlanForm, differing
from cqa_site.web.pages import offer

# Enough for a short reason and a verdict; reasoning models need more.
MOST_TOKENS = 200


class FiguresForm(forms.Form):
    embedding = forms.ChoiceField(
        label=lazy("Sentence embeddings"),
        required=False,
        help_text=lazy(
            "Used to measure similarity of meaning. The operator can offer other models."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        models = [(name, name) for name in settings.EMBEDDING_MODELS]
        offer(self, embedding=[*models, ("", lazy("none: words and citations only"))])


class CoherenceForm(RunPlanForm):
    """Form for a coherence run: citations, judge and settings."""

    kind = KIND
    prompt_kinds = (KIND,)
    advanced = ("scenarios", "conditions", "replicates", *RunPlanForm.advanced)

    systems = SystemsField()
    scenarios = ScenariosField()
    conditions = ConditionsField()
    texts = forms.ChoiceField(
        label=lazy("Texts"),
        choices=[
            ("answers", lazy("Answers as written or imported")),
            ("edited", lazy("Experts' newest versions")),
            ("both", lazy("Both")),
        ],
        initial="answers",
        widget=forms.RadioSelect,
    )
    sample = forms.IntegerField(
        label=lazy("Random sample of texts"),
        required=False,
        min_value=1,
        max_value=1_000_000,
        help_text=lazy("Leave empty for all texts. Every citation of a sampled text is judged."),
    )

    replicates = differing("replicates", label=lazy("Verdicts per citation"))

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, study=study, **kwargs)
        offer(self, systems=study.systems.all(), conditions=condition_choices(study))
        self.fields["max_tokens"].initial = MOST_TOKENS

    @property
    def target(self) -> dict[str, Any]:
        data = self.cleaned_data
        return target_of(
            systems=(system.public_id for system in data["systems"]),
            scenarios=data["scenarios"],
            conditions=data["conditions"],
            texts=data["texts"],
            sample=data["sample"] or 0,
        )
