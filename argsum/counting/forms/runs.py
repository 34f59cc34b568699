"""The form of a run in which a model counts covered references or unique key points."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as lazy

from argsum.counting.actions.judge import KIND, REPLIES, TEMPERATURE
from argsum.counting.actions.prompts import COVERAGE, UNIQUENESS
from argsum.counting.actions.targets import target_of
from argsum.datasets.models import Cell
from cqa_site.people.models import Study
from cqa_site.runs.forms.plan import PlanForm, differing
from cqa_site.web.choices import offer

# Room to name each reference before the count.
MOST_TOKENS = 800


class CountingRunForm(PlanForm):
    """Which sets are counted, by whom and how often."""

    kind = KIND
    prompt_kinds = (COVERAGE, UNIQUENESS)

    choice = forms.ChoiceField(
        label=lazy("Which sets"),
        choices=[
            ("all", lazy("All with key points and references")),
            ("judged", lazy("Those that people judged")),
            ("sample", lazy("A random sample")),
        ],
        initial="all",
        widget=forms.RadioSelect,
    )
    dataset: forms.ModelChoiceField = forms.ModelChoiceField(
        label=lazy("Dataset"), queryset=None, required=False, empty_label=lazy("all")
    )
    split = forms.ChoiceField(
        label=lazy("Split"),
        choices=[("", lazy("all")), *[each for each in Cell.Split.choices if each[0]]],
        required=False,
    )
    systems = forms.MultipleChoiceField(
        label=lazy("Systems"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=lazy("None chosen means all."),
    )

    replicates = differing("replicates", label=lazy("Replies for each set"), initial=REPLIES)
    temperature = differing(
        "temperature",
        initial=TEMPERATURE,
        help_text=lazy(
            "At 0 all replies are alike and their mean says little more than one of them."
        ),
    )
    max_tokens = differing(
        "max_tokens",
        initial=MOST_TOKENS,
        help_text=lazy(
            "Room for a few words about each reference before the count. A cut reply is asked "
            "for once more with twice as many."
        ),
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, study=study, **kwargs)
        offer(self, dataset=study.argument_datasets.all())
        names = study.summary_sets.order_by("system").values_list("system", flat=True).distinct()
        offer(self, systems=[(name, name) for name in names])

    @property
    def target(self) -> dict[str, Any]:
        """What the run is about, as its spec keeps it."""
        data = self.cleaned_data
        return target_of(
            dataset=str(data["dataset"].public_id) if data["dataset"] else "",
            split=data["split"],
            systems=data["systems"],
            choice=data["choice"],
            sample=data["sample"] or 0,
        )
