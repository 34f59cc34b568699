"""The form of a counting round."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as lazy

from argsum.counting.actions.guide import GUIDE
from argsum.counting.actions.kind import COUNTING
from argsum.counting.actions.rounds import ALL, MOST_SETS, ONE, Plan, drawn_sets, plan_round
from argsum.datasets.models import Cell, Dataset
from cqa_site.people.models import Study
from cqa_site.rounds.forms.extent import Extent
from cqa_site.rounds.forms.plan import PlanForm
from cqa_site.rounds.progress import seconds_each
from cqa_site.web.choices import offer

PER_CELL = [
    (ONE, lazy("One of every system and cell, drawn among its settings")),
    (ALL, lazy("Every set that matches")),
]


class RoundForm(PlanForm):
    """Everything that a draft round decides."""

    kind = COUNTING
    planned = staticmethod(plan_round)
    groups = (
        (
            lazy("Which sets"),
            (
                ("dataset", "split"),
                ("systems",),
                ("per_cell", "setting"),
                ("size", "seed"),
                ("leave_out_used",),
            ),
        ),
        (
            lazy("How they are judged"),
            (("raters", "lease_minutes"), ("repeat_share",), ("instructions",)),
        ),
    )

    dataset = forms.ModelChoiceField(
        label=lazy("Dataset"),
        queryset=Dataset.objects.none(),
        to_field_name="public_id",
        required=False,
        empty_label=lazy("All datasets"),
    )
    split = forms.ChoiceField(
        label=lazy("Split"),
        choices=[("", lazy("Any split")), *Cell.Split.choices[1:]],
        required=False,
    )
    systems = forms.MultipleChoiceField(
        label=lazy("Only sets of"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=lazy("None chosen means all systems."),
    )
    setting = forms.CharField(
        label=lazy("Only settings that contain"),
        max_length=200,
        required=False,
        help_text=lazy("For example “threshold=0.5”. Empty means any."),
    )
    per_cell = forms.ChoiceField(label=lazy("Which sets"), choices=PER_CELL, initial=ONE)
    size = forms.IntegerField(
        label=lazy("How many sets"),
        required=False,
        min_value=1,
        max_value=MOST_SETS,
        help_text=lazy("Empty takes all of these; a number draws so many of them at random."),
    )
    leave_out_used = forms.BooleanField(
        label=lazy("Leave out sets that another round holds"), required=False
    )
    raters = forms.IntegerField(
        label=lazy("People who judge each set"),
        min_value=1,
        max_value=20,
        initial=3,
        help_text=lazy("With one there is no agreement to look at."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        study = self.study
        offer(self, dataset=study.argument_datasets.all())
        names = study.summary_sets.order_by("system").values_list("system", flat=True).distinct()
        offer(self, systems=[(name, name) for name in names])

    @classmethod
    def usual(cls, study: Study) -> dict[str, Any]:
        """The paper's questions."""
        return {"instructions": GUIDE}

    def plan(self) -> Plan:
        """The cleaned fields as the action takes them."""
        data = {"name": "", **self.cleaned_data}
        data["systems"] = tuple(data["systems"])
        return Plan(**data)

    def measure(self) -> Extent:
        """The sets that would be drawn, each for so many people."""
        plan = self.plan()
        drawn, _found = drawn_sets(study=self.study, plan=plan, round_=self.round)
        return Extent(
            items=len(drawn),
            answers=len(drawn) * plan.raters,
            people=plan.raters,
            seconds=seconds_each(COUNTING, self.study),
        )
