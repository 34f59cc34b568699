"""The form for a run of a summarization system: cells, system, scorers and grid."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _, gettext_lazy as lazy

from argsum.datasets.models import Cell
from argsum.keypoints.actions.system_runs import (
    CHOSEN,
    PUBLISHED,
    USUAL,
    SystemPlan,
    SystemRunRefused,
    Variant,
    grid_named,
    system_named,
)
from argsum.keypoints.models import SystemRun
from argsum.scorers.actions.scorers import default_scorers
from argsum.scorers.models import Scorer
from argsum.systems.contract import SummarizationSystem
from argsum.systems.methods.inputs import Grid, GridNotValid, Parameter, read_values, write_values
from argsum.systems.registry import Fault, faults, systems
from cqa_site.people.models import Study
from cqa_site.web.pages import offer

TYPED = "typed"
HELP = lazy("Enter values or ranges, such as 0.05–0.95 step 0.025.")


class SystemRunForm(forms.Form):
    dataset: forms.ModelChoiceField = forms.ModelChoiceField(
        label=lazy("Dataset"), queryset=None, empty_label=None
    )
    split = forms.ChoiceField(
        label=lazy("Split"),
        choices=[("", lazy("All cells")), *Cell.Split.choices[1:]],
        required=False,
    )
    is_unfiltered = forms.BooleanField(
        label=lazy("Include arguments left out by preprocessing"), required=False
    )
    system = forms.ChoiceField(
        label=lazy("System"),
        choices=lambda: [(summarizer.name, summarizer.title) for summarizer in systems()],
        initial="mcargsum",
        widget=forms.RadioSelect,
    )
    variant = forms.ChoiceField(
        label=lazy("Writer"),
        choices=SystemRun.Variant,
        initial=SystemRun.Variant.PLAIN,
        widget=forms.RadioSelect,
    )
    writer_model = forms.CharField(
        label=lazy("Sequence-to-sequence model"),
        required=False,
        max_length=200,
        help_text=lazy(
            "A writer trained here, a folder in “models” in the data folder, or a name on the "
            "Hugging Face Hub."
        ),
        widget=forms.TextInput(attrs={"list": "trained-writers", "autocomplete": "off"}),
    )
    match_scorer: forms.ModelChoiceField = forms.ModelChoiceField(
        label=lazy("Match scorer"), queryset=None, empty_label=None
    )
    quality_scorer: forms.ModelChoiceField = forms.ModelChoiceField(
        label=lazy("Quality scorer"), queryset=None, empty_label=None
    )
    settings = forms.ChoiceField(
        label=lazy("Settings"),
        choices=[
            (PUBLISHED, lazy("Published grid")),
            (USUAL, lazy("One setting, recommended by the system's authors")),
            (CHOSEN, lazy("One setting, chosen on dev when the match scorer was trained")),
            (TYPED, lazy("Custom, as entered below")),
        ],
        initial=USUAL,
        widget=forms.RadioSelect,
    )
    seed = forms.IntegerField(
        label=lazy("Seed"),
        initial=1,
        min_value=0,
        max_value=2**31 - 1,
        help_text=lazy("The same input and seed give the same sets."),
    )
    label = forms.CharField(
        label=lazy("Name"),
        required=False,
        max_length=120,
        help_text=lazy("Shown in tables. Default: system, scorer and writer."),
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study
        match, quality = default_scorers(study)
        offer(self, dataset=study.argument_datasets.order_by("-created_at"))
        ready = study.scorers.filter(state=Scorer.State.READY)
        offer(self, match_scorer=ready.filter(task=Scorer.Task.MATCH))
        offer(self, quality_scorer=ready.filter(task=Scorer.Task.QUALITY))
        self.fields["match_scorer"].initial = match.pk
        self.fields["quality_scorer"].initial = quality.pk
        for system in systems():
            for parameter in system.parameters:
                self.fields[field_of(system.name, parameter)] = _grid_field(parameter)
        self._plan: SystemPlan | None = None

    def grids(self) -> list[tuple[SummarizationSystem, list[forms.BoundField]]]:
        return [
            (system, [self[field_of(system.name, parameter)] for parameter in system.parameters])
            for system in systems()
        ]

    def writers(self) -> list[str]:
        """Return the names of the writers that were trained here."""
        rows = self.study.scorers.filter(task=Scorer.Task.WRITE, state=Scorer.State.READY)
        return list(rows.values_list("name", flat=True))

    def faults(self) -> tuple[Fault, ...]:
        """Return the systems from other packages that cannot be chosen."""
        return faults()

    def clean(self) -> dict[str, Any]:
        """Validate the plan as a whole."""
        data = super().clean() or {}
        system, variant = data.get("system"), data.get("variant")
        possible = system_named(system).variants if system else ()
        if system and variant and variant not in possible:
            names = ", ".join(f"“{Variant(option).label}”" for option in possible)
            self.add_error("variant", _("This system only supports %s.") % names)
        if variant == Variant.SEQ2SEQ and not data.get("writer_model"):
            self.add_error("writer_model", _("Enter the name of a model."))
        if self.errors:
            return data
        try:
            self._plan = self._planned(data)
        except SystemRunRefused as problem:
            self.add_error(None, str(problem))
        return data

    @property
    def plan(self) -> SystemPlan:
        """The plan from a valid form; raises ValueError otherwise."""
        if self._plan is None:
            raise ValueError("The form is not valid.")
        return self._plan

    def _planned(self, data: dict[str, Any]) -> SystemPlan:
        return SystemPlan(
            dataset=data["dataset"],
            split=data["split"],
            system=data["system"],
            variant=data["variant"],
            grid=self._grid(data),
            match_scorer=data["match_scorer"],
            quality_scorer=data["quality_scorer"],
            seed=data["seed"],
            is_unfiltered=data["is_unfiltered"],
            label=data["label"],
            writer_model=data["writer_model"] if data["variant"] == Variant.SEQ2SEQ else "",
        )

    def _grid(self, data: dict[str, Any]) -> Grid:
        system, variant = data["system"], data["variant"]
        if data["settings"] != TYPED:
            return grid_named(data["settings"], system, variant, data["match_scorer"])
        grid: Grid = {}
        for parameter in system_named(system).parameters_for(variant):
            name = field_of(system, parameter)
            typed = data[name] or write_values(parameter.published)
            if not typed:
                continue
            try:
                grid[parameter.name] = read_values(typed, parameter)
            except GridNotValid as problem:
                self.add_error(name, str(problem))
        if self.errors:
            raise SystemRunRefused(_("The grid is not valid."))
        return grid


def field_of(system: str, parameter: Parameter) -> str:
    """Return the name of a parameter's field; system names do not contain hyphens."""
    return f"{system}-{parameter.name}"


def _grid_field(parameter: Parameter) -> forms.CharField:
    usual = "" if parameter.kind == "switch" else HELP
    return forms.CharField(
        label=_(parameter.title) if parameter.title else parameter.name,
        required=False,
        max_length=1_000,
        initial=write_values(parameter.published),
        help_text=_(parameter.help) if parameter.help else usual,
    )
