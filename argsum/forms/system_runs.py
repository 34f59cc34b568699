"""The form of a run of a summarization system: what is run over what, with which grid."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from argsum.actions.scorers import default_scorers
from argsum.actions.system_runs import (
    CHOSEN,
    PUBLISHED,
    USUAL,
    VARIANTS,
    SystemPlan,
    SystemRunRefused,
    Variant,
    grid_named,
)
from argsum.methods.system_grids import (
    PARAMETERS,
    Grid,
    GridNotValid,
    Parameter,
    parameters_of,
    read_values,
    write_values,
)
from argsum.models import Cell, Scorer, SystemRun
from cqa_site.people.models import Study

TYPED = "typed"
TITLES = {
    "threshold": lazy("Match threshold"),
    "fill_up": lazy("Least share of candidates"),
    "edge": lazy("Least score of an edge"),
    "damping": lazy("Damping"),
    "redundancy": lazy("Score from which two repeat each other"),
    "neighbours": lazy("UMAP neighbours"),
    "components": lazy("UMAP components"),
    "min_distance": lazy("UMAP least distance"),
    "iterative": lazy("Iterative clustering"),
    "min_size": lazy("Fewest arguments in a cluster"),
    "profile": lazy("Weight of match profiles"),
    "refines": lazy("Move arguments to the cluster they match best"),
}
HELP = lazy("Values or ranges, such as 0.05–0.95 step 0.025.")
OWN_HELP = {
    "profile": lazy("0 to 1: arguments are alike that match the same others. Empty as published."),
    "refines": lazy("on, off, or both. Empty as published, without."),
}


class SystemRunForm(forms.Form):
    """Which system runs over which cells, with which scorers and settings."""

    dataset = forms.ModelChoiceField(label=lazy("Dataset"), queryset=None, empty_label=None)
    split = forms.ChoiceField(
        label=lazy("Split"),
        choices=[("", lazy("All cells")), *Cell.Split.choices[1:]],
        required=False,
    )
    is_unfiltered = forms.BooleanField(
        label=lazy("Use the arguments that preprocessing left out, too"), required=False
    )
    system = forms.ChoiceField(
        label=lazy("System"),
        choices=SystemRun.System,
        initial=SystemRun.System.MCARGSUM,
        widget=forms.RadioSelect,
    )
    variant = forms.ChoiceField(
        label=lazy("Who writes"),
        choices=SystemRun.Variant,
        initial=SystemRun.Variant.PLAIN,
        widget=forms.RadioSelect,
    )
    writer_model = forms.CharField(
        label=lazy("Sequence-to-sequence model"),
        required=False,
        max_length=200,
        help_text=lazy("A folder below “models” of the data folder, or a name on the hub."),
    )
    match_scorer = forms.ModelChoiceField(
        label=lazy("Match scorer"), queryset=None, empty_label=None
    )
    quality_scorer = forms.ModelChoiceField(
        label=lazy("Quality scorer"), queryset=None, empty_label=None
    )
    settings = forms.ChoiceField(
        label=lazy("Settings"),
        choices=[
            (PUBLISHED, lazy("All of the published grid")),
            (USUAL, lazy("One: what the system's authors recommend")),
            (CHOSEN, lazy("One: what the dev split chose when the match scorer was trained")),
            (TYPED, lazy("As typed below")),
        ],
        initial=PUBLISHED,
        widget=forms.RadioSelect,
    )
    seed = forms.IntegerField(
        label=lazy("Seed"),
        initial=1,
        min_value=0,
        max_value=2**31 - 1,
        help_text=lazy("Equal input and seed give equal sets."),
    )
    label = forms.CharField(
        label=lazy("Name"),
        required=False,
        max_length=120,
        help_text=lazy("In tables; empty names the system, the scorer and the writer."),
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study
        match, quality = default_scorers(study)
        self.fields["dataset"].queryset = study.argument_datasets.order_by("-created_at")
        ready = study.scorers.filter(state=Scorer.State.READY)
        self.fields["match_scorer"].queryset = ready.filter(task=Scorer.Task.MATCH)
        self.fields["quality_scorer"].queryset = ready.filter(task=Scorer.Task.QUALITY)
        self.fields["match_scorer"].initial = match.pk
        self.fields["quality_scorer"].initial = quality.pk
        for system, parameters in PARAMETERS.items():
            for each in parameters:
                self.fields[field_of(system, each)] = _grid_field(each)
        self._plan: SystemPlan | None = None

    def grids(self) -> list[tuple[str, str, list[forms.BoundField]]]:
        """System, its name, and the fields of its grid."""
        return [
            (system, SystemRun.System(system).label, [self[field_of(system, p)] for p in found])
            for system, found in PARAMETERS.items()
        ]

    def clean(self) -> dict[str, Any]:
        """The plan as a whole."""
        data = super().clean()
        system, variant = data.get("system"), data.get("variant")
        if system and variant and variant not in VARIANTS[system]:
            names = ", ".join(f"“{Variant(each).label}”" for each in VARIANTS[system])
            self.add_error("variant", _("This system has only %s.") % names)
        if variant == Variant.SEQ2SEQ and not data.get("writer_model"):
            self.add_error("writer_model", _("Name a model."))
        if self.errors:
            return data
        try:
            self._plan = self._planned(data)
        except SystemRunRefused as problem:
            self.add_error(None, str(problem))
        return data

    @property
    def plan(self) -> SystemPlan:
        """What was chosen; only of a valid form."""
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
        for each in parameters_of(system, variant):
            name = field_of(system, each)
            typed = data[name] or write_values(each.published)
            if not typed:
                continue
            try:
                grid[each.name] = read_values(typed, each)
            except GridNotValid as problem:
                self.add_error(name, str(problem))
        if self.errors:
            raise SystemRunRefused(_("The grid cannot be used as it stands."))
        return grid


def field_of(system: str, parameter: Parameter) -> str:
    """The name of a parameter's field."""
    return f"{system}_{parameter.name}"


def _grid_field(parameter: Parameter) -> forms.CharField:
    return forms.CharField(
        label=TITLES[parameter.name],
        required=False,
        max_length=1_000,
        initial=write_values(parameter.published),
        help_text=OWN_HELP.get(parameter.name, "" if parameter.kind == "switch" else HELP),
    )
