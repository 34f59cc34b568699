"""The form for computing metrics of summary sets."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as lazy

from argsum.datasets.models import Cell
from argsum.metrics.actions.metrics import CHOICES, MetricPlan, MetricsRefused, SetSelection
from argsum.metrics.methods import ROUGE, title_of
from argsum.scorers.actions.scorers import first_scorers
from argsum.scorers.models import Scorer
from cqa_site.judging.embedding import PACKAGED_MODEL
from cqa_site.people.models import Study
from cqa_site.web.pages import offer


class MetricsForm(forms.Form):
    functions = forms.MultipleChoiceField(
        label=lazy("Metrics"),
        choices=[(name, title_of(name)) for name in CHOICES],
        initial=[*ROUGE],
        widget=forms.CheckboxSelectMultiple,
        help_text=lazy("Soft precision, recall and F1 are stored for each similarity."),
    )
    dataset: forms.ModelChoiceField = forms.ModelChoiceField(
        label=lazy("Dataset"), queryset=None, required=False, empty_label=lazy("all")
    )
    split = forms.ChoiceField(
        label=lazy("Split"),
        choices=[("", lazy("all")), *[option for option in Cell.Split.choices if option[0]]],
        required=False,
    )
    scorer: forms.ModelChoiceField = forms.ModelChoiceField(
        label=lazy("Match scorer"),
        queryset=None,
        required=False,
        empty_label=None,
        help_text=lazy("For embedding cosine and Coverage Score."),
    )
    threshold = forms.FloatField(
        label=lazy("Coverage Score threshold"),
        required=False,
        min_value=-1,
        max_value=1,
        help_text=lazy(
            "A pair with a higher score is a match. Default: the scorer's own threshold."
        ),
    )
    model = forms.CharField(
        label=lazy("BERTScore model"),
        required=False,
        max_length=150,
        initial=PACKAGED_MODEL,
        help_text=lazy(
            "The name of the built-in model, of a folder in “models” in the data folder, "
            "or of another model."
        ),
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        first_scorers(study)
        offer(self, dataset=study.argument_datasets.all())
        scorers = study.scorers.filter(task=Scorer.Task.MATCH, state=Scorer.State.READY)
        offer(self, scorer=scorers)

    def clean(self) -> dict[str, Any]:
        """Check fields that depend on each other."""
        data = super().clean() or {}
        if not self.errors:
            try:
                self.plan  # noqa: B018  says why it cannot be one
            except MetricsRefused as problem:
                raise forms.ValidationError(str(problem)) from None
        return data

    @property
    def plan(self) -> MetricPlan:
        """Metrics to compute."""
        data = self.cleaned_data
        return MetricPlan(
            tuple(data["functions"]),
            data["scorer"],
            data["threshold"],
            data["model"].strip() or PACKAGED_MODEL,
        )

    @property
    def choice(self) -> SetSelection:
        """Sets to compute the metrics for."""
        data = self.cleaned_data
        dataset = str(data["dataset"].public_id) if data["dataset"] else ""
        return SetSelection(dataset, data["split"])
